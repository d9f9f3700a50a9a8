#include "cpu/isa/families.hpp"
#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {

template <class T>
RecurrentKernels<T> recurrent_kernels() {
  return {};
}
template RecurrentKernels<float> recurrent_kernels<float>();
template RecurrentKernels<double> recurrent_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
