#pragma once

#include "cpu/isa/conversion.hpp"
#include "cpu/isa/depthwise_convolution.hpp"
#include "cpu/isa/elementwise.hpp"
#include "cpu/isa/matrix.hpp"
#include "cpu/isa/pooling.hpp"
#include "cpu/isa/recurrent.hpp"

namespace mpsgraph_native::cpu {

/// The kernels of one instruction set for one element type.
template <class T>
struct Kernels {
  MatrixKernels<T> matrix;
  DepthwiseConvolutionKernels<T> depthwise_convolution;
  PoolingKernels<T> pooling;
  RecurrentKernels<T> recurrent;
  ElementwiseKernels<T> elementwise;
};

struct KernelTable {
  const char* name;  ///< of the instruction set, as MPSGRAPH_NATIVE_ISA spells it
  Kernels<float> f32;
  Kernels<double> f64;
  ConversionKernels conversion;
};

#ifdef MPSGRAPH_ISA
namespace MPSGRAPH_ISA {

template <class T>
MatrixKernels<T> matrix_kernels();
template <class T>
DepthwiseConvolutionKernels<T> depthwise_convolution_kernels();
template <class T>
PoolingKernels<T> pooling_kernels();
template <class T>
RecurrentKernels<T> recurrent_kernels();
template <class T>
ElementwiseKernels<T> elementwise_kernels();
ConversionKernels conversion_kernels();

}  // namespace MPSGRAPH_ISA
#endif

}  // namespace mpsgraph_native::cpu
