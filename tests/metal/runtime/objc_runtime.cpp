// A small Objective-C runtime with Apple's (macosx, non-fragile) ABI, for ELF.  Test code only: clear rather than fast.
// Needs: clang -fobjc-runtime=macosx.  Objects carry a reference count in a 16-byte header before isa.
#include <cxxabi.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <vector>

extern "C" {
typedef struct objc_class* Class;
typedef struct objc_object {
  Class isa;
}* id;
typedef const char* SEL;
typedef void (*IMP)(void);

struct method_t {
  SEL name;
  const char* types;
  IMP imp;
};
struct method_list {
  uint32_t entsize, count;
  method_t m[1];
};
struct ivar_t {
  int32_t* offset;
  const char* name;
  const char* type;
  uint32_t align, size;
};
struct ivar_list {
  uint32_t entsize, count;
  ivar_t v[1];
};
struct protocol_t {
  void* isa;
  const char* name;
  struct protocol_list* protocols;
};
struct protocol_list {
  uintptr_t count;
  protocol_t* p[1];
};
struct class_ro {
  uint32_t flags, instanceStart, instanceSize, reserved;
  const uint8_t* ivarLayout;
  const char* name;
  method_list* methods;
  protocol_list* protocols;
  ivar_list* ivars;
  const uint8_t* weakIvarLayout;
  void* properties;
};
struct objc_class {
  Class isa;
  Class superclass;
  void* cache;
  void* vtable;
  class_ro* ro;
};
struct category_t {
  const char* name;
  Class cls;
  method_list* inst;
  method_list* meta;
  protocol_list* protocols;
};
struct objc_super {
  id receiver;
  Class current;
};

void* _objc_empty_cache = nullptr;
void* _objc_empty_vtable = nullptr;
void* _NSConcreteStackBlock[32];
void* _NSConcreteGlobalBlock[32];
void* _NSConcreteMallocBlock[32];

void* _Block_copy(const void*);
void _Block_release(const void*);
void (*objcrt_unrecognized)(void*, const char*) = nullptr;       // set by Foundation: raises NSInvalidArgumentException
std::atomic<bool (*)(const char*)> objcrt_unavailable{nullptr};  // selectors that the pretended system lacks
}

