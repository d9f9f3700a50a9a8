#pragma once

#include <vector>

#include "cpu/isa/depthwise_convolution.hpp"
#include "cpu/kernel.hpp"
#include "graph/depthwise_convolution.hpp"

namespace mpsgraph_native::cpu {

/// The taps of the forward correlation along an axis: one phase.
std::vector<TapPhase> correlation_phases(const WindowAxis& axis);

/// The taps of its data gradient: one phase for every residue of the source position modulo the stride, in which the
/// "source" positions are those of the incoming gradient.
std::vector<TapPhase> data_gradient_phases(const WindowAxis& axis);

/// The taps [begin, end) of output q that fall into [0, size).
struct TapRange {
  std::int64_t begin, end;
  friend bool operator==(const TapRange&, const TapRange&) = default;
};
TapRange taps_inside(const TapPhase& phase, std::int64_t q, std::int64_t size);

/// Strides of the weights, in elements.
struct WeightsStrides {
  std::int64_t channel, multiplier, row, column;
};
WeightsStrides weights_strides(const DepthwiseConvolution2DGeometry& geometry);

/// Whether the source and the result have left the second-level cache since they were last used: where they have not,
/// fetching them ahead took up to 8 % of the time.
template <class T>
bool leaves_caches(const DepthwiseConvolution2DGeometry& geometry) {
  constexpr std::int64_t cached_bytes = 512 * 1024;
  const std::int64_t inputs = geometry.y.input * geometry.x.input;
  const std::int64_t outputs = geometry.y.output * geometry.x.output * geometry.multiplier;
  return geometry.batch * geometry.channels * (inputs + outputs) * static_cast<std::int64_t>(sizeof(T)) > cached_bytes;
}

template <class T>
Kernel make_plane_correlation(const DepthwiseConvolution2DGeometry& geometry, bool data_gradient);
template <class T>
Kernel make_plane_weights_gradient(const DepthwiseConvolution2DGeometry& geometry);
template <class T>
Kernel make_pixel_correlation(const DepthwiseConvolution2DGeometry& geometry, bool data_gradient);
template <class T>
Kernel make_pixel_weights_gradient(const DepthwiseConvolution2DGeometry& geometry);

}  // namespace mpsgraph_native::cpu
