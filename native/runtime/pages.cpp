#include "runtime/pages.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace mpsgraph_native {
namespace {

constexpr std::size_t huge_page = std::size_t(2) << 20;
constexpr std::size_t recycled_limit = std::size_t(512) << 20;

std::size_t page_size() {
  static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// Four size classes per power of two, so that blocks of similar results can stand in for each other and at most a
/// quarter is wasted.
std::size_t capacity_for(std::size_t bytes) {
  const std::size_t pages = round_up(bytes ? bytes : 1, page_size());
  if (pages <= 4 * page_size()) return pages;
  const std::size_t step = std::bit_floor(pages - 1) / 4;
  return round_up(pages, step < page_size() ? page_size() : step);
}

void* map(std::size_t capacity) {
  const std::size_t slack = capacity >= huge_page ? huge_page : 0;
  void* base = mmap(nullptr, capacity + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  if (!slack) return base;
  // Only a block that begins on a huge page gets huge pages; the slack around it goes back at once.
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  const std::uintptr_t aligned = round_up(address, huge_page);
  if (aligned > address) munmap(base, aligned - address);
  const std::size_t tail = address + slack - aligned;
  if (tail) munmap(reinterpret_cast<void*>(aligned + capacity), tail);
#if defined(MADV_HUGEPAGE)
  madvise(reinterpret_cast<void*>(aligned), capacity, MADV_HUGEPAGE);
#endif
  return reinterpret_cast<void*>(aligned);
}

class Recycler {
 public:
  Pages acquire(std::size_t bytes) {
    const std::size_t capacity = capacity_for(bytes);
    {
      const std::lock_guard lock(mutex_);
      ++statistics_.acquisitions;
      statistics_.live_bytes += capacity;
      const auto found = by_capacity_.find(capacity);
      if (found != by_capacity_.end() && !found->second.kept.empty()) {
        const auto block = found->second.kept.back();  // the warmest
        found->second.kept.pop_back();
        void* data = block->data;
        spare_.splice(spare_.end(), by_age_, block);
        statistics_.recycled_bytes -= capacity;
        return {data, capacity};
      }
      ++statistics_.mappings;
    }
    void* data = nullptr;
    try {
      data = map(capacity);
      Nodes node(1);
      const std::lock_guard lock(mutex_);
      Blocks& blocks = by_capacity_[capacity];
      if (blocks.kept.capacity() == blocks.count) blocks.kept.reserve(std::max<std::size_t>(4, 2 * blocks.count));
      mapped_.emplace(reinterpret_cast<std::uintptr_t>(data), capacity);
      ++blocks.count;
      spare_.splice(spare_.end(), node);
      return {data, capacity};
    } catch (...) {
      if (data) munmap(data, capacity);
      const std::lock_guard lock(mutex_);
      statistics_.live_bytes -= capacity;
      throw;
    }
  }

  void release(Pages pages) noexcept {
    const std::lock_guard lock(mutex_);
    statistics_.live_bytes -= pages.capacity;
    const auto block = spare_.begin();
    *block = pages;
    by_age_.splice(by_age_.end(), spare_, block);
    by_capacity_.find(pages.capacity)->second.kept.push_back(block);
    statistics_.recycled_bytes += pages.capacity;
    shrink(recycled_limit);
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    shrink(0);
  }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  PageStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

  Pages enclosing(const void* address) {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    const std::lock_guard lock(mutex_);
    auto next = mapped_.upper_bound(place);
    if (next == mapped_.begin()) return {};
    const auto& [begin, capacity] = *std::prev(next);
    return place - begin < capacity ? Pages{reinterpret_cast<void*>(begin), capacity} : Pages{};
  }

  void set_forget(ForgetMemory forget) {
    const std::lock_guard lock(mutex_);
    forget_ = forget;
  }

 private:
  using Nodes = std::list<Pages>;

  /// The blocks of one capacity. Room for all of them in `kept`, like a node for each, is made when they are mapped: a
  /// release allocates nothing and cannot fail.
  struct Blocks {
    std::vector<Nodes::iterator> kept;  ///< in order of age
    std::size_t count = 0;              ///< mapped
  };

  void shrink(std::size_t limit) noexcept {
    while (statistics_.recycled_bytes > limit) {
      const Pages oldest = by_age_.front();
      Blocks& blocks = by_capacity_.find(oldest.capacity)->second;
      blocks.kept.erase(blocks.kept.begin());
      --blocks.count;
      by_age_.pop_front();
      if (forget_) forget_(oldest.data, oldest.capacity);
      mapped_.erase(reinterpret_cast<std::uintptr_t>(oldest.data));
      munmap(oldest.data, oldest.capacity);
      statistics_.recycled_bytes -= oldest.capacity;
    }
  }

  std::mutex mutex_;
  Nodes by_age_;  ///< the kept blocks, oldest first
  Nodes spare_;   ///< a node for each block that is in use
  std::unordered_map<std::size_t, Blocks> by_capacity_;
  std::map<std::uintptr_t, std::size_t> mapped_;
  ForgetMemory forget_ = nullptr;
  PageStatistics statistics_;
};

Recycler& recycler();

/// A fork copies the lock as it is; holding it across the fork leaves the child a free one.
Recycler* make_recycler() {
  pthread_atfork([] { recycler().lock(); }, [] { recycler().unlock(); }, [] { recycler().unlock(); });
  return new Recycler;
}

/// Never destroyed: arrays may outlive every static object at interpreter exit.
Recycler& recycler() {
  static Recycler* const instance = make_recycler();
  return *instance;
}

}  // namespace

Pages acquire_pages(std::size_t bytes) { return recycler().acquire(bytes); }
void release_pages(Pages pages) noexcept { recycler().release(pages); }
PageStatistics page_statistics() { return recycler().statistics(); }
void trim_pages() { recycler().trim(); }
Pages enclosing_pages(const void* address) { return recycler().enclosing(address); }
void set_forget_memory(ForgetMemory forget) { recycler().set_forget(forget); }

}  // namespace mpsgraph_native
