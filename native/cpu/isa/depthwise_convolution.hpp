#pragma once

namespace mpsgraph_native::cpu {

template <class T>
struct DepthwiseConvolutionKernels {};

}  // namespace mpsgraph_native::cpu
