#pragma once

namespace mpsgraph_native::cpu {

template <class T>
struct ElementwiseKernels {};

}  // namespace mpsgraph_native::cpu
