// The blocks runtime (Block ABI as documented by LLVM's "Block Implementation Specification").
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
extern "C" {
extern void* _NSConcreteStackBlock[32];
extern void* _NSConcreteMallocBlock[32];
struct objc_object;
objc_object* objc_retain(objc_object*);
void objc_release(objc_object*);
struct Desc {
  uintptr_t reserved, size;
  void (*copy)(void*, const void*);
  void (*dispose)(const void*);
};
struct Block {
  void* isa;
  std::atomic<int32_t> flags;
  int32_t reserved;
  void (*invoke)(void*, ...);
  Desc* d;
};
struct Byref {
  void* isa;
  Byref* forwarding;
  std::atomic<int32_t> flags;
  uint32_t size;
  void (*keep)(Byref*, Byref*);
  void (*destroy)(Byref*);
};
enum { REFMASK = 0xfffe, FREE = 1 << 24, HELPERS = 1 << 25, GLOBAL = 1 << 28 };
enum { F_OBJECT = 3, F_BLOCK = 7, F_BYREF = 8, F_WEAK = 16, F_CALLER = 128 };

std::atomic<long> objcrt_live_blocks{0};

void* _Block_copy(const void* a) {
  auto* b = static_cast<Block*>(const_cast<void*>(a));
  if (!b) return nullptr;
  if (b->flags & FREE) {
    b->flags += 2;
    return b;
  }
  if (b->flags & GLOBAL) return b;
  auto* n = static_cast<Block*>(std::malloc(b->d->size));
  std::memcpy(static_cast<void*>(n), static_cast<void*>(b), b->d->size);
  objcrt_live_blocks++;
  n->flags = (b->flags & ~(REFMASK | 1)) | FREE | 2;
  n->isa = _NSConcreteMallocBlock;
  if (n->flags & HELPERS) n->d->copy(n, b);
  return n;
}
void _Block_release(const void* a) {
  auto* b = static_cast<Block*>(const_cast<void*>(a));
  if (!b || !(b->flags & FREE)) return;
  int32_t left = b->flags.fetch_sub(2) - 2;
  if (left & REFMASK) return;
  if (b->flags & HELPERS) b->d->dispose(b);
  objcrt_live_blocks--;
  std::free(b);
}
void _Block_object_assign(void* dst, const void* src, int flags) {
  switch (flags & (F_OBJECT | F_BLOCK | F_BYREF | F_WEAK | F_CALLER)) {
    case F_OBJECT:
      *static_cast<const void**>(dst) = objc_retain(static_cast<objc_object*>(const_cast<void*>(src)));
      break;
    case F_BLOCK: *static_cast<void**>(dst) = _Block_copy(src); break;
    case F_BYREF:
    case F_BYREF | F_WEAK: {
      auto* s = static_cast<Byref*>(const_cast<void*>(src))->forwarding;
      if (!(s->flags & FREE)) {
        auto* n = static_cast<Byref*>(std::malloc(s->size));
        std::memcpy(static_cast<void*>(n), static_cast<void*>(s), s->size);
        n->isa = nullptr;
        n->flags = s->flags | FREE | 4;  // one count for the heap block, one for the stack frame
        n->forwarding = n;
        s->forwarding = n;
        if (s->flags & HELPERS) n->keep(n, s);
      } else
        s->flags += 2;
      *static_cast<Byref**>(dst) = s->forwarding;
      break;
    }
    default: *static_cast<const void**>(dst) = src;
  }
}
void _Block_object_dispose(const void* o, int flags) {
  switch (flags & (F_OBJECT | F_BLOCK | F_BYREF | F_WEAK | F_CALLER)) {
    case F_OBJECT: objc_release(static_cast<objc_object*>(const_cast<void*>(o))); break;
    case F_BLOCK: _Block_release(o); break;
    case F_BYREF:
    case F_BYREF | F_WEAK: {
      auto* b = static_cast<Byref*>(const_cast<void*>(o))->forwarding;
      if (!(b->flags & FREE)) break;
      int32_t left = b->flags.fetch_sub(2) - 2;
      if (left & REFMASK) break;
      if (b->flags & HELPERS) b->destroy(b);
      std::free(b);
      break;
    }
    default: break;
  }
}
}
