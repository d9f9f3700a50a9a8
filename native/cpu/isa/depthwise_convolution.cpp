#include "cpu/isa/families.hpp"
#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {

template <class T>
DepthwiseConvolutionKernels<T> depthwise_convolution_kernels() {
  return {};
}
template DepthwiseConvolutionKernels<float> depthwise_convolution_kernels<float>();
template DepthwiseConvolutionKernels<double> depthwise_convolution_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
