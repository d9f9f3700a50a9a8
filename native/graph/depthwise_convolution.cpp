#include "graph/depthwise_convolution.hpp"

namespace mpsgraph_native {
namespace {

constexpr std::string_view result_meaning = "of the forward result";

}  // namespace

DepthwiseConvolution2DGeometry depthwise_convolution_2d_geometry(std::string_view operation,
                                                                 const DepthwiseConvolution2DDescriptor& descriptor,
                                                                 const Shape& source, std::string_view source_argument,
                                                                 const Shape& weights,
                                                                 std::string_view weights_argument) {
  DepthwiseConvolution2DGeometry geometry;
  geometry.channels_last = descriptor.data_layout == TensorNamedDataLayout::NHWC;
  if (!geometry.channels_last && descriptor.data_layout != TensorNamedDataLayout::NCHW)
    fail<ShapeError>(operation, "data_layout", "must be NCHW or NHWC, got ", name_of(descriptor.data_layout));
  geometry.multiplier_last = descriptor.weights_layout == TensorNamedDataLayout::HWIO;
  if (!geometry.multiplier_last && descriptor.weights_layout != TensorNamedDataLayout::OIHW)
    fail<ShapeError>(operation, "weights_layout", "must be OIHW or HWIO, got ", name_of(descriptor.weights_layout));
  if (source.rank() != 4)
    fail<ShapeError>(operation, source_argument, "must have rank 4, ",
                     geometry.channels_last ? "[N, H, W, C]" : "[N, C, H, W]", ", got shape ", source);
  const std::string_view weights_meaning = geometry.multiplier_last ? "[kH, kW, C, M]" : "[M, C, kH, kW]";
  if (weights.rank() != 4)
    fail<ShapeError>(operation, weights_argument, "must have rank 4, ", weights_meaning, ", got shape ", weights);

  const int y_axis = geometry.channels_last ? 1 : 2;
  const int channel_axis = geometry.channels_last ? 3 : 1;
  const int kernel_y_axis = geometry.multiplier_last ? 0 : 2;
  geometry.batch = source[0];
  geometry.channels = source[channel_axis];
  geometry.multiplier = weights[geometry.multiplier_last ? 3 : 0];
  const std::int64_t weights_channels = weights[geometry.multiplier_last ? 2 : 1];
  if (weights_channels != geometry.channels)
    fail<ShapeError>(operation, weights_argument, "must have the ", geometry.channels, " channels of ", source_argument,
                     " as C of ", weights_meaning, ", got shape ", weights);

  geometry.y.input = source[y_axis];
  geometry.y.kernel = weights[kernel_y_axis];
  geometry.y.stride = descriptor.stride_in_y;
  geometry.y.dilation = descriptor.dilation_rate_in_y;
  geometry.x.input = source[y_axis + 1];
  geometry.x.kernel = weights[kernel_y_axis + 1];
  geometry.x.stride = descriptor.stride_in_x;
  geometry.x.dilation = descriptor.dilation_rate_in_x;
  if (descriptor.padding_style == PaddingStyle::Explicit) {
    geometry.y.padding_before = descriptor.padding_top;
    geometry.y.padding_after = descriptor.padding_bottom;
    geometry.x.padding_before = descriptor.padding_left;
    geometry.x.padding_after = descriptor.padding_right;
  }
  geometry.y = resolve_window_axis(
      operation,
      {source_argument, weights_argument, "stride_in_y", "dilation_rate_in_y", "padding_top", "padding_bottom"},
      geometry.y, descriptor.padding_style);
  geometry.x = resolve_window_axis(
      operation,
      {source_argument, weights_argument, "stride_in_x", "dilation_rate_in_x", "padding_left", "padding_right"},
      geometry.x, descriptor.padding_style);

  const std::int64_t result_channels = geometry.channels * geometry.multiplier;
  geometry.result = geometry.channels_last
                        ? Shape{geometry.batch, geometry.y.output, geometry.x.output, result_channels}
                        : Shape{geometry.batch, result_channels, geometry.y.output, geometry.x.output};
  return geometry;
}

ResultTypes infer(const DepthwiseConvolution2D& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  const DepthwiseConvolution2DGeometry geometry =
      depthwise_convolution_2d_geometry(operands.operation(), attributes.descriptor, operands[0].shape,
                                        operands.name(0), operands[1].shape, operands.name(1));
  return {{dtype, geometry.result}};
}

ResultTypes infer(const DepthwiseConvolution2DDataGradient& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  check_size(attributes.output_shape, operands.operation(), "output_shape");
  const DepthwiseConvolution2DGeometry geometry =
      depthwise_convolution_2d_geometry(operands.operation(), attributes.descriptor, attributes.output_shape,
                                        "output_shape", operands[1].shape, operands.name(1));
  operands.require_shape(0, geometry.result, result_meaning);
  return {{dtype, attributes.output_shape}};
}

ResultTypes infer(const DepthwiseConvolution2DWeightsGradient& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  check_size(attributes.output_shape, operands.operation(), "output_shape");
  const DepthwiseConvolution2DGeometry geometry =
      depthwise_convolution_2d_geometry(operands.operation(), attributes.descriptor, operands[1].shape,
                                        operands.name(1), attributes.output_shape, "output_shape");
  operands.require_shape(0, geometry.result, result_meaning);
  return {{dtype, attributes.output_shape}};
}

}  // namespace mpsgraph_native