namespace {
enum : uint32_t { RO_META = 1, RO_HAS_CXX = 4 };
struct Header {
  std::atomic<int64_t> rc;
  int64_t magic;
};
constexpr int64_t kMagic = 0x4f424a43525431LL, kDead = 0xdeadbeef;
Header* header(id o) { return reinterpret_cast<Header*>(o) - 1; }

// Leaked on purpose: objects may be released by destructors that run at exit.
struct State {
  std::shared_mutex mu;
  std::unordered_map<std::string, const char*> sels;
  std::unordered_map<std::string, Class> classes;
  std::unordered_set<Class> realized;
  std::unordered_map<Class, std::unordered_map<SEL, IMP>> methods;  // own methods of each class, categories merged
  std::unordered_map<Class, std::vector<protocol_list*>> protos;
  std::mutex weak_mu;
  std::unordered_multimap<id, id*> weak;
  std::recursive_mutex sync_mu;
  std::atomic<long> live{0};
};
State& S() {
  static State* s = new State;
  return *s;
}

SEL uniq(const char* n) {
  auto& m = S().sels;
  auto it = m.find(n);
  if (it == m.end()) it = m.emplace(n, strdup(n)).first;
  return it->second;
}
bool is_block(id o) {
  void* c = o->isa;
  return c == _NSConcreteStackBlock || c == _NSConcreteGlobalBlock || c == _NSConcreteMallocBlock;
}
Class const_string_class = nullptr;
bool immortal(id o) {
  Class c = o->isa;
  return c == const_string_class || (c->ro->flags & RO_META);  // literals and class objects
}
void add_methods(Class c, method_list* l) {
  if (!l) return;
  uint32_t es = l->entsize & 0xfffc;
  for (uint32_t i = 0; i < l->count; i++) {
    auto* m = reinterpret_cast<method_t*>(reinterpret_cast<char*>(l->m) + size_t(i) * es);
    m->name = uniq(m->name);
    S().methods[c][m->name] = m->imp;
  }
}
void realize(Class c) {
  if (!c || S().realized.count(c)) return;
  S().realized.insert(c);
  if (c->superclass) {
    realize(c->superclass);
    class_ro *ro = c->ro, *sro = c->superclass->ro;
    if (!(ro->flags & RO_META) && sro->instanceSize > ro->instanceStart && ro->ivars) {  // non-fragile ivars: slide
      uint32_t d = (sro->instanceSize - ro->instanceStart + 15) & ~15u;
      for (uint32_t i = 0; i < ro->ivars->count; i++)
        if (ro->ivars->v[i].offset) *ro->ivars->v[i].offset += d;
      ro->instanceStart += d;
      ro->instanceSize += d;
    } else if (!(ro->flags & RO_META) && ro->instanceSize < sro->instanceSize) {
      ro->instanceSize = sro->instanceSize;
    }
  }
  add_methods(c, c->ro->methods);
  if (c->ro->protocols) S().protos[c].push_back(c->ro->protocols);
  if (!(c->ro->flags & RO_META)) {
    S().classes[c->ro->name] = c;
    if (!strcmp(c->ro->name, "NSConstantString")) const_string_class = c;
    realize(c->isa);
  }
}
IMP find(Class c, SEL s) {
  std::shared_lock<std::shared_mutex> l(S().mu);
  for (; c; c = c->superclass) {
    auto a = S().methods.find(c);
    if (a == S().methods.end()) continue;
    auto b = a->second.find(s);
    if (b != a->second.end()) return b->second;
  }
  return nullptr;
}
IMP own(Class c, SEL s) {
  std::shared_lock<std::shared_mutex> l(S().mu);
  auto a = S().methods.find(c);
  if (a == S().methods.end()) return nullptr;
  auto b = a->second.find(s);
  return b == a->second.end() ? nullptr : b->second;
}
bool hidden(SEL s) {
  auto* f = objcrt_unavailable.load();
  return f && f(s);
}
SEL known(const char* n) {
  std::unique_lock<std::shared_mutex> l(S().mu);
  return uniq(n);
}
[[noreturn]] void die(const char* what, const void* o) {
  std::fprintf(stderr, "objcrt: %s %p\n", what, o);
  std::abort();
}
Class isa_of(id o) {
  if (is_block(o)) {
    static Class b = S().classes["NSBlock"];
    return b;
  }
  return o->isa;
}
}  // namespace

