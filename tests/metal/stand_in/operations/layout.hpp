#pragma once

#include "correlation.hpp"

namespace stand_in {

/// Where batch, channels and the two spatial axes stand in data of a layout.
struct DataAxes {
  std::size_t batch, channel, y, x;
};
/// Where output channels (or the multiplier), input channels and the two spatial axes stand in weights of a layout.
struct WeightsAxes {
  std::size_t output, input, y, x;
};

DataAxes data_axes(const Site& site, MPSGraphTensorNamedDataLayout layout);
WeightsAxes weights_axes(const Site& site, MPSGraphTensorNamedDataLayout layout);

/// The shape of data with these sizes.
Dims data_shape(const DataAxes& axes, std::int64_t batch, std::int64_t channels, std::int64_t y, std::int64_t x);

/// The strides of data of this shape.
Correlation::Image image_strides(const DataAxes& axes, const Dims& shape);

}  // namespace stand_in
