#pragma once

#include <string_view>
#include <variant>

#include "graph/activation.hpp"
#include "graph/arithmetic.hpp"
#include "graph/convolution.hpp"
#include "graph/depthwise_convolution.hpp"
#include "graph/export.hpp"
#include "graph/loss.hpp"
#include "graph/matrix_multiplication.hpp"
#include "graph/memory.hpp"
#include "graph/normalization.hpp"
#include "graph/optimizer.hpp"
#include "graph/pooling.hpp"
#include "graph/recurrent.hpp"
#include "graph/reduction.hpp"
#include "graph/tensor_shape.hpp"

namespace mpsgraph_native {

/// Every operation as a value. An engine visits it, so that one without a kernel or lowering does not compile.
using Operation =
    std::variant<Placeholder, Constant, Convolution2D, Convolution2DDataGradient, Convolution2DWeightsGradient,
                 DepthwiseConvolution2D, DepthwiseConvolution2DDataGradient, DepthwiseConvolution2DWeightsGradient,
                 MaxPooling2D, MaxPooling2DReturnIndices, MaxPooling2DGradient, AvgPooling2D, AvgPooling2DGradient,
                 MaxPooling4D, MaxPooling4DReturnIndices, MaxPooling4DGradient, AvgPooling4D, AvgPooling4DGradient,
                 L2NormPooling4D, L2NormPooling4DGradient, GRU, GRUGradients, LSTM, LSTMGradients, SingleGateRNN,
                 SingleGateRNNGradients, Absolute, Exponent, Identity, Logarithm, Negative, Reciprocal, Square,
                 SquareRoot, Tanh, Addition, Subtraction, Multiplication, Division, Maximum, Minimum, Equal, NotEqual,
                 LessThan, LessThanOrEqualTo, GreaterThan, GreaterThanOrEqualTo, Select, Relu, ReluGradient, Sigmoid,
                 SigmoidGradient, Softmax, SoftmaxGradient, ReductionSum, ReductionProduct, ReductionMaximum,
                 ReductionMinimum, ReductionArgMaximum, ReductionArgMinimum, Mean, SoftmaxCrossEntropy,
                 SoftmaxCrossEntropyGradient, StochasticGradientDescent, MatrixMultiplication, Reshape, Transpose,
                 Broadcast, Cast, Slice, SliceGradient>;

/// Whether an alternative is one of some others.
template <class Attributes, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<Attributes, Others> || ...);

MPSGRAPH_API std::string_view name_of(const Operation& operation);
MPSGRAPH_API std::span<const Argument> arguments_of(const Operation& operation);
MPSGRAPH_API std::size_t hash_of(const Operation& operation);

/// a == b, compiled once: the comparison of a variant with so many alternatives takes compilers long.
bool same(const Operation& a, const Operation& b);

/// Every attribute by name, as make_operation takes them.
MPSGRAPH_API AttributeMap attributes_of(const Operation& operation);

/// "stride_in_x=1, ..."
MPSGRAPH_API std::string describe_attributes(const Operation& operation);
/// "convolution_2d(stride_in_x=1, ...)"
MPSGRAPH_API std::string describe(const Operation& operation);

/// Validates the operands (null: absent) and gives the results' types.
ResultTypes infer_types(const Operation& operation, std::span<const TensorType* const> operands);

/// Builds an operation from its Python name; raises CompileError when there is none of that name.
MPSGRAPH_API Operation make_operation(std::string_view name, const AttributeMap& attributes);

}  // namespace mpsgraph_native
