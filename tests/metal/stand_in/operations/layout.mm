#include "layout.hpp"

namespace stand_in {

DataAxes data_axes(const Site& site, MPSGraphTensorNamedDataLayout layout) {
  if (layout == MPSGraphTensorNamedDataLayoutNCHW) return {0, 1, 2, 3};
  if (layout == MPSGraphTensorNamedDataLayoutNHWC) return {0, 3, 1, 2};
  assertion_failure(site.operation, "dataLayout is neither NCHW nor NHWC");
}

WeightsAxes weights_axes(const Site& site, MPSGraphTensorNamedDataLayout layout) {
  if (layout == MPSGraphTensorNamedDataLayoutOIHW) return {0, 1, 2, 3};
  if (layout == MPSGraphTensorNamedDataLayoutHWIO) return {3, 2, 0, 1};
  assertion_failure(site.operation, "weightsLayout is neither OIHW nor HWIO");
}

Dims data_shape(const DataAxes& axes, std::int64_t batch, std::int64_t channels, std::int64_t y, std::int64_t x) {
  Dims shape(4);
  shape[axes.batch] = batch;
  shape[axes.channel] = channels;
  shape[axes.y] = y;
  shape[axes.x] = x;
  return shape;
}

Correlation::Image image_strides(const DataAxes& axes, const Dims& shape) {
  const Dims strides = strides_of(shape);
  return {strides[axes.batch], strides[axes.channel], {0, strides[axes.y], strides[axes.x]}};
}

}  // namespace stand_in
