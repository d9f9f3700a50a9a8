// NHWC: vectors run along the channels of a pixel. A multiplier above 1 is brought to 1 by repeating each source
// channel, and undone by summing the repeated channels of a data gradient.

#include <cstring>

#include "cpu/depthwise_convolution_plan.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/partition.hpp"

namespace mpsgraph_native::cpu {
namespace {

template <class T>
void repeat_channels(const Invocation& invocation, const T* source, std::int64_t count, std::int64_t multiplier,
                     T* destination) {
  const std::int64_t chunks = item_chunk_count(invocation, count, multiplier);
  parallel_for(chunks, [&](std::int64_t chunk) {
    const Range range = split_range(count, chunk, chunks);
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for (std::int64_t m = 0; m < multiplier; ++m) destination[i * multiplier + m] = source[i];
  });
}

template <class T>
void sum_repeated_channels(const Invocation& invocation, const T* source, std::int64_t count, std::int64_t multiplier,
                           T* destination) {
  const std::int64_t chunks = item_chunk_count(invocation, count, multiplier);
  parallel_for(chunks, [&](std::int64_t chunk) {
    const Range range = split_range(count, chunk, chunks);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      T sum = 0;
      for (std::int64_t m = 0; m < multiplier; ++m) sum += source[i * multiplier + m];
      destination[i] = sum;
    }
  });
}

/// Element (tap, channel·multiplier + m) of the weights stands at base[channel][m] + row and column of the tap.
template <class F>
void for_each_weight(const DepthwiseConvolution2DGeometry& geometry, F&& f) {
  const WeightsStrides strides = weights_strides(geometry);
  std::int64_t packed = 0;
  for (std::int64_t i = 0; i < geometry.y.kernel; ++i)
    for (std::int64_t j = 0; j < geometry.x.kernel; ++j)
      for (std::int64_t c = 0; c < geometry.channels; ++c)
        for (std::int64_t m = 0; m < geometry.multiplier; ++m)
          f(packed++, c * strides.channel + m * strides.multiplier + i * strides.row + j * strides.column);
}

/// Lists of the taps of a segment, one offset each into the image and into the weights packed as [tap][channel].
struct TapLists {
  Slot<std::int64_t> source, weights;
};

/// One image of `rows` by `columns` pixels as a window's taps see it.
struct PixelImage {
  std::int64_t rows, columns, channels, kernel_columns;
};

template <class T>
PixelTaps<T> list_taps(const PixelImage& image, const TapPhase& y, std::int64_t row, const TapPhase& x,
                       const Segment& segment, std::int64_t* source_offsets, std::int64_t* weights_offsets) {
  const TapRange y_taps = taps_inside(y, row, image.rows);
  const std::int64_t first_column = x.first_source + segment.first * x.source_step;
  std::int64_t count = 0;
  for (std::int64_t ty = y_taps.begin; ty < y_taps.end; ++ty) {
    const std::int64_t source_row = y.first_source + row * y.source_step + ty * y.tap_step;
    const std::int64_t weight_row = y.first_weight + ty * y.weight_step;
    for (std::int64_t tx = segment.taps.begin; tx < segment.taps.end; ++tx, ++count) {
      source_offsets[count] = (source_row * image.columns + first_column + tx * x.tap_step) * image.channels;
      weights_offsets[count] =
          (weight_row * image.kernel_columns + x.first_weight + tx * x.weight_step) * image.channels;
    }
  }
  PixelTaps<T> taps{};
  taps.pixels = segment.count;
  taps.channels = image.channels;
  taps.taps = count;
  taps.source_offsets = source_offsets;
  taps.weights_offsets = weights_offsets;
  taps.source_step = x.source_step * image.channels;
  return taps;
}

}  // namespace

template <class T>
Kernel make_pixel_correlation(const DepthwiseConvolution2DGeometry& geometry, bool data_gradient) {
  const std::int64_t multiplier = geometry.multiplier, channels = geometry.channels * multiplier;
  const std::int64_t batch = geometry.batch;
  const std::int64_t source_pixels = batch * geometry.y.input * geometry.x.input;
  const std::int64_t taps = geometry.y.kernel * geometry.x.kernel;
  const PixelImage image{data_gradient ? geometry.y.output : geometry.y.input,
                         data_gradient ? geometry.x.output : geometry.x.input, channels, geometry.x.kernel};
  const std::int64_t output_rows = data_gradient ? geometry.y.input : geometry.y.output;
  const std::int64_t output_columns = data_gradient ? geometry.x.input : geometry.x.output;
  const auto phases = data_gradient ? data_gradient_phases : correlation_phases;
  std::vector<TapPhase> x = phases(geometry.x);
  std::vector<Segment> x_segments = segments(x, image.columns);
  const std::int64_t operations = geometry.x.output * taps * channels;

  ScratchLayout shared_layout, layout;
  const bool packed = !geometry.multiplier_last;
  const Slot<T> weights_slot = shared_layout.reserve<T>(packed ? taps * channels : 0);
  const Slot<T> repeated_slot =
      shared_layout.reserve<T>(multiplier > 1 ? source_pixels * geometry.channels * multiplier : 0);
  const TapLists lists{layout.reserve<std::int64_t>(taps), layout.reserve<std::int64_t>(taps)};
  Kernel kernel;
  kernel.shared_scratch = shared_layout.bytes();
  kernel.scratch_per_thread = layout.bytes();
  kernel.run = [=, y = phases(geometry.y), x = std::move(x),
                x_segments = std::move(x_segments)](const Invocation& invocation) {
    const T* weights = invocation.input<T>(1);
    if (packed) {
      T* destination = shared(invocation, weights_slot);
      for_each_weight(geometry, [&](std::int64_t to, std::int64_t from) { destination[to] = weights[from]; });
      weights = destination;
    }
    const T* source = invocation.input<T>(0);
    T* output = invocation.output<T>(0);
    if (multiplier > 1) {
      T* repeated = shared(invocation, repeated_slot);
      if (data_gradient) {
        output = repeated;
      } else {
        repeat_channels(invocation, source, source_pixels * geometry.channels, multiplier, repeated);
        source = repeated;
      }
    }
    for_each_item(invocation, batch * output_rows, batch * output_rows * (operations),
                  [&](std::int64_t item, std::int64_t chunk) {
                    const std::int64_t n = item / output_rows, row = item % output_rows;
                    const std::int64_t y_phases = static_cast<std::int64_t>(y.size());
                    const T* from = source + n * image.rows * image.columns * channels;
                    T* to = output + item * output_columns * channels;
                    for (const Segment& segment : x_segments) {
                      const TapPhase& phase = x[segment.phase];
                      PixelTaps<T> pixels = list_taps<T>(
                          image, y[static_cast<std::size_t>(row % y_phases)], row / y_phases, phase, segment,
                          per_thread(invocation, chunk, lists.source), per_thread(invocation, chunk, lists.weights));
                      pixels.source = from;
                      kernels<T>().depthwise_convolution.correlate_pixels(
                          pixels, weights, to + (phase.first_output + segment.first * phase.output_step) * channels,
                          phase.output_step * channels);
                    }
                  });
    if (multiplier > 1 && data_gradient)
      sum_repeated_channels(invocation, output, source_pixels * geometry.channels, multiplier, invocation.output<T>(0));
  };
  return kernel;
}

