#include "graph/convolution.hpp"

namespace mpsgraph_native {
namespace {

constexpr WindowAxisNames names_of_axis(std::string_view source_name, std::string_view weights_name, bool vertical) {
  if (vertical)
    return {source_name, weights_name, "stride_in_y", "dilation_rate_in_y", "padding_top", "padding_bottom"};
  return {source_name, weights_name, "stride_in_x", "dilation_rate_in_x", "padding_left", "padding_right"};
}

void check_descriptor(std::string_view operation, const Convolution2DDescriptor& descriptor) {
  if (descriptor.data_layout != TensorNamedDataLayout::NCHW && descriptor.data_layout != TensorNamedDataLayout::NHWC)
    fail<ShapeError>(operation, "data_layout", "must be NCHW or NHWC, got ", name_of(descriptor.data_layout));
  if (descriptor.weights_layout != TensorNamedDataLayout::OIHW &&
      descriptor.weights_layout != TensorNamedDataLayout::HWIO)
    fail<ShapeError>(operation, "weights_layout", "must be OIHW or HWIO, got ", name_of(descriptor.weights_layout));
  if (descriptor.groups < 1) fail<ShapeError>(operation, "groups", "must be at least 1, got ", descriptor.groups);
}

void check_rank(std::string_view operation, const Shape& shape, std::string_view name, std::string_view meaning) {
  if (shape.rank() != 4) fail<ShapeError>(operation, name, "must have rank 4, ", meaning, ", got shape ", shape);
}

std::string_view spelled(TensorNamedDataLayout layout) {
  switch (layout) {
    case TensorNamedDataLayout::NHWC: return "[N, H, W, C]";
    case TensorNamedDataLayout::OIHW: return "[Cout, Cin / groups, kH, kW]";
    case TensorNamedDataLayout::HWIO: return "[kH, kW, Cin / groups, Cout]";
    default: return "[N, C, H, W]";
  }
}

Shape result_shape(const Convolution2DDescriptor& descriptor, const Convolution2DGeometry& geometry) {
  if (descriptor.data_layout == TensorNamedDataLayout::NHWC)
    return {geometry.batch, geometry.y.output, geometry.x.output, geometry.output_channels};
  return {geometry.batch, geometry.output_channels, geometry.y.output, geometry.x.output};
}

/// Raises unless the incoming gradient has the shape of the forward result that `output_shape` leads to.
void check_incoming_gradient(const Operands& operands, const Convolution2DDescriptor& descriptor,
                             const Convolution2DGeometry& geometry, const Shape& output_shape) {
  const Shape& incoming = operands[0].shape;
  const Shape expected = result_shape(descriptor, geometry);
  const int channel_axis = descriptor.data_layout == TensorNamedDataLayout::NHWC ? 3 : 1;
  if (incoming == expected) return;
  if (incoming[channel_axis] != expected[channel_axis])
    fail<ShapeError>(operands.operation(), operands.name(0), "must have ", expected[channel_axis],
                     " channels, as the weights have output channels, got shape ", incoming);
  fail<ShapeError>(operands.operation(), "output_shape", "must lead to a forward result of the shape of ",
                   operands.name(0), ", ", incoming, ", got ", output_shape, ", which leads to ", expected);
}

/// Ranks first, so that the geometry may index; then the shape that the caller asks for.
void check_gradient_operands(const Operands& operands, const Convolution2DDescriptor& descriptor,
                             TensorNamedDataLayout second_layout, const Shape& output_shape,
                             TensorNamedDataLayout output_layout) {
  check_descriptor(operands.operation(), descriptor);
  operands.require_rank(0, 4, spelled(descriptor.data_layout));
  operands.require_rank(1, 4, spelled(second_layout));
  check_rank(operands.operation(), output_shape, "output_shape", spelled(output_layout));
  check_size(output_shape, operands.operation(), "output_shape");
}

}  // namespace

Convolution2DGeometry convolution_2d_geometry(std::string_view operation, const Convolution2DDescriptor& descriptor,
                                              const Shape& source, std::string_view source_name, const Shape& weights,
                                              std::string_view weights_name) {
  check_descriptor(operation, descriptor);
  check_rank(operation, source, source_name, spelled(descriptor.data_layout));
  check_rank(operation, weights, weights_name, spelled(descriptor.weights_layout));

  const bool channels_last = descriptor.data_layout == TensorNamedDataLayout::NHWC;
  const bool output_last = descriptor.weights_layout == TensorNamedDataLayout::HWIO;
  const std::int64_t groups = descriptor.groups;
  Convolution2DGeometry geometry;
  geometry.batch = source[0];
  geometry.groups = groups;
  geometry.input_channels = source[channels_last ? 3 : 1];
  geometry.output_channels = weights[output_last ? 3 : 0];
  const std::int64_t channels_per_group = weights[output_last ? 2 : 1];

  if (geometry.input_channels % groups != 0)
    fail<ShapeError>(operation, "groups", "must divide the ", geometry.input_channels, " channels of ", source_name,
                     ", got ", groups);
  if (geometry.output_channels % groups != 0)
    fail<ShapeError>(operation, "groups", "must divide the ", geometry.output_channels, " output channels of ",
                     weights_name, ", got ", groups);
  if (channels_per_group != geometry.input_channels / groups)
    fail<ShapeError>(operation, weights_name, "must have ", geometry.input_channels / groups,
                     " input channels, those of ", source_name, " / groups, got shape ", weights);

  WindowAxis y, x;
  y.input = source[channels_last ? 1 : 2];
  y.kernel = weights[output_last ? 0 : 2];
  y.stride = descriptor.stride_in_y;
  y.dilation = descriptor.dilation_rate_in_y;
  y.padding_before = descriptor.padding_top;
  y.padding_after = descriptor.padding_bottom;
  x.input = source[channels_last ? 2 : 3];
  x.kernel = weights[output_last ? 1 : 3];
  x.stride = descriptor.stride_in_x;
  x.dilation = descriptor.dilation_rate_in_x;
  x.padding_before = descriptor.padding_left;
  x.padding_after = descriptor.padding_right;
  geometry.y =
      resolve_window_axis(operation, names_of_axis(source_name, weights_name, true), y, descriptor.padding_style);
  geometry.x =
      resolve_window_axis(operation, names_of_axis(source_name, weights_name, false), x, descriptor.padding_style);
  return geometry;
}

ResultTypes infer(const Convolution2D& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  const Convolution2DGeometry geometry =
      convolution_2d_geometry(operands.operation(), attributes.descriptor, operands[0].shape, operands.name(0),
                              operands[1].shape, operands.name(1));
  return {{dtype, result_shape(attributes.descriptor, geometry)}};
}

ResultTypes infer(const Convolution2DDataGradient& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  const Convolution2DDescriptor& descriptor = attributes.descriptor;
  check_gradient_operands(operands, descriptor, descriptor.weights_layout, attributes.output_shape,
                          descriptor.data_layout);
  const Convolution2DGeometry geometry = convolution_2d_geometry(
      operands.operation(), descriptor, attributes.output_shape, "output_shape", operands[1].shape, operands.name(1));
  check_incoming_gradient(operands, descriptor, geometry, attributes.output_shape);
  return {{dtype, attributes.output_shape}};
}

ResultTypes infer(const Convolution2DWeightsGradient& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  const Convolution2DDescriptor& descriptor = attributes.descriptor;
  check_gradient_operands(operands, descriptor, descriptor.data_layout, attributes.output_shape,
                          descriptor.weights_layout);
  const Convolution2DGeometry geometry = convolution_2d_geometry(
      operands.operation(), descriptor, operands[1].shape, operands.name(1), attributes.output_shape, "output_shape");
  if (operands[0].shape[0] != geometry.batch)
    fail<ShapeError>(operands.operation(), operands.name(0), "must have the batch of ", operands.name(1), ", ",
                     geometry.batch, ", got shape ", operands[0].shape);
  check_incoming_gradient(operands, descriptor, geometry, attributes.output_shape);
  return {{dtype, attributes.output_shape}};
}

}  // namespace mpsgraph_native
