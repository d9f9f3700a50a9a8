#pragma once

#include "graph/attributes.hpp"
#include "graph/operands.hpp"
#include "graph/window.hpp"

namespace mpsgraph_native {

/// MPSGraphPooling2DOpDescriptor.
struct Pooling2DDescriptor {
  std::int64_t kernel_width = 0;
  std::int64_t kernel_height = 0;
  std::int64_t stride_in_x = 1;
  std::int64_t stride_in_y = 1;
  std::int64_t dilation_rate_in_x = 1;
  std::int64_t dilation_rate_in_y = 1;
  std::int64_t padding_left = 0;
  std::int64_t padding_right = 0;
  std::int64_t padding_top = 0;
  std::int64_t padding_bottom = 0;
  PaddingStyle padding_style = PaddingStyle::Explicit;
  TensorNamedDataLayout data_layout = TensorNamedDataLayout::NCHW;
  bool ceil_mode = false;
  bool include_zero_pad_to_average = false;
  PoolingReturnIndicesMode return_indices_mode = PoolingReturnIndicesMode::None;
  DataType return_indices_data_type = DataType::Int32;

  friend bool operator==(const Pooling2DDescriptor&, const Pooling2DDescriptor&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("kernel_width", self.kernel_width);
    visit("kernel_height", self.kernel_height);
    visit("stride_in_x", self.stride_in_x);
    visit("stride_in_y", self.stride_in_y);
    visit("dilation_rate_in_x", self.dilation_rate_in_x);
    visit("dilation_rate_in_y", self.dilation_rate_in_y);
    visit("padding_left", self.padding_left);
    visit("padding_right", self.padding_right);
    visit("padding_top", self.padding_top);
    visit("padding_bottom", self.padding_bottom);
    visit("padding_style", self.padding_style);
    visit("data_layout", self.data_layout);
    visit("ceil_mode", self.ceil_mode);
    visit("include_zero_pad_to_average", self.include_zero_pad_to_average);
    visit("return_indices_mode", self.return_indices_mode);
    visit("return_indices_data_type", self.return_indices_data_type);
  }
};

/// MPSGraphPooling4DOpDescriptor: the window covers the last four dimensions.
struct Pooling4DDescriptor {
  std::array<std::int64_t, 4> kernel_sizes{};
  std::array<std::int64_t, 4> strides{1, 1, 1, 1};
  std::array<std::int64_t, 4> dilation_rates{1, 1, 1, 1};
  std::array<std::int64_t, 8> padding_values{};
  PaddingStyle padding_style = PaddingStyle::Explicit;
  bool ceil_mode = false;
  bool include_zero_pad_to_average = false;
  PoolingReturnIndicesMode return_indices_mode = PoolingReturnIndicesMode::None;
  DataType return_indices_data_type = DataType::Int32;

  friend bool operator==(const Pooling4DDescriptor&, const Pooling4DDescriptor&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("kernel_sizes", self.kernel_sizes);
    visit("strides", self.strides);
    visit("dilation_rates", self.dilation_rates);
    visit("padding_values", self.padding_values);
    visit("padding_style", self.padding_style);
    visit("ceil_mode", self.ceil_mode);
    visit("include_zero_pad_to_average", self.include_zero_pad_to_average);
    visit("return_indices_mode", self.return_indices_mode);
    visit("return_indices_data_type", self.return_indices_data_type);
  }
};

/// A pooling operation on one source: the window over the last four dimensions, with its paddings resolved. A 2D
/// operation is the 4D one whose kernel is 1 along the batch and the channels.
struct PoolingGeometry {
  Shape source;  ///< rank 4 or more; dimensions before the last four are batch
  Shape result;
  std::array<WindowAxis, 4> axes;
  bool include_zero_pad_to_average = false;
  PoolingReturnIndicesMode return_indices_mode = PoolingReturnIndicesMode::None;
};

/// Validates the descriptor against the shape of the source, which the call names `source_argument`.
PoolingGeometry pooling_geometry(std::string_view operation, const Pooling2DDescriptor& descriptor, const Shape& source,
                                 std::string_view source_argument = "source");
PoolingGeometry pooling_geometry(std::string_view operation, const Pooling4DDescriptor& descriptor, const Shape& source,
                                 std::string_view source_argument = "source");

/// False for an axis that the window leaves as it is.
constexpr bool is_pooled(const WindowAxis& axis) {
  return axis.kernel != 1 || axis.stride != 1 || axis.padding_before != 0 || axis.padding_after != 0;
}

/// N of GlobalFlattenND and LocalFlattenND, 0 for None.
constexpr int flattened_dimensions(PoolingReturnIndicesMode mode) {
  const int value = static_cast<int>(mode);
  return value > 4 ? value - 4 : value;
}
constexpr bool is_local(PoolingReturnIndicesMode mode) { return static_cast<int>(mode) > 4; }

struct MaxPooling2D {
  static constexpr std::string_view name = "max_pooling_2d";
  static constexpr std::array<Argument, 1> arguments{{{"source"}}};
  Pooling2DDescriptor descriptor;

  friend bool operator==(const MaxPooling2D&, const MaxPooling2D&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling2DDescriptor::fields(self.descriptor, visit);
  }
};

struct MaxPooling2DReturnIndices {
  static constexpr std::string_view name = "max_pooling_2d_return_indices";
  static constexpr std::array<Argument, 1> arguments{{{"source"}}};
  Pooling2DDescriptor descriptor;

