#include "graph/pooling.hpp"

namespace mpsgraph_native {
namespace {

using Axes = std::array<WindowAxis, 4>;
using AxesNames = std::array<WindowAxisNames, 4>;

template <class Descriptor>
PoolingGeometry resolve(std::string_view operation, const Descriptor& descriptor, const Shape& source, Axes axes,
                        const AxesNames& names) {
  if (descriptor.return_indices_data_type != DataType::Int32)
    fail<DTypeError>(operation, "return_indices_data_type", "must be int32, got ", descriptor.return_indices_data_type);

  PoolingGeometry geometry{source, source, axes, descriptor.include_zero_pad_to_average,
                           descriptor.return_indices_mode};
  for (int i = 0; i < 4; ++i) {
    WindowAxis& axis = geometry.axes[static_cast<std::size_t>(i)];
    const WindowAxisNames& name = names[static_cast<std::size_t>(i)];
    const int dimension = source.rank() - 4 + i;
    axis.input = source[dimension];
    // With a kernel of one an axis may be empty, as a batch is; its fields are checked all the same.
    const bool empty = axis.input == 0 && axis.kernel == 1;
    if (empty) axis.input = 1;
    axis = resolve_window_axis(operation, name, axis, descriptor.padding_style, descriptor.ceil_mode);
    if (empty) axis.input = axis.output = 0;
    // Such a padding makes windows that see nothing but padding.
    if (axis.padding_before >= axis.effective_kernel())
      fail<ShapeError>(operation, name.padding_before, "must be less than the kernel's extent of ",
                       axis.effective_kernel(), ", got ", axis.padding_before);
    if (axis.padding_after >= axis.effective_kernel())
      fail<ShapeError>(operation, name.padding_after, "must be less than the kernel's extent of ",
                       axis.effective_kernel(), ", got ", axis.padding_after);
    geometry.result[dimension] = axis.output;
  }
  return geometry;
}

void check_indices_mode(std::string_view operation, const PoolingGeometry& geometry, std::string_view kernel_argument) {
  const PoolingReturnIndicesMode mode = geometry.return_indices_mode;
  if (mode == PoolingReturnIndicesMode::None)
    fail<ShapeError>(operation, "return_indices_mode", "must be a GlobalFlatten or LocalFlatten mode, got None");
  if (!is_local(mode)) return;
  std::int64_t taps = 1;
  for (int i = 4 - flattened_dimensions(mode); i < 4; ++i) {
    taps *= geometry.axes[static_cast<std::size_t>(i)].kernel;  // both factors are below 2**31
    if (taps > maximum_elements)
      fail<ShapeError>(operation, kernel_argument, "must have at most 2**31 - 1 taps along the dimensions that ",
                       name_of(mode), " flattens, got ", taps);
  }
}

/// An index can lead back to the source only if it names every coordinate that a tap can move.
void check_indices_name_window(std::string_view operation, const PoolingGeometry& geometry) {
  const PoolingReturnIndicesMode mode = geometry.return_indices_mode;
  for (int i = 0; i < 4 - flattened_dimensions(mode); ++i)
    if (geometry.axes[static_cast<std::size_t>(i)].kernel > 1)
      fail<ShapeError>(operation, "return_indices_mode",
                       "must flatten every dimension that the kernel covers, of which ", "dimension ", i - 4,
                       " is one, got ", name_of(mode));
}

constexpr std::string_view kernel_argument(const Pooling2DDescriptor&) { return "kernel_width"; }
constexpr std::string_view kernel_argument(const Pooling4DDescriptor&) { return "kernel_sizes"; }

template <class Attributes>
ResultTypes infer_forward(const Attributes& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  const PoolingGeometry geometry = pooling_geometry(operands.operation(), attributes.descriptor, operands[0].shape);
  return {{dtype, geometry.result}};
}

template <class Attributes>
ResultTypes infer_return_indices(const Attributes& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  const PoolingGeometry geometry = pooling_geometry(operands.operation(), attributes.descriptor, operands[0].shape);
  check_indices_mode(operands.operation(), geometry, kernel_argument(attributes.descriptor));
  return {{dtype, geometry.result}, {DataType::Int32, geometry.result}};
}

constexpr std::string_view result_meaning = "of the forward result";

template <class Attributes>
ResultTypes infer_gradient(const Attributes& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  const PoolingGeometry geometry = pooling_geometry(operands.operation(), attributes.descriptor, operands[1].shape);
  operands.require_shape(0, geometry.result, result_meaning);
  return {{dtype, geometry.source}};
}

template <class Attributes>
ResultTypes infer_max_gradient(const Attributes& attributes, const Operands& operands) {
  constexpr std::size_t gradient = 0, source = 1, indices = 2;
  const std::string_view operation = operands.operation();
  if (operands.has(source) && operands.has(indices))
    fail<ShapeError>(operation, "indices", "must not be given together with source, got both");
  if (!operands.has(source) && !operands.has(indices))
    fail<ShapeError>(operation, "source", "or indices is required, got neither");

  if (operands.has(source)) {
    const DataType dtype = operands.common_floating(std::array{gradient, source});
    const PoolingGeometry geometry = pooling_geometry(operation, attributes.descriptor, operands[source].shape);
    if (!attributes.output_shape.empty() && !(attributes.output_shape == geometry.source))
      fail<ShapeError>(operation, "output_shape", "must be the shape of source, ", geometry.source, ", got ",
                       attributes.output_shape);
    operands.require_shape(gradient, geometry.result, result_meaning);
    return {{dtype, geometry.source}};
  }

  const DataType dtype = operands.common_floating(std::array{gradient});
  const DataType indices_dtype = operands[indices].dtype;
  if (indices_dtype != DataType::Int32 && indices_dtype != DataType::Int64)
    fail<DTypeError>(operation, operands.name(indices), "must be int32 or int64, got ", indices_dtype);
  if (attributes.output_shape.empty())
    fail<ShapeError>(operation, "output_shape", "is required with indices, got None");
  check_size(attributes.output_shape, operation, "output_shape");
  const PoolingGeometry geometry =
      pooling_geometry(operation, attributes.descriptor, attributes.output_shape, "output_shape");
  check_indices_mode(operation, geometry, kernel_argument(attributes.descriptor));
  check_indices_name_window(operation, geometry);
  operands.require_shape(gradient, geometry.result, result_meaning);
  operands.require_shape(indices, geometry.result, result_meaning);
  return {{dtype, geometry.source}};
}

}  // namespace

PoolingGeometry pooling_geometry(std::string_view operation, const Pooling2DDescriptor& descriptor, const Shape& source,
                                 std::string_view source_argument) {
  const bool channels_last = descriptor.data_layout == TensorNamedDataLayout::NHWC;
  if (!channels_last && descriptor.data_layout != TensorNamedDataLayout::NCHW)
    fail<ShapeError>(operation, "data_layout", "must be NCHW or NHWC, got ", name_of(descriptor.data_layout));
  if (source.rank() != 4)
    fail<ShapeError>(operation, source_argument, "must have rank 4, ", channels_last ? "[N, H, W, C]" : "[N, C, H, W]",
                     ", got shape ", source);
  WindowAxis y, x;
  y.kernel = descriptor.kernel_height;
  y.stride = descriptor.stride_in_y;
  y.dilation = descriptor.dilation_rate_in_y;
  x.kernel = descriptor.kernel_width;
  x.stride = descriptor.stride_in_x;
  x.dilation = descriptor.dilation_rate_in_x;
  if (descriptor.padding_style == PaddingStyle::Explicit) {
    y.padding_before = descriptor.padding_top;
    y.padding_after = descriptor.padding_bottom;
    x.padding_before = descriptor.padding_left;
    x.padding_after = descriptor.padding_right;
  }
  const WindowAxisNames plain{source_argument, "kernel", "stride", "dilation", "padding", "padding"};
  const WindowAxisNames y_names{source_argument,      "kernel_height", "stride_in_y",
                                "dilation_rate_in_y", "padding_top",   "padding_bottom"};
  const WindowAxisNames x_names{source_argument,      "kernel_width", "stride_in_x",
                                "dilation_rate_in_x", "padding_left", "padding_right"};
  if (channels_last)
    return resolve(operation, descriptor, source, {WindowAxis(), y, x, WindowAxis()}, {plain, y_names, x_names, plain});
  return resolve(operation, descriptor, source, {WindowAxis(), WindowAxis(), y, x}, {plain, plain, y_names, x_names});
}

PoolingGeometry pooling_geometry(std::string_view operation, const Pooling4DDescriptor& descriptor, const Shape& source,
                                 std::string_view source_argument) {
  if (source.rank() < 4) fail<ShapeError>(operation, source_argument, "must have rank 4 or more, got shape ", source);
  const WindowAxisNames names{source_argument,  "kernel_sizes",   "strides",
                              "dilation_rates", "padding_values", "padding_values"};
  Axes axes;
  for (std::size_t i = 0; i < 4; ++i) {
    axes[i].kernel = descriptor.kernel_sizes[i];
    axes[i].stride = descriptor.strides[i];
    axes[i].dilation = descriptor.dilation_rates[i];
    if (descriptor.padding_style == PaddingStyle::Explicit) {
      axes[i].padding_before = descriptor.padding_values[2 * i];
      axes[i].padding_after = descriptor.padding_values[2 * i + 1];
    }
  }
  return resolve(operation, descriptor, source, axes, {names, names, names, names});
}

ResultTypes infer(const MaxPooling2D& attributes, const Operands& operands) {
  return infer_forward(attributes, operands);
}
ResultTypes infer(const MaxPooling4D& attributes, const Operands& operands) {
  return infer_forward(attributes, operands);
}
ResultTypes infer(const AvgPooling2D& attributes, const Operands& operands) {
  return infer_forward(attributes, operands);
}
ResultTypes infer(const AvgPooling4D& attributes, const Operands& operands) {
  return infer_forward(attributes, operands);
}
ResultTypes infer(const L2NormPooling4D& attributes, const Operands& operands) {
  return infer_forward(attributes, operands);
}
ResultTypes infer(const MaxPooling2DReturnIndices& attributes, const Operands& operands) {
  return infer_return_indices(attributes, operands);
}
ResultTypes infer(const MaxPooling4DReturnIndices& attributes, const Operands& operands) {
  return infer_return_indices(attributes, operands);
}
ResultTypes infer(const AvgPooling2DGradient& attributes, const Operands& operands) {
  return infer_gradient(attributes, operands);
}
ResultTypes infer(const AvgPooling4DGradient& attributes, const Operands& operands) {
  return infer_gradient(attributes, operands);
}
ResultTypes infer(const L2NormPooling4DGradient& attributes, const Operands& operands) {
  return infer_gradient(attributes, operands);
}
ResultTypes infer(const MaxPooling2DGradient& attributes, const Operands& operands) {
  return infer_max_gradient(attributes, operands);
}
ResultTypes infer(const MaxPooling4DGradient& attributes, const Operands& operands) {
  return infer_max_gradient(attributes, operands);
}

}  // namespace mpsgraph_native
