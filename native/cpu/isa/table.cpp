#include "cpu/isa/families.hpp"

#define MPSGRAPH_STRINGIFY_(name) #name
#define MPSGRAPH_STRINGIFY(name) MPSGRAPH_STRINGIFY_(name)

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

template <class T>
Kernels<T> kernels_of() {
  return {matrix_kernels<T>(),           depthwise_convolution_kernels<T>(),
          flat_convolution_kernels<T>(), pooling_kernels<T>(),
          recurrent_kernels<T>(),        elementwise_kernels<T>(),
          reduction_kernels<T>(),        arg_reduction_kernels<T>(),
          softmax_kernels<T>()};
}

template <class T>
IntegerKernels<T> integer_kernels_of() {
  return {elementwise_kernels<T>(), reduction_kernels<T>(), arg_reduction_kernels<T>()};
}

}  // namespace

KernelTable kernel_table() {
  return {MPSGRAPH_STRINGIFY(MPSGRAPH_ISA),
          kernels_of<float>(),
          kernels_of<double>(),
          integer_kernels_of<std::int32_t>(),
          integer_kernels_of<std::int64_t>(),
          conversion_kernels(),
          winograd_kernels()};
}

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
