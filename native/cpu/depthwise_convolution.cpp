#include <numeric>

#include "cpu/depthwise_convolution_plan.hpp"
#include "cpu/kernels.hpp"

namespace mpsgraph_native::cpu {

std::vector<TapPhase> correlation_phases(const WindowAxis& axis) {
  return {{axis.output, 0, 1, -axis.padding_before, axis.stride, axis.kernel, axis.dilation, 0, 1}};
}

std::vector<TapPhase> data_gradient_phases(const WindowAxis& axis) {
  std::vector<TapPhase> phases;
  // Tap j reaches source position x when (x + padding - j·dilation) is a multiple of the stride: every period-th tap.
  const std::int64_t period = axis.stride / std::gcd(axis.stride, axis.dilation);
  for (std::int64_t residue = 0; residue < std::min(axis.stride, axis.input); ++residue) {
    const std::int64_t position = residue + axis.padding_before;
    std::int64_t first = 0;
    while (first < std::min(period, axis.kernel) && (position - first * axis.dilation) % axis.stride != 0) ++first;
    TapPhase phase{};
    phase.outputs = (axis.input - residue + axis.stride - 1) / axis.stride;
    phase.first_output = residue;
    phase.output_step = axis.stride;
    phase.source_step = 1;
    if (first < std::min(period, axis.kernel)) {
      // The last tap reads the first source position: counted from it, the positions ascend.
      phase.taps = (axis.kernel - first + period - 1) / period;
      phase.tap_step = period * axis.dilation / axis.stride;
      phase.first_source = (position - first * axis.dilation) / axis.stride - (phase.taps - 1) * phase.tap_step;
      phase.first_weight = first + (phase.taps - 1) * period;
      phase.weight_step = -period;
    }
    phases.push_back(phase);
  }
  return phases;
}

namespace {

/// The smallest t >= 0 with start + t·step >= bound, for step > 0.
std::int64_t first_reaching(std::int64_t start, std::int64_t step, std::int64_t bound) {
  return start >= bound ? 0 : (bound - start + step - 1) / step;
}

}  // namespace

TapRange taps_inside(const TapPhase& phase, std::int64_t q, std::int64_t size) {
  const std::int64_t start = phase.first_source + q * phase.source_step;
  if (phase.taps == 0) return {0, 0};
  const std::int64_t begin = std::min(first_reaching(start, phase.tap_step, 0), phase.taps);
  const std::int64_t end = std::min(first_reaching(start, phase.tap_step, size), phase.taps);
  return begin < end ? TapRange{begin, end} : TapRange{0, 0};
}

WeightsStrides weights_strides(const DepthwiseConvolution2DGeometry& geometry) {
  const std::int64_t taps = geometry.y.kernel * geometry.x.kernel;
  const std::int64_t result_channels = geometry.channels * geometry.multiplier;
  if (geometry.multiplier_last) return {geometry.multiplier, 1, geometry.x.kernel * result_channels, result_channels};
  return {taps, geometry.channels * taps, geometry.x.kernel, 1};
}

namespace {

/// The kernel with the multiplications and additions of the formula, which are the same for all three operations.
Kernel with_operations(Kernel kernel, const DepthwiseConvolution2DGeometry& geometry) {
  kernel.operations = 2.0 * static_cast<double>(geometry.batch * geometry.channels * geometry.multiplier) *
                      static_cast<double>(geometry.y.output * geometry.x.output) *
                      static_cast<double>(geometry.y.kernel * geometry.x.kernel);
  return kernel;
}

}  // namespace

Kernel make_kernel(const DepthwiseConvolution2D& attributes, const KernelRequest& request) {
  const DepthwiseConvolution2DGeometry geometry = depthwise_convolution_2d_geometry(
      attributes.name, attributes.descriptor, request.input(0).shape, "source", request.input(1).shape, "weights");
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return with_operations(geometry.channels_last ? make_pixel_correlation<T>(geometry, false)
                                                  : make_plane_correlation<T>(geometry, false),
                           geometry);
  });
}

Kernel make_kernel(const DepthwiseConvolution2DDataGradient& attributes, const KernelRequest& request) {
  const DepthwiseConvolution2DGeometry geometry =
      depthwise_convolution_2d_geometry(attributes.name, attributes.descriptor, attributes.output_shape, "output_shape",
                                        request.input(1).shape, "weights");
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return with_operations(
        geometry.channels_last ? make_pixel_correlation<T>(geometry, true) : make_plane_correlation<T>(geometry, true),
        geometry);
  });
}

Kernel make_kernel(const DepthwiseConvolution2DWeightsGradient& attributes, const KernelRequest& request) {
  const DepthwiseConvolution2DGeometry geometry =
      depthwise_convolution_2d_geometry(attributes.name, attributes.descriptor, request.input(1).shape, "source",
                                        attributes.output_shape, "output_shape");
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return with_operations(
        geometry.channels_last ? make_pixel_weights_gradient<T>(geometry) : make_plane_weights_gradient<T>(geometry),
        geometry);
  });
}

}  // namespace mpsgraph_native::cpu
