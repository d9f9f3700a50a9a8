#include "cpu/convolution_planes.hpp"

#include <algorithm>
#include <cstring>

#include "graph/error.hpp"

namespace mpsgraph_native::cpu {
namespace {

constexpr std::int64_t maximum_offset = 2147483647;

/// Planes begin on cache lines of sixteen floats, an odd number of lines apart: a power of two would crowd the same
/// position of all channels into a few sets of the cache.
std::int64_t padded_plane(std::int64_t elements) {
  constexpr std::int64_t line = 16;
  if (elements < 2 * line) return elements;
  return ((elements + line - 1) / line | 1) * line;
}

}  // namespace

InputPlanes::PlaneAxis InputPlanes::plane_axis(const CorrelationAxis& axis, std::int64_t outputs) {
  const std::int64_t dense = (outputs - 1) * axis.stride + (axis.taps - 1) * axis.dilation + 1;
  if (dense <= outputs * axis.taps) return {true, dense, axis.stride, axis.dilation};
  return {false, outputs * axis.taps, 1, outputs};
}

InputPlanes::InputPlanes(const ImageTensor& input, std::int64_t channels, const CorrelationAxis& y,
                         const CorrelationAxis& x, const PixelBlock& largest, std::int64_t budget)
    : input_(input),
      y_(y),
      x_(x),
      largest_(largest),
      plane_y_(plane_axis(y, largest.rows)),
      plane_x_(plane_axis(x, largest.columns)) {
  channel_ = padded_plane(plane_y_.size * plane_x_.size);
  if (channel_ > maximum_offset / largest.images)
    throw CompileError(text("a convolution with ", y.taps, " x ", x.taps, " taps needs too much scratch memory"));
  const std::int64_t fitting = std::max<std::int64_t>(budget / (largest.images * channel_), 1);
  const std::int64_t copies = (channels + fitting - 1) / fitting;
  channels_at_once_ = (channels + copies - 1) / copies;
  image_ = channels_at_once_ * channel_;
  output_y_ = plane_y_.output_step * plane_x_.size;
  output_x_ = plane_x_.output_step;
  tap_y_ = plane_y_.tap_step * plane_x_.size;
  tap_x_ = plane_x_.tap_step;
  rows_join_ = !input.channels_last && plane_x_.dense && x.origin == 0 && plane_x_.size == input.width;
}

InputPlanes InputPlanes::in_place(const ImageTensor& input, std::int64_t channels, const CorrelationAxis& y,
                                  const CorrelationAxis& x, const PixelBlock& largest) {
  InputPlanes planes;
  planes.input_ = input;
  planes.y_ = y;
  planes.x_ = x;
  planes.largest_ = largest;
  planes.in_place_ = true;
  planes.channels_at_once_ = channels;
  planes.image_ = input.image_stride();
  planes.channel_ = input.channel_stride();
  planes.output_y_ = y.stride * input.row_stride();
  planes.output_x_ = x.stride * input.column_stride();
  planes.tap_y_ = y.dilation * input.row_stride();
  planes.tap_x_ = x.dilation * input.column_stride();
  return planes;
}

std::vector<std::int32_t> InputPlanes::pixel_offsets() const {
  std::vector<std::int32_t> offsets;
  offsets.reserve(static_cast<std::size_t>(largest_.pixels()));
  for (std::int64_t n = 0; n < largest_.images; ++n)
    for (std::int64_t y = 0; y < largest_.rows; ++y)
      for (std::int64_t x = 0; x < largest_.columns; ++x)
        offsets.push_back(static_cast<std::int32_t>(n * image_ + y * output_y_ + x * output_x_));
  return offsets;
}

std::vector<std::int32_t> InputPlanes::tap_offsets(const CorrelationAxis& y, const CorrelationAxis& x) const {
  // The tap of the planes' axis that reads what this one reads.
  const auto tap = [](const CorrelationAxis& own, const CorrelationAxis& axis, std::int64_t t) {
    return (axis.origin - own.origin + t * axis.dilation) / own.dilation;
  };
  std::vector<std::int32_t> offsets;
  offsets.reserve(static_cast<std::size_t>(channels_at_once_ * y.taps * x.taps));
  for (std::int64_t c = 0; c < channels_at_once_; ++c)
    for (std::int64_t j = 0; j < y.taps; ++j)
      for (std::int64_t i = 0; i < x.taps; ++i)
        offsets.push_back(static_cast<std::int32_t>(c * channel_ + tap(y_, y, j) * tap_y_ + tap(x_, x, i) * tap_x_));
  return offsets;
}

/// Positions start, start + step, ... of one source row, for each channel.
template <class T>
void InputPlanes::copy_run(const MatrixKernels<T>& kernels, const T* source, std::int64_t start, std::int64_t step,
                           std::int64_t length, std::int64_t channels, T* run) const {
  const std::int64_t begin = start >= 0 ? 0 : std::min(length, (-start + step - 1) / step);
  const std::int64_t end =
      start >= input_.width ? begin : std::clamp((input_.width - 1 - start) / step + 1, begin, length);
  const std::int64_t column = input_.column_stride();
  const T* from = begin < end ? source + (start + begin * step) * column : source;
  if (input_.channels_last && begin < end)
    kernels.transpose(from, step * column, end - begin, channels, run + begin, channel_);
  for (std::int64_t c = 0; c < channels; ++c) {
    T* to = run + c * channel_;
    for (std::int64_t i = 0; i < begin; ++i) to[i] = T(0);
    if (!input_.channels_last && begin < end) {
      const T* plane = from + c * input_.channel_stride();
      if (step == 1)
        std::memcpy(to + begin, plane, static_cast<std::size_t>(end - begin) * sizeof(T));
      else
        for (std::int64_t i = begin; i < end; ++i, plane += step) to[i] = *plane;
    }
    for (std::int64_t i = end; i < length; ++i) to[i] = T(0);
  }
}

template <class T>
void InputPlanes::copy_row(const MatrixKernels<T>& kernels, const T* source, const PixelBlock& block,
                           std::int64_t channels, T* row) const {
  const std::int64_t start = x_.origin + block.x * x_.stride;
  if (plane_x_.dense) {
    const std::int64_t length = (block.columns - 1) * x_.stride + (x_.taps - 1) * x_.dilation + 1;
    copy_run(kernels, source, start, 1, length, channels, row);
    return;
  }
  for (std::int64_t tap = 0; tap < x_.taps; ++tap)
    copy_run(kernels, source, start + tap * x_.dilation, x_.stride, block.columns, channels, row + tap * tap_x_);
}

template <class T>
const T* InputPlanes::prepare(const MatrixKernels<T>& kernels, const T* input, const PixelBlock& block,
                              std::int64_t first_channel, std::int64_t channels, T* planes) const {
  input += block.image * input_.image_stride() + first_channel * input_.channel_stride();
  const std::int64_t top = y_.origin + block.y * y_.stride;
  if (in_place_) return input + top * input_.row_stride() + (x_.origin + block.x * x_.stride) * input_.column_stride();

  const auto copy_rows = [&](const T* image, std::int64_t start, std::int64_t step, std::int64_t rows, T* to) {
    if (rows_join_ && step == 1 && start >= 0 && start + rows <= input_.height) {
      const T* from = image + start * input_.row_stride();
      for (std::int64_t c = 0; c < channels; ++c)
        std::memcpy(to + c * channel_, from + c * input_.channel_stride(),
                    static_cast<std::size_t>(rows * input_.width) * sizeof(T));
      return;
    }
    for (std::int64_t r = 0; r < rows; ++r, start += step, to += plane_x_.size) {
      if (start >= 0 && start < input_.height)
        copy_row(kernels, image + start * input_.row_stride(), block, channels, to);
      else
        for (std::int64_t c = 0; c < channels; ++c) std::fill_n(to + c * channel_, plane_x_.size, T(0));
    }
  };
  for (std::int64_t n = 0; n < block.images; ++n) {
    const T* image = input + n * input_.image_stride();
    T* to = planes + n * image_;
    if (plane_y_.dense) {
      copy_rows(image, top, 1, (block.rows - 1) * y_.stride + (y_.taps - 1) * y_.dilation + 1, to);
    } else {
      for (std::int64_t tap = 0; tap < y_.taps; ++tap)
        copy_rows(image, top + tap * y_.dilation, y_.stride, block.rows, to + tap * tap_y_);
    }
  }
  return planes;
}

template <class T>
MemoryRuns InputPlanes::source(const T* input, const PixelBlock& block, std::int64_t first_channel,
                               std::int64_t channels) const {
  const bool dense = in_place_ ? y_.stride == 1 && x_.stride == 1 : plane_y_.dense && plane_x_.dense;
  if (!dense || block.columns < x_.outputs) return {};
  const std::int64_t top = std::max<std::int64_t>(y_.origin + block.y * y_.stride, 0);
  const std::int64_t last = y_.origin + (block.y + block.rows - 1) * y_.stride + (y_.taps - 1) * y_.dilation;
  const std::int64_t rows = std::min(last + 1, input_.height) - top;
  if (rows <= 0) return {};
  constexpr std::int64_t size = sizeof(T);
  const auto* run = reinterpret_cast<const char*>(input + block.image * input_.image_stride() +
                                                  first_channel * input_.channel_stride() + top * input_.row_stride());
  const std::int64_t image = input_.image_stride() * size;
  if (input_.channels_last) {
    const std::int64_t pixels = rows * input_.width;
    if (channels == input_.channels || block.images > 1)
      return {run, pixels * input_.column_stride() * size, image, block.images};
    return {run, channels * size, input_.column_stride() * size, pixels};
  }
  // Whole planes follow each other.
  if (rows == input_.height) return {run, channels * input_.channel_stride() * size, image, block.images};
  return {run, rows * input_.row_stride() * size, input_.channel_stride() * size, channels};
}

template MemoryRuns InputPlanes::source(const float*, const PixelBlock&, std::int64_t, std::int64_t) const;
template MemoryRuns InputPlanes::source(const double*, const PixelBlock&, std::int64_t, std::int64_t) const;

template const float* InputPlanes::prepare(const MatrixKernels<float>&, const float*, const PixelBlock&, std::int64_t,
                                           std::int64_t, float*) const;
template const double* InputPlanes::prepare(const MatrixKernels<double>&, const double*, const PixelBlock&,
                                            std::int64_t, std::int64_t, double*) const;

}  // namespace mpsgraph_native::cpu
