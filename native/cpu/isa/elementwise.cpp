#include "cpu/isa/families.hpp"
#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {

template <class T>
ElementwiseKernels<T> elementwise_kernels() {
  return {};
}
template ElementwiseKernels<float> elementwise_kernels<float>();
template ElementwiseKernels<double> elementwise_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
