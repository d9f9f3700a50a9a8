#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernel.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {

/// Elements below which a second thread costs more than it brings, for work bound by memory.
inline constexpr std::int64_t default_grain = 32768;

/// Chunks worth splitting `elements` into.
inline std::int64_t chunk_count(const Invocation& invocation, std::int64_t elements,
                                std::int64_t grain = default_grain) {
  return std::clamp<std::int64_t>(elements / grain, 1, invocation.threads);
}

/// Operations below which a second thread costs more than it brings, for work bound by arithmetic.
inline constexpr std::int64_t operations_per_chunk = 1 << 18;

/// Chunks worth splitting `operations` into.
inline std::int64_t chunks_for(const Invocation& invocation, std::int64_t operations) {
  return std::clamp<std::int64_t>(operations / operations_per_chunk, 1, invocation.threads);
}

/// The number of chunks, at most the threads and at least 1, into which to split `items` equal items.
inline std::int64_t item_chunk_count(const Invocation& invocation, std::int64_t items,
                                     std::int64_t operations_per_item) {
  // Items times operations may pass 64 bits; more than fits counts as much as what fits.
  std::int64_t operations;
  if (__builtin_mul_overflow(items, operations_per_item, &operations)) operations = INT64_MAX;
  return std::min(chunks_for(invocation, operations), std::max<std::int64_t>(items, 1));
}

/// body(item, chunk) for every item, ascending within its chunk; `operations` is the work of all items together.
template <class Body>
void for_each_item(const Invocation& invocation, std::int64_t items, std::int64_t operations, Body&& body) {
  const std::int64_t chunks = std::min(chunks_for(invocation, operations), std::max<std::int64_t>(items, 1));
  parallel_for(chunks, [&](std::int64_t chunk) {
    const Range range = split_range(items, chunk, chunks);
    for (std::int64_t item = range.begin; item < range.end; ++item) body(item, chunk);
  });
}

/// split_range with boundaries at multiples of 64, so that chunks share no cache line and stay aligned.
constexpr Range split_aligned(std::int64_t total, std::int64_t part, std::int64_t parts) {
  const Range blocks = split_range((total + 63) / 64, part, parts);
  return {std::min(blocks.begin * 64, total), std::min(blocks.end * 64, total)};
}

/// body(begin, end) over the chunks of [0, elements).
template <class Body>
void for_each_chunk(const Invocation& invocation, std::int64_t elements, std::int64_t grain, Body body) {
  const std::int64_t chunks = chunk_count(invocation, elements, grain);
  parallel_for(chunks, [&](std::int64_t chunk) {
    const Range range = split_aligned(elements, chunk, chunks);
    if (range.begin < range.end) body(range.begin, range.end);
  });
}

/// A grid of `rows` times `columns` cut into pieces: whole rows when there are enough of them, else parts of rows.
/// body(first row, row count, first column, column count).
template <class Body>
void for_each_grid_part(std::int64_t chunks, std::int64_t rows, std::int64_t columns, Body body) {
  if (rows == 0 || columns == 0) return;
  const std::int64_t parts = rows >= chunks ? 1 : std::min((chunks + rows - 1) / rows, (columns + 63) / 64);
  const std::int64_t tasks = rows * parts;
  const std::int64_t used = std::min(chunks, tasks);
  parallel_for(used, [&](std::int64_t chunk) {
    const Range share = split_range(tasks, chunk, used);
    if (parts == 1) {
      body(share.begin, share.end - share.begin, 0, columns);
      return;
    }
    for (std::int64_t task = share.begin; task < share.end; ++task) {
      const Range range = split_aligned(columns, task % parts, parts);
      if (range.begin < range.end) body(task / parts, 1, range.begin, range.end - range.begin);
    }
  });
}

}  // namespace mpsgraph_native::cpu
