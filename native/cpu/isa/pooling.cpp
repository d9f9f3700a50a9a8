#include "cpu/isa/families.hpp"
#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {

template <class T>
PoolingKernels<T> pooling_kernels() {
  return {};
}
template PoolingKernels<float> pooling_kernels<float>();
template PoolingKernels<double> pooling_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
