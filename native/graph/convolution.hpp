#pragma once

#include "graph/attributes.hpp"
#include "graph/operands.hpp"
#include "graph/window.hpp"

namespace mpsgraph_native {

/// MPSGraphConvolution2DOpDescriptor.
struct Convolution2DDescriptor {
  std::int64_t stride_in_x = 1, stride_in_y = 1;
  std::int64_t dilation_rate_in_x = 1, dilation_rate_in_y = 1;
  std::int64_t groups = 1;
  std::int64_t padding_left = 0, padding_right = 0, padding_top = 0, padding_bottom = 0;
  PaddingStyle padding_style = PaddingStyle::Explicit;
  TensorNamedDataLayout data_layout = TensorNamedDataLayout::NCHW;
  TensorNamedDataLayout weights_layout = TensorNamedDataLayout::OIHW;

  friend bool operator==(const Convolution2DDescriptor&, const Convolution2DDescriptor&) = default;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("stride_in_x", self.stride_in_x);
    visit("stride_in_y", self.stride_in_y);
    visit("dilation_rate_in_x", self.dilation_rate_in_x);
    visit("dilation_rate_in_y", self.dilation_rate_in_y);
    visit("groups", self.groups);
    visit("padding_left", self.padding_left);
    visit("padding_right", self.padding_right);
    visit("padding_top", self.padding_top);
    visit("padding_bottom", self.padding_bottom);
    visit("padding_style", self.padding_style);
    visit("data_layout", self.data_layout);
    visit("weights_layout", self.weights_layout);
  }
};

struct Convolution2D {
  static constexpr std::string_view name = "convolution_2d";
  static constexpr std::array<Argument, 2> arguments{{{"source"}, {"weights"}}};
  Convolution2DDescriptor descriptor;

  friend bool operator==(const Convolution2D&, const Convolution2D&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Convolution2DDescriptor::fields(self.descriptor, visit);
  }
};

struct Convolution2DDataGradient {
  static constexpr std::string_view name = "convolution_2d_data_gradient";
  static constexpr std::array<Argument, 2> arguments{{{"incoming_gradient"}, {"weights"}}};
  Convolution2DDescriptor descriptor;
  Shape output_shape;  ///< of the forward source

  friend bool operator==(const Convolution2DDataGradient&, const Convolution2DDataGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Convolution2DDescriptor::fields(self.descriptor, visit);
    visit("output_shape", self.output_shape);
  }
};

struct Convolution2DWeightsGradient {
  static constexpr std::string_view name = "convolution_2d_weights_gradient";
  static constexpr std::array<Argument, 2> arguments{{{"incoming_gradient"}, {"source"}}};
  Convolution2DDescriptor descriptor;
  Shape output_shape;  ///< of the forward weights

  friend bool operator==(const Convolution2DWeightsGradient&, const Convolution2DWeightsGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    Convolution2DDescriptor::fields(self.descriptor, visit);
    visit("output_shape", self.output_shape);
  }
};

/// Sizes of one forward 2D convolution, free of layouts; its gradients have the same.
struct Convolution2DGeometry {
  std::int64_t batch = 0;
  std::int64_t input_channels = 0, output_channels = 0, groups = 1;
  WindowAxis y, x;
};

/// Validates a convolution of `source` with `weights` and gives its sizes. The argument names are those of the
/// operation that asks, so that a message points at what its caller wrote.
Convolution2DGeometry convolution_2d_geometry(std::string_view operation, const Convolution2DDescriptor& descriptor,
                                              const Shape& source, std::string_view source_name, const Shape& weights,
                                              std::string_view weights_name);

ResultTypes infer(const Convolution2D& attributes, const Operands& operands);
ResultTypes infer(const Convolution2DDataGradient& attributes, const Operands& operands);
ResultTypes infer(const Convolution2DWeightsGradient& attributes, const Operands& operands);

}  // namespace mpsgraph_native
