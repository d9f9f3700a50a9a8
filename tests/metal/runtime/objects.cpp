// Life and death of objects: reference counts, pools, weak references, properties.
#include <array>
#include <deque>
#include <utility>

#include "abi.hpp"

using namespace objcrt;

/// Frees the memory of dead objects late, so that a use of one is noticed and not answered by another object there.
static void bury(Header* dead) {
// AddressSanitizer does the same; ThreadSanitizer would take the lock for an order of the threads.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  static auto* mutex = new std::mutex;
  static auto* graves = new std::deque<Header*>;
  std::lock_guard<std::mutex> l(*mutex);
  graves->push_back(dead);
  if (graves->size() <= 4096) return;
  dead = graves->front();
  graves->pop_front();
#endif
  std::free(dead);
}

extern "C" {
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
  count_live(c, 1);
  construct(c, o);
  return o;
}
void object_dispose(id o) {  // -[NSObject dealloc]
  static SEL s = known(".cxx_destruct");
  if (header(o)->weakly_referenced.load(std::memory_order_relaxed)) {
    std::lock_guard<std::mutex> l(S().weak_mu);
    auto r = S().weak.equal_range(o);
    for (auto i = r.first; i != r.second; ++i) *i->second = nullptr;
    S().weak.erase(r.first, r.second);
  }
  for (Class c = o->isa; c; c = c->superclass)
    if (IMP i = own(c, s)) reinterpret_cast<void (*)(id, SEL)>(i)(o, s);
  header(o)->magic = kDead;
  count_live(o->isa, -1);
  bury(header(o));
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
  if (v && !immortal(v)) {
    header(v)->weakly_referenced.store(true, std::memory_order_relaxed);
    S().weak.emplace(v, p);
  }
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
static std::mutex& atomic_property(const void* p) {
  static auto* mutexes = new std::array<std::mutex, 64>;
  return (*mutexes)[reinterpret_cast<uintptr_t>(p) / sizeof(id) % mutexes->size()];
}
static id copied(id v) {
  static SEL s = known("copyWithZone:");
  return is_block(v) ? objc_retainBlock(v) : objc_msgSend(v, s, nullptr);
}
static id* ivar(id o, ptrdiff_t off) { return reinterpret_cast<id*>(reinterpret_cast<char*>(o) + off); }
id objc_getProperty(id o, SEL, ptrdiff_t off, bool atomic) {
  id* p = ivar(o, off);
  if (!atomic) return objc_retainAutorelease(*p);
  std::lock_guard<std::mutex> l(atomic_property(p));
  return objc_retainAutorelease(*p);
}
static void set_prop(id o, id v, ptrdiff_t off, bool atomic, bool copy) {
  id *p = ivar(o, off), nv = !v ? nullptr : copy ? copied(v) : objc_retain(v);
  if (atomic) {
    std::lock_guard<std::mutex> l(atomic_property(p));
    std::swap(*p, nv);
  } else {
    std::swap(*p, nv);
  }
  objc_release(nv);
}
void objc_setProperty(id o, SEL, ptrdiff_t off, id v, bool atomic, signed char c) {
  set_prop(o, v, off, atomic, c == 1);
}
void objc_setProperty_atomic(id o, SEL, id v, ptrdiff_t off) { set_prop(o, v, off, true, false); }
void objc_setProperty_nonatomic(id o, SEL, id v, ptrdiff_t off) { set_prop(o, v, off, false, false); }
void objc_setProperty_atomic_copy(id o, SEL, id v, ptrdiff_t off) { set_prop(o, v, off, true, true); }
void objc_setProperty_nonatomic_copy(id o, SEL, id v, ptrdiff_t off) { set_prop(o, v, off, false, true); }
void objc_copyStruct(void* d, const void* s, ptrdiff_t n, bool, bool) { std::memcpy(d, s, size_t(n)); }
}
