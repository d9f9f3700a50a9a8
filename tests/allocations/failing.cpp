// For LD_PRELOAD: lets the n-th allocation of the calling thread fail, whether by operator new or by mmap, and counts
// the blocks of operator new that live.

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local long until_failure = 0;  // 0: nothing fails
thread_local long seen = 0;
std::atomic<long> live{0};

bool fails() {
  ++seen;
  return until_failure > 0 && --until_failure == 0;
}

void* allocated(std::size_t size, std::size_t alignment) noexcept {
  if (fails()) return nullptr;
  if (size == 0) size = 1;
  void* block = alignment <= alignof(std::max_align_t)
                    ? std::malloc(size)
                    : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (block) ++live;
  return block;
}

void* allocated_or_throws(std::size_t size, std::size_t alignment) {
  if (void* block = allocated(size, alignment)) return block;
  throw std::bad_alloc();
}

void released(void* block) noexcept {
  if (block) --live;
  std::free(block);
}

using Map = void* (*)(void*, std::size_t, int, int, int, off_t);

}  // namespace

extern "C" {

void fail_allocation(long number) {
  seen = 0;
  until_failure = number;
}

long allocations_seen() { return seen; }
long live_blocks() { return live; }

void* mmap(void* address, std::size_t length, int protection, int flags, int file, off_t offset) noexcept {
  static const Map system = reinterpret_cast<Map>(dlsym(RTLD_NEXT, "mmap"));
  if (fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return system(address, length, protection, flags, file, offset);
}

}  // extern "C"

constexpr std::size_t usual = alignof(std::max_align_t);
void* operator new(std::size_t size) { return allocated_or_throws(size, usual); }
void* operator new[](std::size_t size) { return allocated_or_throws(size, usual); }
void* operator new(std::size_t size, std::align_val_t to) { return allocated_or_throws(size, std::size_t(to)); }
void* operator new[](std::size_t size, std::align_val_t to) { return allocated_or_throws(size, std::size_t(to)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocated(size, usual); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocated(size, usual); }
void operator delete(void* block) noexcept { released(block); }
void operator delete[](void* block) noexcept { released(block); }
void operator delete(void* block, std::size_t) noexcept { released(block); }
void operator delete[](void* block, std::size_t) noexcept { released(block); }
void operator delete(void* block, std::align_val_t) noexcept { released(block); }
void operator delete[](void* block, std::align_val_t) noexcept { released(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { released(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { released(block); }
