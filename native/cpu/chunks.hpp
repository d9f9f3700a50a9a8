#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernel.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {

// Element operations below which waking a second thread costs more than it gains.
inline constexpr std::int64_t operations_per_chunk = 1 << 18;

/// The number of chunks, at most the threads and at least 1, into which to split `items` equal items.
inline std::int64_t item_chunk_count(const Invocation& invocation, std::int64_t items, std::int64_t operations_per_item) {
  const std::int64_t worthwhile = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(items) * static_cast<double>(operations_per_item) /
                                   operations_per_chunk));
  return std::max<std::int64_t>(1, std::min({items, static_cast<std::int64_t>(invocation.threads), worthwhile}));
}

/// Splits `items` into chunks and runs body(chunk, item) for each item, ascending within its chunk.
template <class Body>
void parallel_items(const Invocation& invocation, std::int64_t items, std::int64_t operations_per_item, Body&& body) {
  const std::int64_t chunks = item_chunk_count(invocation, items, operations_per_item);
  parallel_for(chunks, [&](std::int64_t chunk) {
    const Range range = split_range(items, chunk, chunks);
    for (std::int64_t item = range.begin; item < range.end; ++item) body(chunk, item);
  });
}

}  // namespace mpsgraph_native::cpu
