#include "cpu/isa/depthwise_convolution_pixels.hpp"
#include "cpu/isa/depthwise_convolution_pixels_gradient.hpp"
#include "cpu/isa/depthwise_convolution_planes.hpp"
#include "cpu/isa/depthwise_convolution_planes_gradient.hpp"
#include "cpu/isa/families.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {

template <class T>
DepthwiseConvolutionKernels<T> depthwise_convolution_kernels() {
  return {lanes<T>,
          correlate_plane<T>,
          weights_gradient_plane<T>,
          sum_accumulators<T>,
          correlate_pixels<T>,
          weights_gradient_pixels<T>};
}
template DepthwiseConvolutionKernels<float> depthwise_convolution_kernels<float>();
template DepthwiseConvolutionKernels<double> depthwise_convolution_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
