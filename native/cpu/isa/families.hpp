#pragma once

#include "cpu/isa/conversion.hpp"
#include "cpu/isa/depthwise_convolution.hpp"
#include "cpu/isa/elementwise.hpp"
#include "cpu/isa/flat_convolution.hpp"
#include "cpu/isa/matrix.hpp"
#include "cpu/isa/pooling.hpp"
#include "cpu/isa/recurrent.hpp"
#include "cpu/isa/reduction.hpp"
#include "cpu/isa/softmax.hpp"
#include "cpu/isa/winograd.hpp"

namespace mpsgraph_native::cpu {

/// The kernels of one instruction set for one floating type.
template <class T>
struct Kernels {
  MatrixKernels<T> matrix;
  DepthwiseConvolutionKernels<T> depthwise_convolution;
  FlatConvolutionKernels<T> flat_convolution;
  PoolingKernels<T> pooling;
  RecurrentKernels<T> recurrent;
  ElementwiseKernels<T> elementwise;
  ReductionKernels<T> reduction;
  ArgReductionKernels<T> arg_reduction;
  SoftmaxKernels<T> softmax;
};

/// The kernels of one instruction set for one integer type.
template <class T>
struct IntegerKernels {
  ElementwiseKernels<T> elementwise;
  ReductionKernels<T> reduction;
  ArgReductionKernels<T> arg_reduction;
};

struct KernelTable {
  const char* name;  ///< of the instruction set, as MPSGRAPH_NATIVE_ISA spells it
  Kernels<float> f32;
  Kernels<double> f64;
  IntegerKernels<std::int32_t> i32;
  IntegerKernels<std::int64_t> i64;
  ConversionKernels conversion;
  WinogradKernels winograd;
};

#ifdef MPSGRAPH_ISA
namespace MPSGRAPH_ISA {

template <class T>
MatrixKernels<T> matrix_kernels();
template <class T>
DepthwiseConvolutionKernels<T> depthwise_convolution_kernels();
template <class T>
FlatConvolutionKernels<T> flat_convolution_kernels();
template <class T>
PoolingKernels<T> pooling_kernels();
template <class T>
RecurrentKernels<T> recurrent_kernels();
template <class T>
ElementwiseKernels<T> elementwise_kernels();
template <class T>
ReductionKernels<T> reduction_kernels();
template <class T>
ArgReductionKernels<T> arg_reduction_kernels();
template <class T>
SoftmaxKernels<T> softmax_kernels();
ConversionKernels conversion_kernels();
WinogradKernels winograd_kernels();

}  // namespace MPSGRAPH_ISA
#endif

}  // namespace mpsgraph_native::cpu
