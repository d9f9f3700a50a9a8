#pragma once

#include <cstdint>

namespace mpsgraph_native::cpu {

/// Lines along the axis of a softmax. Stride 1: `count` lines one after the other. A larger stride: `count` lines side
/// by side, beginning at neighbouring elements.
struct Lines {
  std::int64_t length, stride, count;
};

/// Softmax and its relatives along every line. Values per line (losses, gradients of losses) are contiguous.
template <class T>
struct SoftmaxKernels {
  void (*softmax)(const Lines& lines, const T* source, T* result);
  /// y * (gradient - sum of gradient * y) with y = softmax(source).
  void (*softmax_gradient)(const Lines& lines, const T* gradient, const T* source, T* result);
  /// losses[line] = -sum of labels * log(softmax(source)).
  void (*cross_entropy)(const Lines& lines, const T* source, const T* labels, T* losses);
  /// gradients * factor * (softmax(source) * sum of labels - labels); gradient_stride 0: one gradient for all lines.
  void (*cross_entropy_gradient)(const Lines& lines, const T* gradients, std::int64_t gradient_stride, T factor,
                                 const T* source, const T* labels, T* result);
};

}  // namespace mpsgraph_native::cpu
