#include "cpu/isa/families.hpp"

#define MPSGRAPH_STRINGIFY_(name) #name
#define MPSGRAPH_STRINGIFY(name) MPSGRAPH_STRINGIFY_(name)

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

template <class T>
Kernels<T> kernels_of() {
  return {matrix_kernels<T>(), depthwise_convolution_kernels<T>(), pooling_kernels<T>(), recurrent_kernels<T>(),
          elementwise_kernels<T>()};
}

}  // namespace

KernelTable kernel_table() {
  return {MPSGRAPH_STRINGIFY(MPSGRAPH_ISA), kernels_of<float>(), kernels_of<double>(), conversion_kernels()};
}

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
