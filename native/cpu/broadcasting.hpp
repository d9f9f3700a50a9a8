#pragma once

#include "cpu/isa/elementwise.hpp"
#include "cpu/loop_nest.hpp"
#include "cpu/partition.hpp"

namespace mpsgraph_native::cpu {

/// The loops over a contiguous result whose operands broadcast to it, cut into the blocks that the kernels take.
template <int Operands>
class Broadcasting {
 public:
  Broadcasting(const Shape& result, const std::array<const Shape*, Operands>& operands) {
    LoopNest<Operands + 1> nest;
    const Shape result_strides = contiguous_strides(result);
    for (int axis = 0; axis < result.rank(); ++axis) nest.push_back({result[axis], {result_strides[axis]}});
    for (std::size_t k = 0; k < Operands; ++k) {
      const Shape& shape = *operands[k];
      const Shape strides = contiguous_strides(shape);
      const int added = result.rank() - shape.rank();
      for (int axis = 0; axis < shape.rank(); ++axis)
        nest[static_cast<std::size_t>(axis + added)].strides[k + 1] = shape[axis] == 1 ? 0 : strides[axis];
    }
    elements_ = result.elements();
    nest = merge_axes(nest);
    columns_ = nest.back();
    nest.pop_back();
    rows_ = {1, {}};
    if (!nest.empty()) {
      rows_ = nest.back();
      nest.pop_back();
    }
    outer_ = std::move(nest);
  }

  /// body(block, offset into the result, offsets into the operands).
  template <class Body>
  void run(const Invocation& invocation, Body body) const {
    if (elements_ == 0) return;
    const std::span<const LoopAxis<Operands + 1>> outer(outer_);
    const std::int64_t total_rows = iterations(outer) * rows_.size;
    const auto part = [&](std::int64_t first_row, std::int64_t row_count, std::int64_t column,
                          std::int64_t column_count) {
      const std::int64_t last_row = first_row + row_count;
      for_each_iteration(outer, first_row / rows_.size, (last_row + rows_.size - 1) / rows_.size,
                         [&](std::int64_t iteration, const std::array<std::int64_t, Operands + 1>& outer_offsets) {
                           const std::int64_t begin = std::max(first_row - iteration * rows_.size, std::int64_t(0));
                           const std::int64_t end = std::min(last_row - iteration * rows_.size, rows_.size);
                           ElementwiseBlock<Operands> block{end - begin, column_count, rows_.strides[0], {}, {}};
                           std::array<std::int64_t, Operands> offsets;
                           for (std::size_t k = 0; k < Operands; ++k) {
                             block.row_strides[k] = rows_.strides[k + 1];
                             block.column_strides[k] = columns_.strides[k + 1];
                             offsets[k] =
                                 outer_offsets[k + 1] + begin * rows_.strides[k + 1] + column * columns_.strides[k + 1];
                           }
                           body(block, outer_offsets[0] + begin * rows_.strides[0] + column, offsets);
                         });
    };
    for_each_grid_part(chunk_count(invocation, elements_), total_rows, columns_.size, part);
  }

 private:
  std::int64_t elements_;
  LoopNest<Operands + 1> outer_;
  LoopAxis<Operands + 1> rows_, columns_;
};

}  // namespace mpsgraph_native::cpu
