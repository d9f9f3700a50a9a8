#pragma once

#include <cstdint>
#include <vector>

#include "graph/window.hpp"

namespace mpsgraph_native::cpu {

/// One axis of a correlation: tap t of output o reads position origin + o·stride + t·dilation of the input, zero
/// outside it. A forward convolution is one correlation; a data gradient is one per residue modulo the stride.
struct CorrelationAxis {
  std::int64_t input = 1, outputs = 1, taps = 1;
  std::int64_t stride = 1, dilation = 1, origin = 0;
  std::int64_t result_begin = 0, result_step = 1;  ///< output o is position begin + o·step of the result
  std::int64_t kernel_begin = 0, kernel_step = 1;  ///< tap t is position begin + t·step of the kernel

  bool inside() const { return origin >= 0 && origin + (outputs - 1) * stride + (taps - 1) * dilation < input; }
};

CorrelationAxis forward_axis(const WindowAxis& axis);

/// The correlations over the incoming gradient that give the positions of the source, one for each residue that some
/// tap reaches. Positions of the other residues get no contribution.
std::vector<CorrelationAxis> data_gradient_axes(const WindowAxis& axis);

/// An axis that reads every position that some of these read; they share their input and, if several, have stride 1.
CorrelationAxis spanning_axis(const std::vector<CorrelationAxis>& axes);

/// A rectangle of output positions: whole images, whole rows of one image, or a part of one row.
struct PixelBlock {
  std::int64_t image, images, y, rows, x, columns;

  std::int64_t pixels() const { return images * rows * columns; }
};

/// The outputs of a correlation over a batch, cut into blocks of about `target` pixels.
class PixelBlocks {
 public:
  PixelBlocks() = default;
  PixelBlocks(std::int64_t batch, std::int64_t rows, std::int64_t columns, std::int64_t target);

  std::int64_t count() const { return image_blocks_ * row_blocks_ * column_blocks_; }
  PixelBlock operator[](std::int64_t index) const;
  /// The size that none exceeds; every block is a prefix of it, in each of its three directions.
  const PixelBlock& largest() const { return largest_; }

 private:
  std::int64_t batch_ = 0, rows_ = 0, columns_ = 0;
  std::int64_t image_blocks_ = 0, row_blocks_ = 0, column_blocks_ = 0;
  PixelBlock largest_{};
};

}  // namespace mpsgraph_native::cpu
