#pragma once

#include <cstdint>
#include <vector>

#include "cpu/convolution_geometry.hpp"
#include "cpu/dispatch.hpp"

namespace mpsgraph_native::cpu {

/// Sizes and order of a four-dimensional data tensor.
struct ImageTensor {
  std::int64_t channels = 0, height = 1, width = 1;
  bool channels_last = false;

  std::int64_t image_stride() const { return channels * height * width; }
  std::int64_t channel_stride() const { return channels_last ? 1 : height * width; }
  std::int64_t column_stride() const { return channels_last ? channels : 1; }
  std::int64_t row_stride() const { return width * column_stride(); }
};

/// Blocks of the input of a correlation as the matrix kernel reads them: the element of image n, channel c, output
/// (y, x) and tap (j, i) lies at a sum of strides. Usually that is a copy, channel by channel, with the padding
/// written out as zeros; where no padding is needed it can be the tensor itself.
class InputPlanes {
 public:
  InputPlanes() = default;
  /// For `channels` channels, those of a group. As many as fit into `budget` elements are copied at once.
  InputPlanes(const ImageTensor& input, std::int64_t channels, const CorrelationAxis& y, const CorrelationAxis& x,
              const PixelBlock& largest, std::int64_t budget);

  /// The same, read where the tensor lies. Only for correlations whose every tap is inside.
  static InputPlanes in_place(const ImageTensor& input, std::int64_t channels, const CorrelationAxis& y,
                              const CorrelationAxis& x, const PixelBlock& largest);

  /// Channels that `prepare` takes at once.
  std::int64_t channels_at_once() const { return channels_at_once_; }
  /// Elements of the largest copy.
  std::int64_t elements() const { return in_place_ ? 0 : largest_.images * channels_at_once_ * channel_; }

  /// Copies channels of a block, at most `channels_at_once`, unless they are read in place. Returns the address to
  /// which the offsets below are relative.
  template <class T>
  const T* prepare(const MatrixKernels<T>& kernels, const T* input, const PixelBlock& block, std::int64_t first_channel,
                   std::int64_t channels, T* planes) const;

  /// The memory of the input that `prepare` reads, or the kernel in its place. Empty where only parts of rows count.
  template <class T>
  MemoryRuns source(const T* input, const PixelBlock& block, std::int64_t first_channel, std::int64_t channels) const;

  /// Offset of each pixel of the largest block, images outermost.
  std::vector<std::int32_t> pixel_offsets() const;
  /// Offset of each tap of each of `channels_at_once` channels, channels outermost, for axes that those of the planes
  /// are or span.
  std::vector<std::int32_t> tap_offsets(const CorrelationAxis& y, const CorrelationAxis& x) const;
  std::int64_t image_offset() const { return image_; }
  /// From one row of outputs to the next.
  std::int64_t row_offset() const { return output_y_; }

 private:
  /// An axis inside a plane. Dense: all positions from the first to the last that a block reads. Otherwise only those
  /// that some tap reads, tap by tap, which is smaller when strides or dilations leap.
  struct PlaneAxis {
    bool dense = true;
    std::int64_t size = 0, output_step = 1, tap_step = 1;
  };
  static PlaneAxis plane_axis(const CorrelationAxis& axis, std::int64_t outputs);

  template <class T>
  void copy_row(const MatrixKernels<T>& kernels, const T* source, const PixelBlock& block, std::int64_t channels,
                T* row) const;
  template <class T>
  void copy_run(const MatrixKernels<T>& kernels, const T* source, std::int64_t start, std::int64_t step,
                std::int64_t length, std::int64_t channels, T* run) const;

  ImageTensor input_;
  CorrelationAxis y_, x_;
  PixelBlock largest_{};
  PlaneAxis plane_y_, plane_x_;
  bool in_place_ = false;
  bool rows_join_ = false;  ///< rows of a plane follow each other as in the tensor
  std::int64_t channels_at_once_ = 0;
  std::int64_t image_ = 0, channel_ = 0;  // strides
  std::int64_t output_y_ = 0, output_x_ = 0, tap_y_ = 0, tap_x_ = 0;
};

}  // namespace mpsgraph_native::cpu
