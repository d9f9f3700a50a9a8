// Objective-C exceptions as C++ exceptions whose type_info is ours: the vtable slots are the same in libstdc++ and
// libc++abi.
#include <cxxabi.h>

#include <typeinfo>

#include "abi.hpp"

using namespace objcrt;

extern "C" {
struct objc_typeinfo {
  void** vtable;
  const char* name;
  Class cls;
};
struct thrown {
  id obj;
  objc_typeinfo ti;
};
static void ti_noop(void*) {}
static bool ti_false(void*) { return false; }
static bool ti_no_upcast(void*, const void*, void**) { return false; }
static bool ti_do_catch(objc_typeinfo*, objc_typeinfo*, void**, unsigned);
void* objc_ehtype_vtable[] = {nullptr,         nullptr,         (void*)ti_noop,     (void*)ti_noop,
                              (void*)ti_false, (void*)ti_false, (void*)ti_do_catch, (void*)ti_no_upcast};
// libc++abi asks the thrown type_info for its own dynamic type when a C++ catch clause meets an Objective-C exception
__attribute__((constructor(150))) static void init_ehtype(void) {
  objc_ehtype_vtable[1] = const_cast<std::type_info*>(&typeid(std::type_info));
}
objc_typeinfo OBJC_EHTYPE_id = {objc_ehtype_vtable + 2, "id", nullptr};
static bool ti_do_catch(objc_typeinfo* want, objc_typeinfo* got, void** p, unsigned) {
  if (got->vtable != objc_ehtype_vtable + 2) return false;  // a C++ exception
  id o = *static_cast<id*>(*p);
  if (want == &OBJC_EHTYPE_id || objcrt_kind_of(isa_of(o), want->cls)) {
    *p = o;
    return true;
  }
  return false;
}
static void thrown_dtor(void* p) { objc_release(static_cast<thrown*>(p)->obj); }
[[noreturn]] void objc_exception_throw(id o) {
  auto* t = static_cast<thrown*>(abi::__cxa_allocate_exception(sizeof(thrown)));
  t->obj = objc_retain(o);
  t->ti = {objc_ehtype_vtable + 2, isa_of(o)->ro->name, isa_of(o)};
  abi::__cxa_throw(t, reinterpret_cast<std::type_info*>(&t->ti), thrown_dtor);
}
id objc_begin_catch(void* e) { return static_cast<id>(abi::__cxa_begin_catch(e)); }
void objc_end_catch(void) { abi::__cxa_end_catch(); }
[[noreturn]] void objc_exception_rethrow(void) { abi::__cxa_rethrow(); }
[[noreturn]] void objc_terminate(void) { std::terminate(); }
}
