#include "metal/availability.hpp"

#include <algorithm>
#include <mutex>
#if defined(__APPLE__)
#include <sys/sysctl.h>

#include <cstdio>
#endif

namespace mpsgraph_native::metal {
namespace {

constexpr Availability table[] = {
    {"convolution_2d", "", "convolution2DWithSourceTensor:weightsTensor:descriptor:name:", {11, 0}, ""},
    {"convolution_2d_data_gradient",
     "",
     "convolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:forwardConvolutionDescriptor:name:",
     {11, 0},
     ""},
    {"convolution_2d_weights_gradient",
     "",
     "convolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:forwardConvolutionDescriptor:"
     "name:",
     {11, 0},
     ""},
    {"depthwise_convolution_2d",
     "",
     "depthwiseConvolution2DWithSourceTensor:weightsTensor:descriptor:name:",
     {11, 0},
     ""},
    {"depthwise_convolution_2d_data_gradient",
     "",
     "depthwiseConvolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:descriptor:name:",
     {11, 0},
     ""},
    {"depthwise_convolution_2d_weights_gradient",
     "",
     "depthwiseConvolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:descriptor:name:",
     {11, 0},
     ""},
    {"max_pooling_2d", "", "maxPooling2DWithSourceTensor:descriptor:name:", {12, 0}, ""},
    {"max_pooling_2d_return_indices", "", "maxPooling2DReturnIndicesWithSourceTensor:descriptor:name:", {12, 2}, ""},
    {"max_pooling_2d_gradient",
     "source",
     "maxPooling2DGradientWithGradientTensor:sourceTensor:descriptor:name:",
     {12, 0},
     ""},
    {"max_pooling_2d_gradient",
     "indices",
     "maxPooling2DGradientWithGradientTensor:indicesTensor:outputShape:descriptor:name:",
     {13, 0},
     ""},
    {"avg_pooling_2d", "", "avgPooling2DWithSourceTensor:descriptor:name:", {12, 0}, ""},
    {"avg_pooling_2d_gradient",
     "",
     "avgPooling2DGradientWithGradientTensor:sourceTensor:descriptor:name:",
     {12, 0},
     ""},
    {"max_pooling_4d", "", "maxPooling4DWithSourceTensor:descriptor:name:", {12, 0}, ""},
    {"max_pooling_4d_return_indices", "", "maxPooling4DReturnIndicesWithSourceTensor:descriptor:name:", {12, 2}, ""},
    {"max_pooling_4d_gradient",
     "source",
     "maxPooling4DGradientWithGradientTensor:sourceTensor:descriptor:name:",
     {12, 0},
     ""},
    {"max_pooling_4d_gradient",
     "indices",
     "maxPooling4DGradientWithGradientTensor:indicesTensor:outputShape:descriptor:name:",
     {13, 0},
     ""},
    {"avg_pooling_4d", "", "avgPooling4DWithSourceTensor:descriptor:name:", {12, 0}, ""},
    {"avg_pooling_4d_gradient",
     "",
     "avgPooling4DGradientWithGradientTensor:sourceTensor:descriptor:name:",
     {12, 0},
     ""},
    {"l2_norm_pooling_4d", "", "L2NormPooling4DWithSourceTensor:descriptor:name:", {12, 0}, ""},
    {"l2_norm_pooling_4d_gradient",
     "",
     "L2NormPooling4DGradientWithGradientTensor:sourceTensor:descriptor:name:",
     {12, 0},
     ""},
    {"gru",
     "",
     "GRUWithSourceTensor:recurrentWeight:inputWeight:bias:initState:mask:secondaryBias:descriptor:name:",
     {13, 0},
     ""},
    {"gru_gradients",
     "",
     "GRUGradientsWithSourceTensor:recurrentWeight:sourceGradient:zState:outputFwd:stateGradient:inputWeight:bias:"
     "initState:mask:secondaryBias:descriptor:name:",
     {13, 0},
     ""},
    {"lstm",
     "",
     "LSTMWithSourceTensor:recurrentWeight:inputWeight:bias:initState:initCell:mask:peephole:descriptor:name:",
     {12, 3},
     ""},
    {"lstm_gradients",
     "",
     "LSTMGradientsWithSourceTensor:recurrentWeight:sourceGradient:zState:cellOutputFwd:stateGradient:cellGradient:"
     "inputWeight:bias:initState:initCell:mask:peephole:descriptor:name:",
     {12, 3},
     ""},
    {"single_gate_rnn",
     "",
     "singleGateRNNWithSourceTensor:recurrentWeight:inputWeight:bias:initState:mask:descriptor:name:",
     {12, 3},
     ""},
    {"single_gate_rnn_gradients",
     "",
     "singleGateRNNGradientsWithSourceTensor:recurrentWeight:sourceGradient:zState:stateGradient:inputWeight:bias:"
     "initState:mask:descriptor:name:",
     {12, 3},
     ""},
    {"absolute", "", "absoluteWithTensor:name:", {11, 0}, ""},
    {"exponent", "", "exponentWithTensor:name:", {11, 0}, ""},
    {"identity", "", "identityWithTensor:name:", {11, 0}, ""},
    {"logarithm", "", "logarithmWithTensor:name:", {11, 0}, ""},
    {"negative", "", "negativeWithTensor:name:", {11, 0}, ""},
    {"reciprocal", "", "reciprocalWithTensor:name:", {11, 0}, ""},
    {"square", "", "squareWithTensor:name:", {11, 0}, ""},
    {"square_root", "", "squareRootWithTensor:name:", {11, 0}, ""},
    {"tanh", "", "tanhWithTensor:name:", {11, 0}, ""},
    {"addition", "", "additionWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"subtraction", "", "subtractionWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"multiplication", "", "multiplicationWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"division", "", "divisionWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"maximum", "", "maximumWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"minimum", "", "minimumWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"equal", "", "equalWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"not_equal", "", "notEqualWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"less_than", "", "lessThanWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"less_than_or_equal_to", "", "lessThanOrEqualToWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"greater_than", "", "greaterThanWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"greater_than_or_equal_to", "", "greaterThanOrEqualToWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"select", "", "selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:", {11, 0}, ""},
    {"relu", "", "reLUWithTensor:name:", {11, 0}, ""},
    {"relu_gradient", "", "reLUGradientWithIncomingGradient:sourceTensor:name:", {11, 0}, ""},
    {"sigmoid", "", "sigmoidWithTensor:name:", {11, 0}, ""},
    {"sigmoid_gradient", "", "sigmoidGradientWithIncomingGradient:sourceTensor:name:", {11, 0}, ""},
    {"softmax", "", "softMaxWithTensor:axis:name:", {11, 0}, ""},
    {"softmax_gradient", "", "softMaxGradientWithIncomingGradient:sourceTensor:axis:name:", {11, 0}, ""},
    {"reduction_sum", "", "reductionSumWithTensor:axes:name:", {11, 0}, ""},
    {"reduction_product", "", "reductionProductWithTensor:axes:name:", {11, 0}, ""},
    {"reduction_maximum", "", "reductionMaximumWithTensor:axes:name:", {11, 0}, ""},
    {"reduction_minimum", "", "reductionMinimumWithTensor:axes:name:", {11, 0}, ""},
    {"reduction_arg_maximum", "", "reductionArgMaximumWithTensor:axis:name:", {12, 0}, ""},
    {"reduction_arg_minimum", "", "reductionArgMinimumWithTensor:axis:name:", {12, 0}, ""},
    {"mean", "", "meanOfTensor:axes:name:", {11, 0}, ""},
    {"softmax_cross_entropy",
     "",
     "softMaxCrossEntropyWithSourceTensor:labelsTensor:axis:reductionType:name:",
     {11, 0},
     ""},
    {"softmax_cross_entropy_gradient",
     "",
     "softMaxCrossEntropyGradientWithIncomingGradientTensor:sourceTensor:labelsTensor:axis:reductionType:name:",
     {11, 0},
     ""},
    {"stochastic_gradient_descent",
     "",
     "stochasticGradientDescentWithLearningRateTensor:valuesTensor:gradientTensor:name:",
     {11, 0},
     ""},
    {"matrix_multiplication", "", "matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:", {11, 0}, ""},
    {"reshape", "", "reshapeTensor:withShape:name:", {11, 0}, ""},
    {"transpose",
     "",
     "transposeTensor:permutation:name:",
     {13, 0},
     "transposeTensor:dimension:withDimension:name: for each pair of axes that changes places"},
    {"broadcast", "", "broadcastTensor:toShape:name:", {12, 0}, ""},
    {"cast", "", "castTensor:toType:name:", {12, 0}, ""},
    {"slice", "", "sliceTensor:starts:ends:strides:name:", {11, 0}, ""},
    {"slice_gradient", "", "sliceGradientTensor:fwdInShapeTensor:starts:ends:strides:name:", {11, 0}, ""},
};

template <class Attributes>
constexpr auto rows_of(std::string_view form) {
  return std::ranges::count_if(
      table, [&](const Availability& row) { return row.operation == Attributes::name && row.form == form; });
}

template <class Attributes>
constexpr bool has_forms =
    std::is_same_v<Attributes, MaxPooling2DGradient> || std::is_same_v<Attributes, MaxPooling4DGradient>;

template <class Attributes>
constexpr std::size_t check_rows() {
  if constexpr (std::is_same_v<Attributes, Placeholder> || std::is_same_v<Attributes, Constant>) {
    return 0;
  } else if constexpr (has_forms<Attributes>) {
    static_assert(rows_of<Attributes>("source") == 1 && rows_of<Attributes>("indices") == 1,
                  "each form of an operation has one row");
    return 2;
  } else {
    static_assert(rows_of<Attributes>("") == 1, "each operation has one row");
    return 1;
  }
}

template <class... Attributes>
constexpr std::size_t check_rows_of_all(const std::variant<Attributes...>*) {
  return (check_rows<Attributes>() + ...);
}
static_assert(check_rows_of_all(static_cast<const Operation*>(nullptr)) == std::size(table),
              "each row belongs to an operation");

struct TypeAvailability {
  DataType dtype;
  MacOS introduced;
};

constexpr TypeAvailability types[] = {
    {DataType::Float16, {11, 0}}, {DataType::Float32, {11, 0}}, {DataType::BFloat16, {14, 0}},
    {DataType::Int8, {11, 0}},    {DataType::Int16, {11, 0}},   {DataType::Int32, {11, 0}},
    {DataType::Int64, {11, 0}},   {DataType::UInt8, {11, 0}},   {DataType::UInt16, {11, 0}},
    {DataType::UInt32, {11, 0}},  {DataType::UInt64, {11, 0}},  {DataType::Bool, {12, 0}},
};

const TypeAvailability* find(DataType dtype) {
  const auto* found = std::ranges::find(types, dtype, &TypeAvailability::dtype);
  return found == std::end(types) ? nullptr : found;
}

MacOS machine_version() {
#if defined(__APPLE__)
  char release[32] = {};
  std::size_t size = sizeof(release) - 1;
  MacOS version;
  if (sysctlbyname("kern.osproductversion", release, &size, nullptr, 0) != 0 ||
      std::sscanf(release, "%d.%d", &version.major, &version.minor) < 1)
    throw DeviceError("the version of macOS cannot be read");
  return version;
#else
  return {26, 0};  // what the frameworks that stand in for Apple's follow
#endif
}

std::mutex testing_mutex;  // guards testing_version
std::optional<MacOS> testing_version;

}  // namespace

void append(std::string& text, MacOS version) { text += mpsgraph_native::text(version.major, '.', version.minor); }

MacOS running_macos() {
  {
    const std::lock_guard lock(testing_mutex);
    if (testing_version) return *testing_version;
  }
  static const MacOS machine = machine_version();
  return machine;
}

void set_macos_version_for_testing(std::optional<MacOS> version) {
  const std::lock_guard lock(testing_mutex);
  testing_version = version;
}

std::span<const Availability> availability_table() { return table; }

const Availability& availability_of(std::string_view operation, std::string_view form) {
  for (const Availability& row : table)
    if (row.operation == operation && row.form == form) return row;
  throw CompileError(text("no selector is known for ", operation));
}

std::string_view form_of(const Operation& operation, std::span<const TensorType* const> inputs) {
  const bool by_operands =
      std::visit([]<class Attributes>(const Attributes&) { return has_forms<Attributes>; }, operation);
  if (!by_operands) return {};
  return inputs[1] ? "source" : "indices";
}

bool is_available(std::string_view operation, std::string_view form) {
  return running_macos() >= availability_of(operation, form).introduced;
}

void check_available(std::string_view operation, std::string_view form) {
  const Availability& row = availability_of(operation, form);
  if (running_macos() >= row.introduced || !row.substitute.empty()) return;
  throw DeviceError(text(operation, ": device mps needs macOS ", row.introduced, " or newer for ", row.selector,
                         ", got macOS ", running_macos()));
}

bool has_data_type(DataType dtype) { return find(dtype) != nullptr; }

MacOS introduced_with(DataType dtype) {
  const TypeAvailability* row = find(dtype);
  if (!row) throw DTypeError(text("Metal has no ", dtype));
  return row->introduced;
}

}  // namespace mpsgraph_native::metal
