#pragma once

#include <cstddef>

#include "graph/export.hpp"

namespace mpsgraph_native {

/// Page-aligned memory, a whole number of pages: what Metal can share without a copy, and what results live in.
/// Never more than `capacity` is valid; `data` is never null, even for zero bytes.
struct Pages {
  void* data = nullptr;
  std::size_t capacity = 0;
};

/// Memory for at least `bytes`, recycled when a released block fits: writing to fresh pages costs more than most
/// operations do. The contents are undefined. Raises std::bad_alloc.
MPSGRAPH_API Pages acquire_pages(std::size_t bytes);

/// Gives a block back. Recycled up to a bound, beyond it the oldest released blocks return to the system.
MPSGRAPH_API void release_pages(Pages pages) noexcept;

struct PageStatistics {
  std::size_t live_bytes = 0;      ///< acquired and not released
  std::size_t recycled_bytes = 0;  ///< released and kept
  std::size_t acquisitions = 0;
  std::size_t mappings = 0;  ///< acquisitions that had to ask the system
};
MPSGRAPH_API PageStatistics page_statistics();

/// Returns all recycled blocks to the system.
MPSGRAPH_API void trim_pages();

/// The mapping, acquired or recycled, that holds the byte at `address`; null when that is not memory of ours.
Pages enclosing_pages(const void* address);

/// Called with each mapping just before it returns to the system, for those who keep views of it. It holds the
/// recycler's lock, so it must not acquire or release pages.
using ForgetMemory = void (*)(const void* data, std::size_t capacity) noexcept;
void set_forget_memory(ForgetMemory forget);

/// An acquired block that releases itself.
class ScopedPages {
 public:
  explicit ScopedPages(std::size_t bytes) : pages_(bytes ? acquire_pages(bytes) : Pages{}) {}
  ~ScopedPages() {
    if (pages_.data) release_pages(pages_);
  }
  ScopedPages(const ScopedPages&) = delete;
  ScopedPages& operator=(const ScopedPages&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(pages_.data); }

 private:
  Pages pages_;
};

}  // namespace mpsgraph_native