template <class T>
Kernel make_pixel_weights_gradient(const DepthwiseConvolution2DGeometry& geometry) {
  const std::int64_t multiplier = geometry.multiplier, channels = geometry.channels * multiplier;
  const std::int64_t batch = geometry.batch;
  const std::int64_t source_elements = batch * geometry.y.input * geometry.x.input * geometry.channels;
  const std::int64_t taps = geometry.y.kernel * geometry.x.kernel;
  const PixelImage image{geometry.y.input, geometry.x.input, channels, geometry.x.kernel};
  const std::int64_t output_rows = geometry.y.output, output_columns = geometry.x.output;
  const std::vector<TapPhase> x_phases = correlation_phases(geometry.x);

  ScratchLayout shared_layout, layout;
  const Slot<T> repeated_slot = shared_layout.reserve<T>(multiplier > 1 ? source_elements * multiplier : 0);
  const TapLists lists{layout.reserve<std::int64_t>(taps), layout.reserve<std::int64_t>(taps)};
  const Slot<T> accumulator_slot = layout.reserve<T>(taps * channels);
  Kernel kernel;
  kernel.shared_scratch = shared_layout.bytes();
  kernel.scratch_per_thread = layout.bytes();
  kernel.run = [=, y = correlation_phases(geometry.y).front(), x = x_phases.front(),
                x_segments = segments(x_phases, image.columns)](const Invocation& invocation) {
    const T* source = invocation.input<T>(1);
    if (multiplier > 1) {
      T* repeated = shared(invocation, repeated_slot);
      repeat_channels(invocation, source, source_elements, multiplier, repeated);
      source = repeated;
    }
    const std::int64_t rows = batch * output_rows;
    const std::int64_t chunks = item_chunk_count(invocation, rows, output_columns * taps * channels);
    parallel_for(chunks, [&](std::int64_t chunk) {
      T* accumulators = per_thread(invocation, chunk, accumulator_slot);
      std::memset(accumulators, 0, static_cast<std::size_t>(taps * channels) * sizeof(T));
      const Range range = split_range(rows, chunk, chunks);
      for (std::int64_t item = range.begin; item < range.end; ++item) {
        const std::int64_t n = item / output_rows, row = item % output_rows;
        const T* gradient = invocation.input<T>(0) + item * output_columns * channels;
        for (const Segment& segment : x_segments) {
          PixelTaps<T> pixels = list_taps<T>(image, y, row, x, segment, per_thread(invocation, chunk, lists.source),
                                             per_thread(invocation, chunk, lists.weights));
          pixels.source = source + n * image.rows * image.columns * channels;
          kernels<T>().depthwise_convolution.weights_gradient_pixels(pixels, gradient + segment.first * channels,
                                                                     channels, accumulators);
        }
      }
    });
    T* total = per_thread(invocation, 0, accumulator_slot);
    for (std::int64_t chunk = 1; chunk < chunks; ++chunk)
      kernels<T>().matrix.add(per_thread(invocation, chunk, accumulator_slot), taps * channels, total);
    T* weights = invocation.output<T>(0);
    if (geometry.multiplier_last)
      std::memcpy(weights, total, static_cast<std::size_t>(taps * channels) * sizeof(T));
    else
      for_each_weight(geometry, [&](std::int64_t from, std::int64_t to) { weights[to] = total[from]; });
  };
  return kernel;
}

template Kernel make_pixel_correlation<float>(const DepthwiseConvolution2DGeometry&, bool);
template Kernel make_pixel_correlation<double>(const DepthwiseConvolution2DGeometry&, bool);
template Kernel make_pixel_weights_gradient<float>(const DepthwiseConvolution2DGeometry&);
template Kernel make_pixel_weights_gradient<double>(const DepthwiseConvolution2DGeometry&);

}  // namespace mpsgraph_native::cpu
