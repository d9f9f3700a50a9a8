#include "cpu/strided_copy.hpp"

#include <cstring>

#include "cpu/dispatch.hpp"
#include "cpu/partition.hpp"

namespace mpsgraph_native::cpu {
namespace {

constexpr std::int64_t tile = 64;

template <class T>
void copy_row(const T* source, std::int64_t source_stride, std::int64_t count, T* destination,
              std::int64_t destination_stride) {
  if (destination_stride == 1 && source_stride == 1) {
    std::memcpy(destination, source, static_cast<std::size_t>(count) * sizeof(T));
  } else if (destination_stride == 1 && source_stride == 0) {
    std::fill_n(destination, count, *source);
  } else if (destination_stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) destination[i] = source[i * source_stride];
  } else {
    for (std::int64_t i = 0; i < count; ++i) destination[i * destination_stride] = source[i * source_stride];
  }
}

template <class T>
void transpose_tile(const T* source, std::int64_t source_stride, std::int64_t rows, std::int64_t columns,
                    T* destination, std::int64_t destination_stride) {
  if constexpr (sizeof(T) == sizeof(float)) {
    kernels<float>().matrix.transpose(reinterpret_cast<const float*>(source), source_stride, rows, columns,
                                      reinterpret_cast<float*>(destination), destination_stride);
  } else if constexpr (sizeof(T) == sizeof(double)) {
    kernels<double>().matrix.transpose(reinterpret_cast<const double*>(source), source_stride, rows, columns,
                                       reinterpret_cast<double*>(destination), destination_stride);
  } else {
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t r = 0; r < rows; ++r) destination[c * destination_stride + r] = source[r * source_stride + c];
  }
}

}  // namespace

StridedCopy::StridedCopy(std::size_t element_size, const LoopNest<2>& nest) : element_size_(element_size) {
  outer_ = merge_axes(nest);
  elements_ = iterations<2>(outer_);
  inner_ = outer_.back();
  outer_.pop_back();
  if (inner_.strides[0] != 1 || inner_.strides[1] <= 1) return;
  for (std::size_t axis = 0; axis < outer_.size(); ++axis) {
    if (outer_[axis].strides[1] != 1) continue;
    tile_columns_ = outer_[axis];
    outer_.erase(outer_.begin() + static_cast<std::ptrdiff_t>(axis));
    by_tiles_ = true;
    return;
  }
}

template <class T>
void StridedCopy::copy_rows(const Invocation& invocation, const T* source, T* destination) const {
  const std::span<const LoopAxis<2>> outer(outer_);
  const auto [destination_stride, source_stride] = inner_.strides;
  for_each_grid_part(chunk_count(invocation, elements_), iterations(outer), inner_.size,
                     [&](std::int64_t first, std::int64_t rows, std::int64_t column, std::int64_t columns) {
                       const T* from = source + column * source_stride;
                       T* to = destination + column * destination_stride;
                       for_each_iteration(
                           outer, first, first + rows, [&](std::int64_t, const std::array<std::int64_t, 2>& offsets) {
                             copy_row(from + offsets[1], source_stride, columns, to + offsets[0], destination_stride);
                           });
                     });
}

template <class T>
void StridedCopy::transpose_tiles(const Invocation& invocation, const T* source, T* destination) const {
  const std::span<const LoopAxis<2>> outer(outer_);
  const std::int64_t tiles = (inner_.size + tile - 1) / tile;
  const std::int64_t tasks = iterations(outer) * tiles;
  const std::int64_t chunks = std::min(chunk_count(invocation, elements_), tasks);
  parallel_for(chunks, [&](std::int64_t chunk) {
    const Range share = split_range(tasks, chunk, chunks);
    for_each_iteration(outer, share.begin / tiles, (share.end + tiles - 1) / tiles,
                       [&](std::int64_t iteration, const std::array<std::int64_t, 2>& offsets) {
                         const std::int64_t first = std::max(share.begin - iteration * tiles, std::int64_t(0));
                         const std::int64_t last = std::min(share.end - iteration * tiles, tiles);
                         for (std::int64_t row = first * tile; row < std::min(last * tile, inner_.size); row += tile)
                           for (std::int64_t column = 0; column < tile_columns_.size; column += tile)
                             transpose_tile(source + offsets[1] + row * inner_.strides[1] + column, inner_.strides[1],
                                            std::min(tile, inner_.size - row),
                                            std::min(tile, tile_columns_.size - column),
                                            destination + offsets[0] + column * tile_columns_.strides[0] + row,
                                            tile_columns_.strides[0]);
                       });
  });
}

template <class T>
void StridedCopy::run_typed(const Invocation& invocation, const T* source, T* destination) const {
  if (by_tiles_)
    transpose_tiles(invocation, source, destination);
  else
    copy_rows(invocation, source, destination);
}

void StridedCopy::run(const Invocation& invocation, const void* source, void* destination) const {
  if (elements_ == 0) return;
  const auto typed = [&]<class T>(std::type_identity<T>) {
    run_typed(invocation, static_cast<const T*>(source), static_cast<T*>(destination));
  };
  switch (element_size_) {
    case 1: return typed(std::type_identity<std::uint8_t>());
    case 2: return typed(std::type_identity<std::uint16_t>());
    case 4: return typed(std::type_identity<std::uint32_t>());
    default: return typed(std::type_identity<std::uint64_t>());
  }
}

Kernel make_copy_kernel(const TensorType& type) {
  return {
      .run = [copy = StridedCopy(byte_size(type.dtype), {{type.shape.elements(), {1, 1}}})](
                 const Invocation& invocation) { copy.run(invocation, invocation.inputs[0], invocation.outputs[0]); }};
}

}  // namespace mpsgraph_native::cpu
