#include "metal/known_faults.hpp"

#include <algorithm>
#include <atomic>

namespace mpsgraph_native::metal {
namespace {

template <class... Attributes>
constexpr std::array<std::string_view, sizeof...(Attributes)> names{Attributes::name...};

Suspect suspect_input(const FaultSite& site, std::size_t index) {
  return {arguments_of(site.operation)[index].name, site.inputs[index]};
}

template <class Holds>
Suspect first_input(const FaultSite& site, Holds&& holds) {
  for (std::size_t i = 0; i < site.inputs.size(); ++i)
    if (site.inputs[i] && holds(*site.inputs[i])) return suspect_input(site, i);
  return {};
}

Suspect find_large_array(const FaultSite& site) {
  const auto large = [](const TensorType& type) { return type.bytes() > maximum_array_bytes; };
  if (const Suspect input = first_input(site, large)) return input;
  for (const TensorType& output : site.outputs)
    if (large(output)) return {"result", &output};
  return {};
}

/// The weights of a convolution, given or asked for.
struct Weights {
  Suspect suspect;
  std::int64_t height = 0, width = 0, output_channels = 0;
};

std::optional<Weights> weights_of(const FaultSite& site) {
  return std::visit(
      [&]<class Attributes>(const Attributes& attributes) -> std::optional<Weights> {
        constexpr bool weights_gradient =
            is_one_of<Attributes, Convolution2DWeightsGradient, DepthwiseConvolution2DWeightsGradient>;
        constexpr bool depthwise = is_one_of<Attributes, DepthwiseConvolution2D, DepthwiseConvolution2DDataGradient,
                                             DepthwiseConvolution2DWeightsGradient>;
        constexpr bool convolution =
            is_one_of<Attributes, Convolution2D, Convolution2DDataGradient, Convolution2DWeightsGradient>;
        if constexpr (!depthwise && !convolution) {
          return std::nullopt;
        } else {
          const bool output_last = attributes.descriptor.weights_layout == TensorNamedDataLayout::HWIO;
          Weights weights;
          weights.suspect = weights_gradient ? Suspect{"output_shape", &site.outputs[0]} : suspect_input(site, 1);
          const Shape& shape = weights.suspect.type->shape;
          weights.height = shape[output_last ? 0 : 2];
          weights.width = shape[output_last ? 1 : 3];
          weights.output_channels = shape[output_last ? 3 : 0] * (depthwise ? shape[output_last ? 2 : 1] : 1);
          return weights;
        }
      },
      site.operation);
}

Suspect find_large_kernel(const FaultSite& site) {
  const auto weights = weights_of(site);
  return weights && (weights->height >= 256 || weights->width >= 256) ? weights->suspect : Suspect{};
}

Suspect find_many_output_channels(const FaultSite& site) {
  const auto weights = weights_of(site);
  return weights && weights->output_channels > 65536 ? weights->suspect : Suspect{};
}

Suspect find_large_matrix(const FaultSite& site) {
  const auto wide = [](const TensorType& type) {
    const int rank = type.shape.rank();
    return type.shape[rank - 1] > 32768 || type.shape[rank - 2] > 32768;
  };
  return first_input(site, wide);
}

Suspect find_int64_reduction(const FaultSite& site) {
  return first_input(site, [](const TensorType& type) { return type.dtype == DataType::Int64; });
}

Suspect find_long_inner_product(const FaultSite& site) {
  const Shape& primary = site.inputs[0]->shape;
  const Shape& result = site.outputs[0].shape;
  const bool large = result[result.rank() - 1] >= 16 && result[result.rank() - 2] >= 16;
  return large && primary[primary.rank() - 1] >= 32767 ? suspect_input(site, 0) : Suspect{};
}

Suspect find_depthwise_multiplier(const FaultSite& site) {
  const auto multiplier = [](const auto& attributes, const Shape& weights) {
    return weights[attributes.descriptor.weights_layout == TensorNamedDataLayout::HWIO ? 3 : 0];
  };
  if (const auto* data = std::get_if<DepthwiseConvolution2DDataGradient>(&site.operation))
    return multiplier(*data, site.inputs[1]->shape) > 1 ? suspect_input(site, 1) : Suspect{};
  if (const auto* weights = std::get_if<DepthwiseConvolution2DWeightsGradient>(&site.operation))
    return multiplier(*weights, weights->output_shape) > 1 ? Suspect{"output_shape", &site.outputs[0]} : Suspect{};
  return {};
}

Suspect find_depthwise_padding(const FaultSite& site) {
  const auto* attributes = std::get_if<DepthwiseConvolution2DWeightsGradient>(&site.operation);
  if (!attributes) return {};
  const auto geometry =
      depthwise_convolution_2d_geometry(attributes->name, attributes->descriptor, site.inputs[1]->shape, "source",
                                        attributes->output_shape, "output_shape");
  const bool padded =
      geometry.y.padding_before || geometry.y.padding_after || geometry.x.padding_before || geometry.x.padding_after;
  return padded ? suspect_input(site, 1) : Suspect{};
}

Suspect find_half(const FaultSite& site) {
  return first_input(site, [](const TensorType& type) { return is_half(type.dtype); });
}

/// Whether the framework may hand on the result as a view of another array.
bool makes_view(const Operation* producer) {
  return producer && std::visit(
                         []<class Attributes>(const Attributes&) {
                           // The last one is lowered to something that ends in a transpose.
                           return is_one_of<Attributes, Broadcast, Identity, Reshape, Slice, Transpose,
                                            DepthwiseConvolution2DWeightsGradient>;
                         },
                         *producer);
}

const Operation* producer_of(const FaultSite& site, std::size_t index) {
  return index < site.producers.size() ? site.producers[index] : nullptr;
}

Suspect find_strided_weights(const FaultSite& site) {
  return makes_view(producer_of(site, 1)) ? suspect_input(site, 1) : Suspect{};
}

Suspect find_strided_gradient(const FaultSite& site) {
  return makes_view(producer_of(site, 0)) ? suspect_input(site, 0) : Suspect{};
}

/// Whether the lowering of the producer may end in a padding.
bool pads(const Operation* producer) {
  return producer &&
         std::visit(
             []<class Attributes>(const Attributes&) {
               return is_one_of<Attributes, AvgPooling2D, AvgPooling4D, L2NormPooling4D, MaxPooling2D,
                                MaxPooling2DReturnIndices, MaxPooling4D, MaxPooling4DReturnIndices, SliceGradient>;
             },
             *producer);
}

Suspect find_padded_source(const FaultSite& site) {
  return pads(producer_of(site, 0)) ? suspect_input(site, 0) : Suspect{};
}

/// The window of a pooling operation over its source, and where its source or result comes in.
template <class Found>
Suspect find_pooling(const FaultSite& site, Found&& found) {
  return std::visit(
      [&]<class Attributes>(const Attributes& attributes) -> Suspect {
        if constexpr (requires { attributes.descriptor.return_indices_mode; }) {
          constexpr bool gradient = Attributes::arguments[0].name == "gradient";
          const Shape& source = gradient ? site.outputs[0].shape : site.inputs[0]->shape;
          const PoolingGeometry geometry = pooling_geometry(attributes.name, attributes.descriptor, source);
          return found(attributes.descriptor, geometry) ? suspect_input(site, 0) : Suspect{};
        } else {
          return {};
        }
      },
      site.operation);
}

Suspect find_ceil_mode(const FaultSite& site) {
  return find_pooling(site, [](const auto& descriptor, const PoolingGeometry&) { return descriptor.ceil_mode; });
}

Suspect find_window_without_tap(const FaultSite& site) {
  return find_pooling(site, [](const auto&, const PoolingGeometry& geometry) {
    return std::ranges::any_of(geometry.axes, [](const WindowAxis& axis) {
      // Only windows that reach over an end can miss every element.
      for (std::int64_t output = 0; output < axis.output && output * axis.stride < axis.padding_before; ++output)
        if (!has_tap(axis, output)) return true;
      return axis.output > 0 && !has_tap(axis, axis.output - 1);
    });
  });
}

Suspect find_int64_indices(const FaultSite& site) {
  return site.inputs[2] && site.inputs[2]->dtype == DataType::Int64 ? suspect_input(site, 2) : Suspect{};
}

Suspect find_strided_slice(const FaultSite& site) {
  const Shape& strides = std::get<SliceGradient>(site.operation).strides;
  return std::ranges::any_of(strides, [](std::int64_t stride) { return stride > 1; }) ? suspect_input(site, 0)
                                                                                      : Suspect{};
}

Suspect find_empty(const FaultSite& site) {
  const auto empty = [](const TensorType& type) { return type.shape.elements() == 0; };
  if (const Suspect input = first_input(site, empty)) return input;
  for (const TensorType& output : site.outputs)
    if (empty(output)) return {"result", &output};
  return {};
}

Suspect find_scalar(const FaultSite& site) {
  const auto scalar = [](const TensorType& type) { return type.shape.rank() == 0; };
  if (const Suspect input = first_input(site, scalar)) return input;
  for (const TensorType& output : site.outputs)
    if (scalar(output)) return {"result", &output};
  return {};
}

constexpr auto& all_convolutions =
    names<Convolution2D, Convolution2DDataGradient, Convolution2DWeightsGradient, DepthwiseConvolution2D,
          DepthwiseConvolution2DDataGradient, DepthwiseConvolution2DWeightsGradient>;
constexpr auto& weights_gradients = names<Convolution2DWeightsGradient, DepthwiseConvolution2DWeightsGradient>;
constexpr auto& takers_of_weights =
    names<Convolution2D, Convolution2DDataGradient, DepthwiseConvolution2D, DepthwiseConvolution2DDataGradient>;
constexpr auto& depthwise_gradients = names<DepthwiseConvolution2DDataGradient, DepthwiseConvolution2DWeightsGradient>;
constexpr auto& reductions =
    names<ReductionSum, ReductionProduct, ReductionMaximum, ReductionMinimum, ReductionArgMaximum, ReductionArgMinimum>;
constexpr auto& matrix_products = names<MatrixMultiplication>;
constexpr auto& max_pooling_gradients = names<MaxPooling2DGradient, MaxPooling4DGradient>;
constexpr auto& return_indices = names<MaxPooling2DReturnIndices, MaxPooling4DReturnIndices>;
constexpr auto& all_pooling = names<MaxPooling2D, MaxPooling2DReturnIndices, MaxPooling2DGradient, AvgPooling2D,
                                    AvgPooling2DGradient, MaxPooling4D, MaxPooling4DReturnIndices, MaxPooling4DGradient,
                                    AvgPooling4D, AvgPooling4DGradient, L2NormPooling4D, L2NormPooling4DGradient>;
constexpr auto& slice_gradients = names<SliceGradient>;

constexpr KnownFault faults[] = {
    {Fault::LargeArray,
     {},
     "an array of more than 2**32 bytes ends the process",
     find_large_array,
     never,
     Remedy::RefuseShape,
     "must take at most 2**32 bytes",
     "pytorch/pytorch#143859"},
    {Fault::LargeKernel, all_convolutions, "a kernel extent of 256 or more gives wrong values", find_large_kernel,
     never, Remedy::RefuseShape, "must have kernel extents below 256", "pytorch/pytorch#188335"},
    {Fault::ManyOutputChannels,
     all_convolutions,
     "output channels past 65,536 come out as zero",
     find_many_output_channels,
     {15, 1},
     Remedy::RefuseShape,
     "must have at most 65,536 output channels",
     "pytorch/pytorch#129207"},
    {Fault::LargeMatrix,
     matrix_products,
     "a matrix dimension past 32,768 gives wrong values",
     find_large_matrix,
     {14, 4},
     Remedy::RefuseDevice,
     "must have matrix dimensions of at most 32,768",
     "pytorch/pytorch#116769"},
    {Fault::Int64Reduction,
     reductions,
     "int64 cannot be reduced",
     find_int64_reduction,
     {13, 3},
     Remedy::RefuseDevice,
     "must not be int64",
     "pytorch/pytorch#95817"},
    {Fault::LongInnerProduct, matrix_products,
     "32,767 terms or more, for 16 rows and columns or more, add what lies behind the operands on M1 and M2",
     find_long_inner_product, never, Remedy::Circumvent, "the products of shorter stretches are added",
     "pytorch/pytorch#195163"},
    {Fault::DepthwiseMultiplier, depthwise_gradients, "a channel multiplier past 1 gives wrong values",
     find_depthwise_multiplier, never, Remedy::Circumvent, "the gradient of the same convolution with groups",
     "tensorflow/tensorflow#126380"},
    {Fault::DepthwisePadding, names<DepthwiseConvolution2DWeightsGradient>, "the descriptor's padding may be ignored",
     find_depthwise_padding, never, Remedy::Circumvent, "the source is padded before, the descriptor has no padding",
     "ChanLumerico/lucid"},
    {Fault::HalfWeightsGradient, weights_gradients, "half types are accumulated in half", find_half, never,
     Remedy::Circumvent, "operands are cast to float32, the result is cast back", "kulinseth/pytorch#431"},
    {Fault::StridedWeights, takers_of_weights, "weights that are a view give wrong values", find_strided_weights, never,
     Remedy::Circumvent, "the weights are copied",
     "pytorch/pytorch aten/src/ATen/native/mps/operations/Convolution.mm"},
    {Fault::StridedPoolingGradient, max_pooling_gradients, "a gradient that is a view is misplaced, or crashes",
     find_strided_gradient, never, Remedy::Circumvent, "the gradient is copied", "ChanLumerico/lucid"},
    {Fault::PaddedPoolingSource, return_indices, "padding before the pooling is folded into it and shifts the indices",
     find_padded_source, never, Remedy::Circumvent, "the source is copied", "ChanLumerico/lucid"},
    {Fault::CeilModeWithPadding, all_pooling, "ceilMode sizes differ from what other frameworks expect, and assert",
     find_ceil_mode, never, Remedy::Avoid, "padding after the source that gives the same size",
     "pytorch/pytorch#154882"},
    {Fault::WindowWithoutTap, all_pooling, "the result of a window outside the source is not documented",
     find_window_without_tap, never, Remedy::Avoid, "such windows are computed apart", "pytorch/pytorch#154882"},
    {Fault::Int64Indices, max_pooling_gradients, "indices are int32 only", find_int64_indices, never,
     Remedy::Circumvent, "indices are cast to int32", "developer.apple.com MPSGraphPooling4DOpDescriptor"},
    {Fault::StridedSliceGradient, slice_gradients, "strides past 1 are refused at run time", find_strided_slice, never,
     Remedy::Circumvent, "zeros are put between the elements by padding", "kern0x1b/charon"},
    {Fault::EmptyTensor,
     {},
     "a dimension of size 0 ends the process",
     find_empty,
     never,
     Remedy::Circumvent,
     "results without elements are left out, the others are constants",
     "pytorch/pytorch#187399"},
    {Fault::ScalarTensor,
     {},
     "tensors of rank 0 are mishandled",
     find_scalar,
     never,
     Remedy::Avoid,
     "they have the shape [1] inside the graph",
     "pytorch/pytorch aten/src/ATen/native/mps/OperationUtils.mm"},
};

constexpr bool in_order() {
  for (std::size_t index = 0; index < std::size(faults); ++index)
    if (faults[index].fault != static_cast<Fault>(index)) return false;
  return std::size(faults) == static_cast<std::size_t>(Fault::ScalarTensor) + 1;
}
static_assert(in_order(), "each fault has one row, in the order of the enumeration");

std::array<std::atomic<std::uint64_t>, std::size(faults)> encounters{};

Suspect suspect_of(const KnownFault& row, const FaultSite& site) {
  if (running_macos() >= row.fixed_in) return {};
  if (!row.operations.empty() && std::ranges::find(row.operations, name_of(site.operation)) == row.operations.end())
    return {};
  const Suspect suspect = row.find(site);
  if (suspect) encounters[static_cast<std::size_t>(row.fault)].fetch_add(1, std::memory_order_relaxed);
  return suspect;
}

}  // namespace

bool has_tap(const WindowAxis& axis, std::int64_t output) {
  const std::int64_t first = output * axis.stride - axis.padding_before;
  const std::int64_t before = first < 0 ? (-first + axis.dilation - 1) / axis.dilation : 0;
  return before < axis.kernel && first + before * axis.dilation < axis.input;
}

std::span<const KnownFault> known_faults() { return faults; }

bool concerned(Fault fault, const FaultSite& site) {
  return static_cast<bool>(suspect_of(faults[static_cast<std::size_t>(fault)], site));
}

void refuse_known_faults(const FaultSite& site) {
  for (const KnownFault& row : faults) {
    if (row.remedy == Remedy::Circumvent) continue;
    const Suspect suspect = suspect_of(row, site);
    if (!suspect || row.remedy == Remedy::Avoid) continue;
    const std::string until = row.fixed_in == never ? "" : text(" before macOS ", row.fixed_in);
    const std::string problem =
        text(row.instead, " on device mps", until, ", got ", suspect.type->dtype, " of shape ", suspect.type->shape);
    if (row.remedy == Remedy::RefuseDevice) fail<DeviceError>(name_of(site.operation), suspect.argument, problem);
    fail<ShapeError>(name_of(site.operation), suspect.argument, problem);
  }
}

std::uint64_t encounters_for_testing(Fault fault) {
  return encounters[static_cast<std::size_t>(fault)].load(std::memory_order_relaxed);
}

}  // namespace mpsgraph_native::metal
