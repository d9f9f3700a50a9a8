#include "cpu/convolution_geometry.hpp"

#include <algorithm>
#include <numeric>

#include "graph/division.hpp"

namespace mpsgraph_native::cpu {

CorrelationAxis forward_axis(const WindowAxis& axis) {
  CorrelationAxis result;
  result.input = axis.input;
  result.outputs = axis.output;
  result.taps = axis.kernel;
  result.stride = axis.stride;
  result.dilation = axis.dilation;
  result.origin = -axis.padding_before;
  return result;
}

std::vector<CorrelationAxis> data_gradient_axes(const WindowAxis& axis) {
  // With q = position + padding, tap j meets q when q ≡ j·dilation modulo the stride. The taps of one residue lie
  // `period` apart, and from one to the next the gradient position falls by `dilation / common`.
  const std::int64_t common = std::gcd(axis.stride, axis.dilation);
  const std::int64_t period = axis.stride / common;
  std::vector<CorrelationAxis> axes;
  for (std::int64_t first_tap = 0; first_tap < std::min(axis.kernel, period); ++first_tap) {
    const std::int64_t residue = first_tap * axis.dilation % axis.stride;
    const std::int64_t first = std::max<std::int64_t>(ceil_divide(axis.padding_before - residue, axis.stride), 0);
    const std::int64_t begin = residue + first * axis.stride - axis.padding_before;
    if (begin >= axis.input) continue;
    CorrelationAxis result;
    result.input = axis.output;
    result.outputs = (axis.input - 1 - begin) / axis.stride + 1;
    result.taps = (axis.kernel - 1 - first_tap) / period + 1;
    result.dilation = axis.dilation / common;
    result.origin = first + (residue - first_tap * axis.dilation) / axis.stride - (result.taps - 1) * result.dilation;
    result.result_begin = begin;
    result.result_step = axis.stride;
    // The gradient position rises with t where the kernel position falls.
    result.kernel_begin = first_tap + (result.taps - 1) * period;
    result.kernel_step = -period;
    axes.push_back(result);
  }
  return axes;
}

CorrelationAxis spanning_axis(const std::vector<CorrelationAxis>& axes) {
  CorrelationAxis span = axes[0];
  if (axes.size() == 1) return span;
  std::int64_t last = span.origin;
  for (const CorrelationAxis& axis : axes) {
    span.outputs = std::max(span.outputs, axis.outputs);
    span.origin = std::min(span.origin, axis.origin);
    last = std::max(last, axis.origin + (axis.taps - 1) * axis.dilation);
  }
  span.dilation = 1;
  span.taps = last - span.origin + 1;
  return span;
}

PixelBlocks::PixelBlocks(std::int64_t batch, std::int64_t rows, std::int64_t columns, std::int64_t target)
    : batch_(batch), rows_(rows), columns_(columns), largest_{0, 1, 0, 1, 0, columns} {
  if (batch == 0 || rows == 0 || columns == 0) return;
  // Equal shares rather than full blocks and a rest.
  const auto share = [](std::int64_t total, std::int64_t most) {
    return ceil_divide(total, ceil_divide(total, std::max<std::int64_t>(most, 1)));
  };
  if (columns > target + target / 2) {
    largest_.columns = share(columns, target);
  } else if (rows * columns > target) {
    largest_.rows = share(rows, (target + columns / 2) / columns);
  } else {
    largest_.rows = rows;
    largest_.images = share(batch, target / (rows * columns));
  }
  image_blocks_ = ceil_divide(batch, largest_.images);
  row_blocks_ = ceil_divide(rows, largest_.rows);
  column_blocks_ = ceil_divide(columns, largest_.columns);
}

PixelBlock PixelBlocks::operator[](std::int64_t index) const {
  PixelBlock block = largest_;
  block.x = index % column_blocks_ * largest_.columns;
  index /= column_blocks_;
  block.y = index % row_blocks_ * largest_.rows;
  block.image = index / row_blocks_ * largest_.images;
  block.columns = std::min(block.columns, columns_ - block.x);
  block.rows = std::min(block.rows, rows_ - block.y);
  block.images = std::min(block.images, batch_ - block.image);
  return block;
}

}  // namespace mpsgraph_native::cpu