extern "C" {
id objc_msgSend(id, SEL, ...);
void objcrt_register_image(void** cls, size_t n, void** cats, size_t nc, void** sels, size_t ns, void**, size_t) {
  std::unique_lock<std::shared_mutex> l(S().mu);
  for (size_t i = 0; i < ns; i++) sels[i] = const_cast<char*>(uniq(static_cast<const char*>(sels[i])));
  for (size_t i = 0; i < n; i++) realize(static_cast<Class>(cls[i]));
  for (size_t i = 0; i < nc; i++) {
    auto* c = static_cast<category_t*>(cats[i]);
    add_methods(c->cls, c->inst);
    add_methods(c->cls->isa, c->meta);
    if (c->protocols) S().protos[c->cls].push_back(c->protocols);
  }
}
IMP objcrt_lookup(id o, SEL s) {
  if (!is_block(o) && !immortal(o) && header(o)->magic != kMagic) die("message to a dead object", o);
  if (IMP i = find(isa_of(o), s); i && !hidden(s)) return i;
  if (objcrt_unrecognized) objcrt_unrecognized(o, s);
  std::fprintf(stderr, "objcrt: [%s %s]\n", o->isa->ro->name, s);
  std::abort();
}
IMP objcrt_lookup_super(objc_super* p, SEL s) {
  if (IMP i = find(p->current->superclass, s)) return i;
  die(s, p->receiver);
}
long objcrt_live_objects(void) { return S().live.load(); }

SEL sel_registerName(const char* n) { return known(n); }
const char* sel_getName(SEL s) { return s; }
Class objc_getClass(const char* n) {
  std::shared_lock<std::shared_mutex> l(S().mu);
  auto i = S().classes.find(n);
  return i == S().classes.end() ? nullptr : i->second;
}
const char* class_getName(Class c) { return c ? c->ro->name : "nil"; }
Class object_getClass(id o) { return o ? isa_of(o) : nullptr; }
Class class_getSuperclass(Class c) { return c ? c->superclass : nullptr; }
bool class_respondsToSelector(Class c, SEL s) { return find(c, s) != nullptr && !hidden(s); }
bool objcrt_kind_of(Class c, Class k) {
  for (; c; c = c->superclass)
    if (c == k) return true;
  return false;
}
static bool proto_in(protocol_list* l, const char* n) {
  if (!l) return false;
  for (uintptr_t i = 0; i < l->count; i++)
    if (!strcmp(l->p[i]->name, n) || proto_in(l->p[i]->protocols, n)) return true;
  return false;
}
bool objcrt_conforms(Class c, void* proto) {
  std::shared_lock<std::shared_mutex> l(S().mu);
  for (; c; c = c->superclass)
    for (auto* p : S().protos[c])
      if (proto_in(p, static_cast<protocol_t*>(proto)->name)) return true;
  return false;
}

// ---- life and death of objects
static void construct(Class c, id o) {
  static SEL s = known(".cxx_construct");
  if (c->superclass) construct(c->superclass, o);
  if (IMP i = own(c, s)) reinterpret_cast<id (*)(id, SEL)>(i)(o, s);
}
id class_createInstance(Class c, size_t extra) {
  auto* h = static_cast<Header*>(std::calloc(1, sizeof(Header) + c->ro->instanceSize + extra));
  h->rc = 1;
  h->magic = kMagic;
  id o = reinterpret_cast<id>(h + 1);
  o->isa = c;
  S().live++;
  construct(c, o);
  return o;
}
void object_dispose(id o) {  // -[NSObject dealloc]
  static SEL s = known(".cxx_destruct");
  {
    std::lock_guard<std::mutex> l(S().weak_mu);
    auto r = S().weak.equal_range(o);
    for (auto i = r.first; i != r.second; ++i) *i->second = nullptr;
    S().weak.erase(r.first, r.second);
  }
  for (Class c = o->isa; c; c = c->superclass)
    if (IMP i = own(c, s)) reinterpret_cast<void (*)(id, SEL)>(i)(o, s);
  header(o)->magic = kDead;
  S().live--;
  std::free(header(o));
}
id objc_retain(id o) {
  if (!o) return o;
  if (is_block(o)) return static_cast<id>(_Block_copy(o));
  if (immortal(o)) return o;
  if (header(o)->magic != kMagic) die("retain of a dead object", o);
  header(o)->rc.fetch_add(1, std::memory_order_relaxed);
  return o;
}
void objc_release(id o) {
  if (!o) return;
  if (is_block(o)) return _Block_release(o);
  if (immortal(o)) return;
  if (header(o)->magic != kMagic) die("release of a dead object", o);
  int64_t left = header(o)->rc.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if (left < 0) die("over-release", o);
  if (left == 0) {
    static SEL s = known("dealloc");
    objc_msgSend(o, s);
  }
}
// ---- autorelease pools: a stack per thread
namespace {
struct Pool {
  std::vector<id> v;
  ~Pool() {
    while (!v.empty()) {
      id o = v.back();
      v.pop_back();
      objc_release(o);
    }
  }
};
thread_local Pool pool;
}  // namespace
void* objc_autoreleasePoolPush(void) { return reinterpret_cast<void*>(pool.v.size() + 1); }
void objc_autoreleasePoolPop(void* p) {
  size_t n = reinterpret_cast<size_t>(p) - 1;
  while (pool.v.size() > n) {
    id o = pool.v.back();
    pool.v.pop_back();
    objc_release(o);
  }
}
id objc_autorelease(id o) {
  if (o) pool.v.push_back(o);
  return o;
}
id objc_autoreleaseReturnValue(id o) { return objc_autorelease(o); }
id objc_retainAutorelease(id o) { return objc_autorelease(objc_retain(o)); }
id objc_retainAutoreleaseReturnValue(id o) { return objc_retainAutorelease(o); }
id objc_retainAutoreleasedReturnValue(id o) { return objc_retain(o); }
id objc_claimAutoreleasedReturnValue(id o) { return objc_retain(o); }
id objc_unsafeClaimAutoreleasedReturnValue(id o) { return o; }
id objc_retainBlock(id b) { return static_cast<id>(_Block_copy(b)); }
void objc_storeStrong(id* p, id v) {
  id old = *p;
  if (old == v) return;
  objc_retain(v);
  *p = v;
  objc_release(old);
}
id objc_alloc(Class c) {
  static SEL s = known("alloc");
  return objc_msgSend(reinterpret_cast<id>(c), s);
}
id objc_alloc_init(Class c) {
  static SEL s = known("init");
  return objc_msgSend(objc_alloc(c), s);
}
id objc_opt_new(Class c) {
  static SEL s = known("new");
  return objc_msgSend(reinterpret_cast<id>(c), s);
}
Class objc_opt_class(id o) {
  static SEL s = known("class");
  return reinterpret_cast<Class>(objc_msgSend(o, s));
}
id objc_opt_self(id o) { return o; }
bool objc_opt_isKindOfClass(id o, Class k) { return o && objcrt_kind_of(isa_of(o), k); }
bool objc_opt_respondsToSelector(id o, SEL s) { return o && class_respondsToSelector(isa_of(o), s); }
void objc_enumerationMutation(id o) { die("collection mutated while enumerated", o); }
int objc_sync_enter(id) {
  S().sync_mu.lock();
  return 0;
}
int objc_sync_exit(id) {
  S().sync_mu.unlock();
  return 0;
}
// ---- weak references
id objc_storeWeak(id* p, id v) {
  std::lock_guard<std::mutex> l(S().weak_mu);
  if (*p) {
    auto r = S().weak.equal_range(*p);
    for (auto i = r.first; i != r.second; ++i)
      if (i->second == p) {
        S().weak.erase(i);
        break;
      }
  }
  *p = v;
  if (v && !immortal(v)) S().weak.emplace(v, p);
  return v;
}
id objc_initWeak(id* p, id v) {
  *p = nullptr;
  return objc_storeWeak(p, v);
}
void objc_destroyWeak(id* p) { objc_storeWeak(p, nullptr); }
id objc_loadWeakRetained(id* p) {
  std::lock_guard<std::mutex> l(S().weak_mu);
  id o = *p;
  if (!o || immortal(o)) return o;
  int64_t n = header(o)->rc.load();
  while (n > 0)
    if (header(o)->rc.compare_exchange_weak(n, n + 1)) return o;
  return nullptr;
}
void objc_copyWeak(id* d, id* s) {
  id o = objc_loadWeakRetained(s);
  objc_initWeak(d, o);
  objc_release(o);
}
void objc_moveWeak(id* d, id* s) {
  objc_copyWeak(d, s);
  objc_destroyWeak(s);
}
// ---- property accessors
static std::recursive_mutex& prop_mu() {
  static auto* m = new std::recursive_mutex;
  return *m;
}
static id copied(id v) {
  static SEL s = known("copyWithZone:");
  return is_block(v) ? objc_retainBlock(v) : objc_msgSend(v, s, nullptr);
}
id objc_getProperty(id o, SEL, ptrdiff_t off, bool) {
  std::lock_guard<std::recursive_mutex> l(prop_mu());
  return objc_retainAutorelease(*reinterpret_cast<id*>(reinterpret_cast<char*>(o) + off));
}
static void set_prop(id o, id v, ptrdiff_t off, bool copy) {
  id nv = !v ? nullptr : copy ? copied(v) : objc_retain(v), old;
  {
    std::lock_guard<std::recursive_mutex> l(prop_mu());
    id* p = reinterpret_cast<id*>(reinterpret_cast<char*>(o) + off);
    old = *p;
    *p = nv;
  }
  objc_release(old);
}
void objc_setProperty(id o, SEL, ptrdiff_t off, id v, bool, signed char c) { set_prop(o, v, off, c == 1); }
void objc_setProperty_atomic(id o, SEL, id v, ptrdiff_t off) { set_prop(o, v, off, false); }
void objc_setProperty_nonatomic(id o, SEL, id v, ptrdiff_t off) { set_prop(o, v, off, false); }
void objc_setProperty_atomic_copy(id o, SEL, id v, ptrdiff_t off) { set_prop(o, v, off, true); }
void objc_setProperty_nonatomic_copy(id o, SEL, id v, ptrdiff_t off) { set_prop(o, v, off, true); }
void objc_copyStruct(void* d, const void* s, ptrdiff_t n, bool, bool) { std::memcpy(d, s, size_t(n)); }

// ---- exceptions: C++ exceptions whose type_info is ours (same vtable slots in libstdc++ and libc++abi)
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