  friend bool operator==(const MaxPooling2DReturnIndices&, const MaxPooling2DReturnIndices&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling2DDescriptor::fields(self.descriptor, visit);
  }
};

struct MaxPooling2DGradient {
  static constexpr std::string_view name = "max_pooling_2d_gradient";
  static constexpr std::array<Argument, 3> arguments{{{"gradient"}, {"source", optional}, {"indices", optional}}};
  Pooling2DDescriptor descriptor;
  Shape output_shape;  ///< of the forward source; empty in the form that takes the source

  friend bool operator==(const MaxPooling2DGradient&, const MaxPooling2DGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling2DDescriptor::fields(self.descriptor, visit);
    visit("output_shape", self.output_shape);
  }
};

struct AvgPooling2D {
  static constexpr std::string_view name = "avg_pooling_2d";
  static constexpr std::array<Argument, 1> arguments{{{"source"}}};
  Pooling2DDescriptor descriptor;

  friend bool operator==(const AvgPooling2D&, const AvgPooling2D&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling2DDescriptor::fields(self.descriptor, visit);
  }
};

struct AvgPooling2DGradient {
  static constexpr std::string_view name = "avg_pooling_2d_gradient";
  static constexpr std::array<Argument, 2> arguments{{{"gradient"}, {"source"}}};
  Pooling2DDescriptor descriptor;

  friend bool operator==(const AvgPooling2DGradient&, const AvgPooling2DGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling2DDescriptor::fields(self.descriptor, visit);
  }
};

struct MaxPooling4D {
  static constexpr std::string_view name = "max_pooling_4d";
  static constexpr std::array<Argument, 1> arguments{{{"source"}}};
  Pooling4DDescriptor descriptor;

  friend bool operator==(const MaxPooling4D&, const MaxPooling4D&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling4DDescriptor::fields(self.descriptor, visit);
  }
};

struct MaxPooling4DReturnIndices {
  static constexpr std::string_view name = "max_pooling_4d_return_indices";
  static constexpr std::array<Argument, 1> arguments{{{"source"}}};
  Pooling4DDescriptor descriptor;

  friend bool operator==(const MaxPooling4DReturnIndices&, const MaxPooling4DReturnIndices&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling4DDescriptor::fields(self.descriptor, visit);
  }
};

struct MaxPooling4DGradient {
  static constexpr std::string_view name = "max_pooling_4d_gradient";
  static constexpr std::array<Argument, 3> arguments{{{"gradient"}, {"source", optional}, {"indices", optional}}};
  Pooling4DDescriptor descriptor;
  Shape output_shape;  ///< of the forward source; empty in the form that takes the source

  friend bool operator==(const MaxPooling4DGradient&, const MaxPooling4DGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling4DDescriptor::fields(self.descriptor, visit);
    visit("output_shape", self.output_shape);
  }
};

struct AvgPooling4D {
  static constexpr std::string_view name = "avg_pooling_4d";
  static constexpr std::array<Argument, 1> arguments{{{"source"}}};
  Pooling4DDescriptor descriptor;

  friend bool operator==(const AvgPooling4D&, const AvgPooling4D&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling4DDescriptor::fields(self.descriptor, visit);
  }
};

struct AvgPooling4DGradient {
  static constexpr std::string_view name = "avg_pooling_4d_gradient";
  static constexpr std::array<Argument, 2> arguments{{{"gradient"}, {"source"}}};
  Pooling4DDescriptor descriptor;

  friend bool operator==(const AvgPooling4DGradient&, const AvgPooling4DGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling4DDescriptor::fields(self.descriptor, visit);
  }
};

struct L2NormPooling4D {
  static constexpr std::string_view name = "l2_norm_pooling_4d";
  static constexpr std::array<Argument, 1> arguments{{{"source"}}};
  Pooling4DDescriptor descriptor;

  friend bool operator==(const L2NormPooling4D&, const L2NormPooling4D&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling4DDescriptor::fields(self.descriptor, visit);
  }
};

struct L2NormPooling4DGradient {
  static constexpr std::string_view name = "l2_norm_pooling_4d_gradient";
  static constexpr std::array<Argument, 2> arguments{{{"gradient"}, {"source"}}};
  Pooling4DDescriptor descriptor;

  friend bool operator==(const L2NormPooling4DGradient&, const L2NormPooling4DGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Pooling4DDescriptor::fields(self.descriptor, visit);
  }
};

ResultTypes infer(const MaxPooling2D& attributes, const Operands& operands);
ResultTypes infer(const MaxPooling2DReturnIndices& attributes, const Operands& operands);
ResultTypes infer(const MaxPooling2DGradient& attributes, const Operands& operands);
ResultTypes infer(const AvgPooling2D& attributes, const Operands& operands);
ResultTypes infer(const AvgPooling2DGradient& attributes, const Operands& operands);
ResultTypes infer(const MaxPooling4D& attributes, const Operands& operands);
ResultTypes infer(const MaxPooling4DReturnIndices& attributes, const Operands& operands);
ResultTypes infer(const MaxPooling4DGradient& attributes, const Operands& operands);
ResultTypes infer(const AvgPooling4D& attributes, const Operands& operands);
ResultTypes infer(const AvgPooling4DGradient& attributes, const Operands& operands);
ResultTypes infer(const L2NormPooling4D& attributes, const Operands& operands);
ResultTypes infer(const L2NormPooling4DGradient& attributes, const Operands& operands);

}  // namespace mpsgraph_native
