#pragma once

namespace mpsgraph_native::cpu {

template <class T>
struct RecurrentKernels {};

}  // namespace mpsgraph_native::cpu
