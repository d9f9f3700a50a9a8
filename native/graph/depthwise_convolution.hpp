#pragma once

#include "graph/attributes.hpp"
#include "graph/operands.hpp"
#include "graph/window.hpp"

namespace mpsgraph_native {

/// MPSGraphDepthwiseConvolution2DOpDescriptor. The O index of the weights layout is the channel multiplier.
struct DepthwiseConvolution2DDescriptor {
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
  TensorNamedDataLayout weights_layout = TensorNamedDataLayout::OIHW;

  friend bool operator==(const DepthwiseConvolution2DDescriptor&, const DepthwiseConvolution2DDescriptor&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
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
    visit("weights_layout", self.weights_layout);
  }
};

struct DepthwiseConvolution2D {
  static constexpr std::string_view name = "depthwise_convolution_2d";
  static constexpr std::array<Argument, 2> arguments{{{"source"}, {"weights"}}};
  DepthwiseConvolution2DDescriptor descriptor;

  friend bool operator==(const DepthwiseConvolution2D&, const DepthwiseConvolution2D&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    DepthwiseConvolution2DDescriptor::fields(self.descriptor, visit);
  }
};

struct DepthwiseConvolution2DDataGradient {
  static constexpr std::string_view name = "depthwise_convolution_2d_data_gradient";
  static constexpr std::array<Argument, 2> arguments{{{"incoming_gradient"}, {"weights"}}};
  DepthwiseConvolution2DDescriptor descriptor;
  Shape output_shape;  ///< of the forward source

  friend bool operator==(const DepthwiseConvolution2DDataGradient&, const DepthwiseConvolution2DDataGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    DepthwiseConvolution2DDescriptor::fields(self.descriptor, visit);
    visit("output_shape", self.output_shape);
  }
};

struct DepthwiseConvolution2DWeightsGradient {
  static constexpr std::string_view name = "depthwise_convolution_2d_weights_gradient";
  static constexpr std::array<Argument, 2> arguments{{{"incoming_gradient"}, {"source"}}};
  DepthwiseConvolution2DDescriptor descriptor;
  Shape output_shape;  ///< of the forward weights

  friend bool operator==(const DepthwiseConvolution2DWeightsGradient&, const DepthwiseConvolution2DWeightsGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    DepthwiseConvolution2DDescriptor::fields(self.descriptor, visit);
    visit("output_shape", self.output_shape);
  }
};

ResultTypes infer(const DepthwiseConvolution2D& attributes, const Operands& operands);
ResultTypes infer(const DepthwiseConvolution2DDataGradient& attributes, const Operands& operands);
ResultTypes infer(const DepthwiseConvolution2DWeightsGradient& attributes, const Operands& operands);

}  // namespace mpsgraph_native
