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

/// A depthwise convolution on one source and one weights shape. Output channel c·multiplier + m is the result of input
/// channel c and its m-th kernel.
struct DepthwiseConvolution2DGeometry {
  std::int64_t batch = 0, channels = 0, multiplier = 0;
  WindowAxis y, x;
  bool channels_last = false;    ///< data NHWC, else NCHW
  bool multiplier_last = false;  ///< weights HWIO, else OIHW
  Shape result;
};

/// Validates the descriptor against both shapes, which the call names as given.
DepthwiseConvolution2DGeometry depthwise_convolution_2d_geometry(std::string_view operation,
                                                                 const DepthwiseConvolution2DDescriptor& descriptor,
                                                                 const Shape& source, std::string_view source_argument,
                                                                 const Shape& weights,
                                                                 std::string_view weights_argument);

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

  friend bool operator==(const DepthwiseConvolution2DDataGradient&,
                         const DepthwiseConvolution2DDataGradient&) = default;
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

  friend bool operator==(const DepthwiseConvolution2DWeightsGradient&,
                         const DepthwiseConvolution2DWeightsGradient&) = default;
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
