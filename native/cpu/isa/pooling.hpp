#pragma once

namespace mpsgraph_native::cpu {

template <class T>
struct PoolingKernels {};

}  // namespace mpsgraph_native::cpu
