#include "cpu/weights_panels.hpp"

#include <algorithm>

#include "cpu/panels.hpp"

namespace mpsgraph_native::cpu {
namespace {

constexpr std::int64_t most_kernel_elements = 49, most_width = 64;

}  // namespace

std::vector<std::int64_t> kernel_offsets(const WeightsStrides& strides, const CorrelationAxis& y,
                                         const CorrelationAxis& x) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t j = 0; j < y.taps; ++j)
    for (std::int64_t i = 0; i < x.taps; ++i)
      offsets.push_back((y.kernel_begin + j * y.kernel_step) * strides.y +
                        (x.kernel_begin + i * x.kernel_step) * strides.x);
  return offsets;
}

template <class T>
WeightsPanels<T>::WeightsPanels(const WeightsStrides& strides, std::int64_t rows, const CorrelationAxis& y,
                                const CorrelationAxis& x)
    : kernels_(cpu::kernels<T>().matrix),
      panel_(panel_for_rows(kernels_, rows)),
      strides_(strides),
      rows_(rows),
      taps_(kernel_offsets(strides, y, x)),
      in_order_(strides.channel == y.taps * x.taps && strides.x == 1 && x.kernel_step == 1 && y.kernel_step == 1) {}

template <class T>
std::int64_t WeightsPanels<T>::rows(std::int64_t panel) const {
  return std::min<std::int64_t>(panel_.width, rows_ - panel * panel_.width);
}

template <class T>
void WeightsPanels<T>::pack(const T* weights, std::int64_t group, std::int64_t panel, Range channels, T* packed) const {
  const std::int64_t width = panel_.width;
  const std::int64_t rows = this->rows(panel);
  const std::int64_t taps = static_cast<std::int64_t>(taps_.size());
  const std::int64_t channel_count = channels.end - channels.begin;
  weights += group * strides_.group + panel * width * strides_.row + channels.begin * strides_.channel;
  if (strides_.row == 1) {
    for (std::int64_t c = 0; c < channel_count; ++c)
      for (std::int64_t t = 0; t < taps; ++t, packed += width)
        panel_.pack_columns(weights + c * strides_.channel + taps_[static_cast<std::size_t>(t)], 0, rows, 1, packed);
    return;
  }
  if (in_order_) {
    panel_.pack_rows(weights, strides_.row, rows, channel_count * taps, packed);
    return;
  }
  if (rows < width) std::fill_n(packed, channel_count * taps * width, T(0));
  if (strides_.channel == 1) {
    for (std::int64_t t = 0; t < taps; ++t)
      kernels_.transpose(weights + taps_[static_cast<std::size_t>(t)], strides_.row, rows, channel_count,
                         packed + t * width, taps * width);
    return;
  }
  for (std::int64_t c = 0; c < channel_count; ++c) {
    const T* from = weights + c * strides_.channel;
    if (strides_.x == 1 && strides_.row <= most_kernel_elements && width <= most_width) {
      // The whole kernels of the rows lie side by side.
      T kernels_of_rows[most_kernel_elements * most_width];
      kernels_.transpose(from, strides_.row, rows, strides_.row, kernels_of_rows, width);
      for (std::int64_t t = 0; t < taps; ++t, packed += width)
        std::copy_n(kernels_of_rows + taps_[static_cast<std::size_t>(t)] * width, rows, packed);
      continue;
    }
    for (std::int64_t t = 0; t < taps; ++t, packed += width)
      for (std::int64_t r = 0; r < rows; ++r) packed[r] = from[taps_[static_cast<std::size_t>(t)] + r * strides_.row];
  }
}

template class WeightsPanels<float>;
template class WeightsPanels<double>;

}  // namespace mpsgraph_native::cpu
