// Classes, selectors and the lookup of methods.
#include "abi.hpp"

extern "C" {
void* _objc_empty_cache = nullptr;
void* _objc_empty_vtable = nullptr;
void* _NSConcreteStackBlock[32];
void* _NSConcreteGlobalBlock[32];
void* _NSConcreteMallocBlock[32];

void (*objcrt_unrecognized)(void*, const char*) = nullptr;
std::atomic<bool (*)(const char*)> objcrt_unavailable{nullptr};
std::atomic<SEL (*)(SEL)> objcrt_replacement{nullptr};
}

namespace objcrt {
// Leaked on purpose: objects may be released by destructors that run at exit.
State& S() {
  static State* s = new State;
  return *s;
}

namespace {
SEL uniq(const char* n) {
  auto& m = S().sels;
  auto it = m.find(n);
  if (it == m.end()) it = m.emplace(n, strdup(n)).first;
  return it->second;
}
}  // namespace
bool is_block(id o) {
  void* c = o->isa;
  return c == _NSConcreteStackBlock || c == _NSConcreteGlobalBlock || c == _NSConcreteMallocBlock;
}
static Class const_string_class = nullptr;
bool immortal(id o) {
  Class c = o->isa;
  return c == const_string_class || (c->ro->flags & RO_META);  // literals and class objects
}
static void add_methods(Class c, method_list* l) {
  if (!l) return;
  uint32_t es = l->entsize & 0xfffc;
  for (uint32_t i = 0; i < l->count; i++) {
    auto* m = reinterpret_cast<method_t*>(reinterpret_cast<char*>(l->m) + size_t(i) * es);
    m->name = uniq(m->name);
    S().methods[c][m->name] = m->imp;
  }
}
static void realize(Class c) {
  if (!c || S().realized.count(c)) return;
  S().realized.insert(c);
  S().live[c] = 0;
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
void count_live(Class c, long change) {
  std::shared_lock<std::shared_mutex> l(S().mu);
  S().live.at(c).fetch_add(change, std::memory_order_relaxed);
}
[[noreturn]] void die(const char* what, const void* o) {
  std::fprintf(stderr, "objcrt: %s %p\n", what, o);
  std::abort();
}
Class isa_of(id o) {
  if (is_block(o)) {
    static Class b = objc_getClass("NSBlock");
    return b;
  }
  return o->isa;
}
}  // namespace objcrt

using namespace objcrt;

extern "C" {
void objcrt_register_image(void** cls, size_t n, void** cats, size_t nc, void** sels, size_t ns) {
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
  if (auto* replacement = objcrt_replacement.load()) s = replacement(s);
  if (IMP i = find(isa_of(o), s); i && !hidden(s)) return i;
  if (objcrt_unrecognized) objcrt_unrecognized(o, s);
  std::fprintf(stderr, "objcrt: [%s %s]\n", o->isa->ro->name, s);
  std::abort();
}
IMP objcrt_lookup_super(objc_super* p, SEL s) {
  if (IMP i = find(p->current->superclass, s)) return i;
  die(s, p->receiver);
}
void objcrt_report_live_objects(void (*report)(const char*, long)) {
  std::shared_lock<std::shared_mutex> l(S().mu);
  for (const auto& [c, count] : S().live)
    if (count != 0) report(c->ro->name, count);
  report("block", objcrt_live_blocks);
}
long objcrt_live_objects(void) {
  std::shared_lock<std::shared_mutex> l(S().mu);
  long sum = objcrt_live_blocks;
  for (const auto& [c, count] : S().live) sum += count;
  return sum;
}

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
  for (; c; c = c->superclass) {
    const auto found = S().protos.find(c);
    if (found == S().protos.end()) continue;
    for (auto* p : found->second)
      if (proto_in(p, static_cast<protocol_t*>(proto)->name)) return true;
  }
  return false;
}
}
