#pragma once

#include <concepts>

#include "metal/lowering.hpp"

namespace mpsgraph_native::metal {

/// Adds an operation to the graph. Its program has passed check_program, and all its operands and results have
/// elements. A template, so that attributes without an overload below do not turn into an Operation and end up here
/// again.
template <std::same_as<Operation> Any>
Lowered lower(const Any& operation, const LoweringSite& site);

// One overload per operation: the visitor in lowering.mm does not compile while one is missing.

Lowered lower(const Convolution2D& attributes, const LoweringSite& site);
Lowered lower(const Convolution2DDataGradient& attributes, const LoweringSite& site);
Lowered lower(const Convolution2DWeightsGradient& attributes, const LoweringSite& site);
Lowered lower(const DepthwiseConvolution2D& attributes, const LoweringSite& site);
Lowered lower(const DepthwiseConvolution2DDataGradient& attributes, const LoweringSite& site);
Lowered lower(const DepthwiseConvolution2DWeightsGradient& attributes, const LoweringSite& site);
Lowered lower(const MaxPooling2D& attributes, const LoweringSite& site);
Lowered lower(const MaxPooling2DReturnIndices& attributes, const LoweringSite& site);
Lowered lower(const MaxPooling2DGradient& attributes, const LoweringSite& site);
Lowered lower(const AvgPooling2D& attributes, const LoweringSite& site);
Lowered lower(const AvgPooling2DGradient& attributes, const LoweringSite& site);
Lowered lower(const MaxPooling4D& attributes, const LoweringSite& site);
Lowered lower(const MaxPooling4DReturnIndices& attributes, const LoweringSite& site);
Lowered lower(const MaxPooling4DGradient& attributes, const LoweringSite& site);
Lowered lower(const AvgPooling4D& attributes, const LoweringSite& site);
Lowered lower(const AvgPooling4DGradient& attributes, const LoweringSite& site);
Lowered lower(const L2NormPooling4D& attributes, const LoweringSite& site);
Lowered lower(const L2NormPooling4DGradient& attributes, const LoweringSite& site);
Lowered lower(const GRU& attributes, const LoweringSite& site);
Lowered lower(const GRUGradients& attributes, const LoweringSite& site);
Lowered lower(const LSTM& attributes, const LoweringSite& site);
Lowered lower(const LSTMGradients& attributes, const LoweringSite& site);
Lowered lower(const SingleGateRNN& attributes, const LoweringSite& site);
Lowered lower(const SingleGateRNNGradients& attributes, const LoweringSite& site);
Lowered lower(const Select& attributes, const LoweringSite& site);
Lowered lower(const Relu& attributes, const LoweringSite& site);
Lowered lower(const ReluGradient& attributes, const LoweringSite& site);
Lowered lower(const Sigmoid& attributes, const LoweringSite& site);
Lowered lower(const SigmoidGradient& attributes, const LoweringSite& site);
Lowered lower(const Softmax& attributes, const LoweringSite& site);
Lowered lower(const SoftmaxGradient& attributes, const LoweringSite& site);
Lowered lower(const ReductionSum& attributes, const LoweringSite& site);
Lowered lower(const ReductionProduct& attributes, const LoweringSite& site);
Lowered lower(const ReductionMaximum& attributes, const LoweringSite& site);
Lowered lower(const ReductionMinimum& attributes, const LoweringSite& site);
Lowered lower(const ReductionArgMaximum& attributes, const LoweringSite& site);
Lowered lower(const ReductionArgMinimum& attributes, const LoweringSite& site);
Lowered lower(const Mean& attributes, const LoweringSite& site);
Lowered lower(const SoftmaxCrossEntropy& attributes, const LoweringSite& site);
Lowered lower(const SoftmaxCrossEntropyGradient& attributes, const LoweringSite& site);
Lowered lower(const StochasticGradientDescent& attributes, const LoweringSite& site);
Lowered lower(const MatrixMultiplication& attributes, const LoweringSite& site);
Lowered lower(const Reshape& attributes, const LoweringSite& site);
Lowered lower(const Transpose& attributes, const LoweringSite& site);
Lowered lower(const Broadcast& attributes, const LoweringSite& site);
Lowered lower(const Cast& attributes, const LoweringSite& site);
Lowered lower(const Slice& attributes, const LoweringSite& site);
Lowered lower(const SliceGradient& attributes, const LoweringSite& site);

Lowered lower_unary(UnaryFunction function, const LoweringSite& site);
Lowered lower_binary(BinaryFunction function, const LoweringSite& site);
Lowered lower_comparison(ComparisonFunction function, const LoweringSite& site);

template <UnaryFunction Function>
Lowered lower(const ElementwiseUnary<Function>&, const LoweringSite& site) {
  return lower_unary(Function, site);
}
template <BinaryFunction Function>
Lowered lower(const ElementwiseBinary<Function>&, const LoweringSite& site) {
  return lower_binary(Function, site);
}
template <ComparisonFunction Function>
Lowered lower(const ElementwiseComparison<Function>&, const LoweringSite& site) {
  return lower_comparison(Function, site);
}

}  // namespace mpsgraph_native::metal
