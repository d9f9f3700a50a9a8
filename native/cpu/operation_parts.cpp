#include "cpu/operation_parts.hpp"

#include "graph/axes.hpp"

namespace mpsgraph_native::cpu {
namespace {

template <class Attributes>
constexpr bool is_elementwise =
    is_one_of<Attributes, Absolute, Exponent, Logarithm, Negative, Reciprocal, Square, SquareRoot, Tanh, Addition,
              Subtraction, Multiplication, Division, Maximum, Minimum, Equal, NotEqual, LessThan, LessThanOrEqualTo,
              GreaterThan, GreaterThanOrEqualTo, Relu, ReluGradient, Sigmoid, SigmoidGradient, Cast,
              StochasticGradientDescent>;

template <class Attributes>
constexpr bool is_reduction = requires(const Attributes& attributes) { attributes.all_axes; };

template <class Attributes>
constexpr bool is_pooling =
    requires(const Attributes& attributes) { pooling_geometry(Attributes::name, attributes.descriptor, Shape()); };

Cut uncut(const KernelRequest& request) {
  Cut cut;
  for (std::size_t i = 0; i < request.inputs.size(); ++i)
    cut.inputs.push_back(request.has(i) ? request.input(i) : TensorType{});
  cut.outputs.assign(request.outputs.begin(), request.outputs.end());
  cut.input_is_cut.assign(request.inputs.size(), true);
  return cut;
}

/// Along the first dimension as it is.
std::optional<Cut> along_the_first_dimension(const KernelRequest& request) {
  Cut cut = uncut(request);
  if (request.input(0).shape.empty()) return std::nullopt;
  cut.items = request.input(0).shape[0];
  return cut;
}

std::optional<Cut> cut_elementwise(const KernelRequest& request) {
  Cut cut = uncut(request);
  const Shape result = request.outputs[0].shape;
  if (result.empty()) return std::nullopt;
  bool one_line = true;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const Shape& shape = cut.inputs[i].shape;
    cut.input_is_cut[i] = shape.rank() == result.rank() && shape[0] == result[0] && shape.elements() > 1;
    one_line = one_line && (shape == result || shape.elements() == 1);
  }
  cut.items = result[0];
  if (!one_line) return cut;
  cut.items = result.elements();
  for (std::size_t i = 0; i < request.inputs.size(); ++i)
    cut.inputs[i].shape = cut.input_is_cut[i] ? Shape{cut.items} : Shape{};
  cut.outputs[0].shape = Shape{cut.items};
  return cut;
}

struct CutVisitor {
  const KernelRequest& request;

  template <class Attributes>
  std::optional<Cut> operator()(const Attributes& attributes) const {
    if constexpr (is_elementwise<Attributes>) {
      return cut_elementwise(request);
    } else if constexpr (is_reduction<Attributes>) {
      const Shape& source = request.input(0).shape;
      const AxisSet axes = resolve_axes(Attributes::name, attributes.axes, attributes.all_axes, source.rank());
      return axes[0] ? std::nullopt : along_the_first_dimension(request);
    } else if constexpr (is_one_of<Attributes, Softmax, SoftmaxGradient, ReductionArgMaximum, ReductionArgMinimum>) {
      const int axis = resolve_axis(Attributes::name, "axis", attributes.axis, request.input(0).shape.rank());
      return axis == 0 ? std::nullopt : along_the_first_dimension(request);
    } else if constexpr (is_pooling<Attributes>) {
      // The source of a forward operation is its first input, that of a gradient has the shape of its result.
      constexpr bool forward = !requires { attributes.output_shape; } && Attributes::arguments.size() == 1;
      const Shape& source = forward ? request.input(0).shape : request.outputs[0].shape;
      const PoolingGeometry geometry = pooling_geometry(Attributes::name, attributes.descriptor, source);
      // Indices that count from the start of the whole tensor differ in a part.
      const bool counts_items = geometry.return_indices_mode == PoolingReturnIndicesMode::GlobalFlatten4D;
      if (source.rank() == 4 && (is_pooled(geometry.axes[0]) || counts_items)) return std::nullopt;
      return along_the_first_dimension(request);
    } else if constexpr (is_one_of<Attributes, DepthwiseConvolution2D, DepthwiseConvolution2DDataGradient>) {
      std::optional<Cut> cut = along_the_first_dimension(request);
      if (cut) cut->input_is_cut[1] = false;
      return cut;
    } else if constexpr (std::is_same_v<Attributes, DepthwiseConvolution2DWeightsGradient>) {
      std::optional<Cut> cut = along_the_first_dimension(request);
      if (cut) cut->results_are_summed = true;
      return cut;
    } else {
      return std::nullopt;
    }
  }
};

}  // namespace

std::optional<Cut> cut_of(const Operation& operation, const KernelRequest& request) {
  std::optional<Cut> cut = std::visit(CutVisitor{request}, operation);
  if (cut && (cut->items == 0 || request.outputs[0].shape.elements() == 0)) return std::nullopt;
  return cut;
}

Operation part_of(const Operation& operation, const Cut& cut, std::int64_t items) {
  Operation part = operation;
  std::visit(
      [&](auto& attributes) {
        if constexpr (requires { attributes.output_shape; })
          if (!cut.results_are_summed && !attributes.output_shape.empty()) attributes.output_shape[0] = items;
      },
      part);
  return part;
}

}  // namespace mpsgraph_native::cpu
