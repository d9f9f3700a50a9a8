#pragma once

#include "cpu/kernel.hpp"

namespace mpsgraph_native::cpu {

// One overload per operation: the visitor in executable.cpp does not compile while one is missing.

Kernel make_kernel(const Convolution2D& attributes, const KernelRequest& request);
Kernel make_kernel(const Convolution2DDataGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const Convolution2DWeightsGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const DepthwiseConvolution2D& attributes, const KernelRequest& request);
Kernel make_kernel(const DepthwiseConvolution2DDataGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const DepthwiseConvolution2DWeightsGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const MaxPooling2D& attributes, const KernelRequest& request);
Kernel make_kernel(const MaxPooling2DReturnIndices& attributes, const KernelRequest& request);
Kernel make_kernel(const MaxPooling2DGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const AvgPooling2D& attributes, const KernelRequest& request);
Kernel make_kernel(const AvgPooling2DGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const MaxPooling4D& attributes, const KernelRequest& request);
Kernel make_kernel(const MaxPooling4DReturnIndices& attributes, const KernelRequest& request);
Kernel make_kernel(const MaxPooling4DGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const AvgPooling4D& attributes, const KernelRequest& request);
Kernel make_kernel(const AvgPooling4DGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const L2NormPooling4D& attributes, const KernelRequest& request);
Kernel make_kernel(const L2NormPooling4DGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const GRU& attributes, const KernelRequest& request);
Kernel make_kernel(const GRUGradients& attributes, const KernelRequest& request);
Kernel make_kernel(const LSTM& attributes, const KernelRequest& request);
Kernel make_kernel(const LSTMGradients& attributes, const KernelRequest& request);
Kernel make_kernel(const SingleGateRNN& attributes, const KernelRequest& request);
Kernel make_kernel(const SingleGateRNNGradients& attributes, const KernelRequest& request);
Kernel make_kernel(const Select& attributes, const KernelRequest& request);
Kernel make_kernel(const Relu& attributes, const KernelRequest& request);
Kernel make_kernel(const ReluGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const Sigmoid& attributes, const KernelRequest& request);
Kernel make_kernel(const SigmoidGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const Softmax& attributes, const KernelRequest& request);
Kernel make_kernel(const SoftmaxGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const ReductionSum& attributes, const KernelRequest& request);
Kernel make_kernel(const ReductionProduct& attributes, const KernelRequest& request);
Kernel make_kernel(const ReductionMaximum& attributes, const KernelRequest& request);
Kernel make_kernel(const ReductionMinimum& attributes, const KernelRequest& request);
Kernel make_kernel(const ReductionArgMaximum& attributes, const KernelRequest& request);
Kernel make_kernel(const ReductionArgMinimum& attributes, const KernelRequest& request);
Kernel make_kernel(const Mean& attributes, const KernelRequest& request);
Kernel make_kernel(const SoftmaxCrossEntropy& attributes, const KernelRequest& request);
Kernel make_kernel(const SoftmaxCrossEntropyGradient& attributes, const KernelRequest& request);
Kernel make_kernel(const StochasticGradientDescent& attributes, const KernelRequest& request);
Kernel make_kernel(const MatrixMultiplication& attributes, const KernelRequest& request);
Kernel make_kernel(const Reshape& attributes, const KernelRequest& request);
Kernel make_kernel(const Transpose& attributes, const KernelRequest& request);
Kernel make_kernel(const Broadcast& attributes, const KernelRequest& request);
Kernel make_kernel(const Cast& attributes, const KernelRequest& request);
Kernel make_kernel(const Slice& attributes, const KernelRequest& request);
Kernel make_kernel(const SliceGradient& attributes, const KernelRequest& request);

Kernel make_unary_kernel(UnaryFunction function, const KernelRequest& request);
Kernel make_binary_kernel(BinaryFunction function, const KernelRequest& request);
Kernel make_comparison_kernel(ComparisonFunction function, const KernelRequest& request);

template <UnaryFunction Function>
Kernel make_kernel(const ElementwiseUnary<Function>&, const KernelRequest& request) {
  return make_unary_kernel(Function, request);
}
template <BinaryFunction Function>
Kernel make_kernel(const ElementwiseBinary<Function>&, const KernelRequest& request) {
  return make_binary_kernel(Function, request);
}
template <ComparisonFunction Function>
Kernel make_kernel(const ElementwiseComparison<Function>&, const KernelRequest& request) {
  return make_comparison_kernel(Function, request);
}

}  // namespace mpsgraph_native::cpu
