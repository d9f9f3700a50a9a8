#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cpu/convolution_correlation.hpp"
#include "cpu/convolution_weights_gradient.hpp"
#include "cpu/isa/flat_convolution.hpp"

namespace mpsgraph_native::cpu {

/// Padded images as one line each. Rows of the line are just so long that a window which slides along it passes from
/// one row of outputs to the next, over gaps in which its sums mean nothing. One tap of all outputs of an image is then
/// one contiguous stretch: nothing is gathered, and weights are read where they lie. That suits convolutions so small
/// that laying operands out costs more than their products. Strides are 1.
class FlatImages {
 public:
  static constexpr std::string_view name = "flat images";

  /// Whether the correlation steps by one position of its input and of its result, so that it covers the result, and
  /// reads at most so many elements of a channel.
  static bool fits(const CorrelationAxis& y, const CorrelationAxis& x, std::int64_t elements);

  FlatImages(const ImageTensor& input, const CorrelationAxis& y, const CorrelationAxis& x, int lanes);

  /// From one row to the next.
  std::int64_t pitch() const { return pitch_; }
  /// Vectors that hold the outputs of one channel of an image, gaps included, and their elements.
  std::int64_t vectors() const { return vectors_; }
  std::int64_t line() const { return line_; }
  /// Elements of one padded channel of an image.
  std::int64_t plane() const { return plane_; }
  /// Of each tap of each channel, channels outermost, from the first padded channel.
  std::vector<std::int32_t> tap_offsets(std::int64_t channels) const;

  /// Copies the planes of one image into padded ones, whose padding stays as it is.
  template <class T>
  void pad(const FlatConvolutionKernels<T>& kernels, const T* planes, T* padded) const;

 private:
  /// The positions of an axis that are read, in the input and in the padded image.
  struct Part {
    std::int64_t input, padded, count;
    Part(const CorrelationAxis& axis, std::int64_t extent);
  };
  static std::int64_t extent(const CorrelationAxis& axis) { return axis.outputs + (axis.taps - 1) * axis.dilation; }

  ImageTensor input_;
  CorrelationAxis y_, x_;
  std::int64_t pitch_, vectors_, line_, plane_;
  Part rows_, columns_;
};

/// A correlation of flat images, on one thread.
template <class T>
class FlatCorrelation {
 public:
  FlatCorrelation(const CorrelationSizes& sizes, const CorrelationAxis& y, const CorrelationAxis& x,
                  ScratchLayout& scratch);

  void run(const Invocation& invocation, const T* input, const T* weights, T* result) const;

 private:
  const MatrixKernels<T>& matrix_;
  const FlatConvolutionKernels<T>& kernels_;
  CorrelationSizes sizes_;
  FlatImages images_;
  std::vector<std::int32_t> source_offsets_, weights_offsets_;
  Slot<T> padded_, lines_, input_planes_, result_planes_;
};

/// The weights gradient as products of lines, on one thread: the incoming gradient's, with zeros in the gaps, by those
/// of the flat source.
template <class T>
class FlatWeightsGradient {
 public:
  FlatWeightsGradient(const WeightsGradientSizes& sizes, ScratchLayout& scratch);

  /// Whether the result is finite. Otherwise it may be wrong: in a gap, an infinite source meets a gradient of zero.
  bool run(const Invocation& invocation, const T* incoming, const T* source, T* result) const;

 private:
  const MatrixKernels<T>& matrix_;
  const FlatConvolutionKernels<T>& kernels_;
  WeightsGradientSizes sizes_;
  FlatImages images_;
  std::vector<std::int32_t> source_offsets_;
  Slot<T> padded_, lines_, planes_;
};

}  // namespace mpsgraph_native::cpu
