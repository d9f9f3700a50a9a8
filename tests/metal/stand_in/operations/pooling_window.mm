#include "pooling_window.hpp"

#include "controls.hpp"
#include "layout.hpp"

namespace stand_in {
namespace {

bool has_indices() {
  const Version version = macos_version();
  return version.major > 12 || (version.major == 12 && version.minor >= 2);
}

template <class Descriptor>
PoolingWindow window_of(const Site& site, Descriptor* descriptor, const Dims& source, std::array<WindowAxis, 4> axes) {
  PoolingWindow window;
  window.source = window.result = source;
  window.include_padding = descriptor.includeZeroPadToAverage;
  if (has_indices()) {
    window.mode = descriptor.returnIndicesMode;
    site.require(window.mode <= MPSGraphPoolingReturnIndicesLocalFlatten4D, "returnIndicesMode is no member");
    site.require(descriptor.returnIndicesDataType == MPSDataTypeInt32, "returnIndicesDataType is not Int32");
  }
  const std::size_t leading = source.size() - 4;
  for (std::size_t i = 0; i < leading; ++i) window.batch *= source[i];
  for (std::size_t i = 0; i < 4; ++i) {
    axes[i].input = source[leading + i];
    const bool padded = axes[i].before > 0 || axes[i].after > 0;
    if (descriptor.ceilMode && padded && descriptor.paddingStyle == MPSGraphPaddingStyleExplicit)
      window.rounds_up_padded = true;
    window.axes[i] = resolved(site, axes[i], descriptor.paddingStyle, descriptor.ceilMode);
    window.result[leading + i] = window.axes[i].output;
  }
  return window;
}

}  // namespace

PoolingWindow pooling_window(const Site& site, MPSGraphPooling2DOpDescriptor* descriptor, const Dims& source) {
  site.require(descriptor != nil, "the descriptor is nil");
  site.require(source.size() == 4, "the source is not of rank 4");
  const DataAxes data = data_axes(site, descriptor.dataLayout);
  std::array<WindowAxis, 4> axes;
  axes[data.y] = {.kernel = static_cast<std::int64_t>(descriptor.kernelHeight),
                  .stride = static_cast<std::int64_t>(descriptor.strideInY),
                  .dilation = static_cast<std::int64_t>(descriptor.dilationRateInY),
                  .before = static_cast<std::int64_t>(descriptor.paddingTop),
                  .after = static_cast<std::int64_t>(descriptor.paddingBottom)};
  axes[data.x] = {.kernel = static_cast<std::int64_t>(descriptor.kernelWidth),
                  .stride = static_cast<std::int64_t>(descriptor.strideInX),
                  .dilation = static_cast<std::int64_t>(descriptor.dilationRateInX),
                  .before = static_cast<std::int64_t>(descriptor.paddingLeft),
                  .after = static_cast<std::int64_t>(descriptor.paddingRight)};
  return window_of(site, descriptor, source, axes);
}

PoolingWindow pooling_window(const Site& site, MPSGraphPooling4DOpDescriptor* descriptor, const Dims& source) {
  site.require(descriptor != nil, "the descriptor is nil");
  site.require(source.size() >= 4, "the source is of a rank below 4");
  const Dims kernel = site.sizes(descriptor.kernelSizes, 4, 1, "kernelSizes are not four sizes");
  const Dims strides = site.sizes(descriptor.strides, 4, 1, "strides are not four sizes");
  const Dims rates = site.sizes(descriptor.dilationRates, 4, 1, "dilationRates are not four sizes");
  const Dims paddings = site.sizes(descriptor.paddingValues, 8, 0, "paddingValues are not eight sizes");
  std::array<WindowAxis, 4> axes;
  for (std::size_t i = 0; i < 4; ++i)
    axes[i] = {.kernel = kernel[i],
               .stride = strides[i],
               .dilation = rates[i],
               .before = paddings[2 * i],
               .after = paddings[2 * i + 1]};
  return window_of(site, descriptor, source, axes);
}

std::size_t PoolingWindow::element(std::int64_t n, const Position& p) const {
  std::int64_t flat = n;
  for (std::size_t i = 0; i < 4; ++i) flat = flat * axes[i].input + p[i];
  return static_cast<std::size_t>(flat);
}

std::int64_t PoolingWindow::index(const Position& p, const Position& j) const {
  std::int64_t flat = 0;
  for (std::size_t i = 4 - flattened(); i < 4; ++i)
    flat = local() ? flat * axes[i].kernel + j[i] : flat * axes[i].input + p[i];
  return flat;
}

std::size_t PoolingWindow::decoded(const Site& site, std::int64_t index, std::int64_t n, const Position& o) const {
  Position p;
  for (std::size_t i = 0; i < 4; ++i) p[i] = axes[i].position(o[i], 0);
  for (std::size_t i = 4; i-- > 4 - flattened();) {
    const std::int64_t size = local() ? axes[i].kernel : axes[i].input;
    p[i] = local() ? axes[i].position(o[i], index % size) : index % size;
    index /= size;
  }
  site.require(index == 0, "an index lies outside the destination");
  for (std::size_t i = 0; i < 4; ++i) site.require(axes[i].inside(p[i]), "an index lies outside the destination");
  return element(n, p);
}

}  // namespace stand_in
