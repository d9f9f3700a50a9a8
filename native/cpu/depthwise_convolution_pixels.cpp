// NHWC: vectors run along the channels of a pixel. A multiplier above 1 is brought to 1 by repeating each source
// channel, and undone by summing the repeated channels of a data gradient.

#include <algorithm>
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

/// One image of source pixels, and its weights packed as [tap][channel] in whole vectors of channels.
struct PixelImage {
  std::int64_t rows, columns, channels;
  std::int64_t kernel_columns, weights_channels;
};

template <class T>
PixelImage pixel_image(const DepthwiseConvolution2DGeometry& geometry, bool data_gradient) {
  const std::int64_t lanes = kernels<T>().depthwise_convolution.lanes;
  const std::int64_t channels = geometry.channels * geometry.multiplier;
  return {data_gradient ? geometry.y.output : geometry.y.input, data_gradient ? geometry.x.output : geometry.x.input,
          channels, geometry.x.kernel, (channels + lanes - 1) / lanes * lanes};
}

/// f(offset in packed weights, offset in the weights as they are given) for every element.
template <class F>
void for_each_weight(const DepthwiseConvolution2DGeometry& geometry, const PixelImage& image, F&& f) {
  const WeightsStrides strides = weights_strides(geometry);
  for (std::int64_t i = 0; i < geometry.y.kernel; ++i)
    for (std::int64_t j = 0; j < geometry.x.kernel; ++j) {
      std::int64_t packed = (i * geometry.x.kernel + j) * image.weights_channels;
      for (std::int64_t c = 0; c < geometry.channels; ++c)
        for (std::int64_t m = 0; m < geometry.multiplier; ++m)
          f(packed++, c * strides.channel + m * strides.multiplier + i * strides.row + j * strides.column);
    }
}

/// Rows of one phase whose windows the kernels take at once.
struct RowGroup {
  std::size_t phase;
  std::int64_t first, count;
};

/// Everything about an image's windows that depends on shapes alone.
struct PixelPlan {
  PixelImage image;
  std::vector<TapPhase> y;
  std::vector<RowGroup> groups;  ///< in the order of their first output rows
  std::vector<PixelColumn> columns;
  std::int64_t tap_source_stride = 0, tap_weights_stride = 0;
};

/// Whether neighbouring rows of the phase read their taps from the same source rows.
bool rows_share(const TapPhase& phase) { return phase.tap_step == 1 && phase.source_step <= 2; }

PixelPlan plan_pixels(const PixelImage& image, std::vector<TapPhase> y, const std::vector<TapPhase>& x) {
  PixelPlan plan{image, std::move(y), {}, {}};
  for (std::size_t phase = 0; phase < plan.y.size(); ++phase) {
    const TapPhase& rows = plan.y[phase];
    const std::int64_t group = rows_share(rows) ? pixel_row_group(rows.source_step) : 1;
    for (std::int64_t q = 0; q < rows.outputs; q += group)
      plan.groups.push_back({phase, q, std::min(group, rows.outputs - q)});
  }
  std::sort(plan.groups.begin(), plan.groups.end(), [&](const RowGroup& a, const RowGroup& b) {
    return plan.y[a.phase].first_output + a.first * plan.y[a.phase].output_step <
           plan.y[b.phase].first_output + b.first * plan.y[b.phase].output_step;
  });
  for (const TapPhase& phase : x) {
    plan.columns.resize(plan.columns.size() + static_cast<std::size_t>(phase.outputs));
    if (phase.taps == 0) continue;
    // The same for every phase.
    plan.tap_source_stride = phase.tap_step * image.channels;
    plan.tap_weights_stride = phase.weight_step * image.weights_channels;
  }
  for (const TapPhase& phase : x)
    for (std::int64_t q = 0; q < phase.outputs; ++q) {
      const TapRange taps = taps_inside(phase, q, image.columns);
      plan.columns[static_cast<std::size_t>(phase.first_output + q * phase.output_step)] = {
          (phase.first_source + q * phase.source_step + taps.begin * phase.tap_step) * image.channels,
          (phase.first_weight + taps.begin * phase.weight_step) * image.weights_channels, taps.end - taps.begin};
    }
  return plan;
}

/// The rows of a group, of an image of which the source begins at `source`; `row_stride` is that of the phase's rows.
template <class T>
PixelRows<T> pixel_rows(const PixelPlan& plan, const RowGroup& group, const T* source, std::int64_t row_stride) {
  const PixelImage& image = plan.image;
  const TapPhase& phase = plan.y[group.phase];
  const std::int64_t first = phase.first_source + group.first * phase.source_step;
  PixelRows<T> rows{};
  rows.rows = group.count;
  rows.taps = phase.taps;
  rows.step = phase.source_step;
  rows.source = source + first * image.columns * image.channels;
  rows.source_row_stride = phase.tap_step * image.columns * image.channels;
  if (rows_share(phase)) {
    rows.begin = -first;
    rows.end = image.rows - first;
  } else {
    const TapRange inside = taps_inside(phase, group.first, image.rows);
    rows.begin = inside.begin;
    rows.end = inside.end;
  }
  rows.columns = plan.columns.data();
  rows.pixels = static_cast<std::int64_t>(plan.columns.size());
  rows.channels = image.channels;
  rows.tap_source_stride = plan.tap_source_stride;
  rows.tap_weights_stride = plan.tap_weights_stride;
  rows.weights_row_stride = phase.weight_step * image.kernel_columns * image.weights_channels;
  rows.row_stride = row_stride;
  return rows;
}

}  // namespace

template <class T>
Kernel make_pixel_correlation(const DepthwiseConvolution2DGeometry& geometry, bool data_gradient) {
  const auto phases = data_gradient ? data_gradient_phases : correlation_phases;
  const PixelImage image = pixel_image<T>(geometry, data_gradient);
  const std::int64_t multiplier = geometry.multiplier, batch = geometry.batch;
  const std::int64_t source_pixels = batch * geometry.y.input * geometry.x.input;
  const std::int64_t taps = geometry.y.kernel * geometry.x.kernel;
  const std::int64_t output_rows = data_gradient ? geometry.y.input : geometry.y.output;
  const std::int64_t operations = batch * geometry.y.output * geometry.x.output * taps * image.channels;

  ScratchLayout layout;
  const Slot<T> weights_slot = layout.reserve<T>(taps * image.weights_channels);
  const Slot<T> repeated_slot = layout.reserve<T>(multiplier > 1 ? source_pixels * geometry.channels * multiplier : 0);
  Kernel kernel;
  kernel.shared_scratch = layout.bytes();
  kernel.run = [=, plan = plan_pixels(image, phases(geometry.y), phases(geometry.x))](const Invocation& invocation) {
    const T* given = invocation.input<T>(1);
    T* weights = shared(invocation, weights_slot);
    for_each_weight(geometry, plan.image, [&](std::int64_t to, std::int64_t from) { weights[to] = given[from]; });
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
    const std::int64_t output_row = static_cast<std::int64_t>(plan.columns.size()) * image.channels;
    const std::int64_t groups = static_cast<std::int64_t>(plan.groups.size());
    for_each_item(invocation, batch * groups, operations, [&](std::int64_t item, std::int64_t) {
      const std::int64_t n = item / groups;
      const RowGroup& group = plan.groups[static_cast<std::size_t>(item % groups)];
      const TapPhase& phase = plan.y[group.phase];
      const PixelRows<T> rows = pixel_rows(plan, group, source + n * image.rows * image.columns * image.channels,
                                           phase.output_step * output_row);
      const std::int64_t first_output = n * output_rows + phase.first_output + group.first * phase.output_step;
      kernels<T>().depthwise_convolution.correlate_pixels(
          rows, weights + phase.first_weight * image.kernel_columns * image.weights_channels,
          output + first_output * output_row);
    });
    if (multiplier > 1 && data_gradient)
      sum_repeated_channels(invocation, output, source_pixels * geometry.channels, multiplier, invocation.output<T>(0));
  };
  return kernel;
}

template <class T>
Kernel make_pixel_weights_gradient(const DepthwiseConvolution2DGeometry& geometry) {
  const PixelImage image = pixel_image<T>(geometry, false);
  const std::int64_t multiplier = geometry.multiplier, batch = geometry.batch;
  const std::int64_t source_elements = batch * geometry.y.input * geometry.x.input * geometry.channels;
  const std::int64_t taps = geometry.y.kernel * geometry.x.kernel;
  const std::int64_t packed_weights = taps * image.weights_channels;
  const std::int64_t operations = geometry.y.output * geometry.x.output * taps * image.channels;

  ScratchLayout shared_layout, layout;
  const Slot<T> repeated_slot = shared_layout.reserve<T>(multiplier > 1 ? source_elements * multiplier : 0);
  const Slot<T> image_slot = layout.reserve<T>(packed_weights), total_slot = layout.reserve<T>(packed_weights);
  Kernel kernel;
  kernel.shared_scratch = shared_layout.bytes();
  kernel.scratch_per_thread = layout.bytes();
  kernel.run = [=, plan = plan_pixels(image, correlation_phases(geometry.y), correlation_phases(geometry.x))](
                   const Invocation& invocation) {
    const T* source = invocation.input<T>(1);
    if (multiplier > 1) {
      T* repeated = shared(invocation, repeated_slot);
      repeat_channels(invocation, source, source_elements, multiplier, repeated);
      source = repeated;
    }
    const std::int64_t gradient_row = geometry.x.output * image.channels;
    const std::int64_t groups = static_cast<std::int64_t>(plan.groups.size());
    const std::int64_t chunks =
        item_chunk_count(invocation, batch * groups, operations / std::max<std::int64_t>(groups, 1));
    parallel_for(chunks, [&](std::int64_t chunk) {
      T* total = per_thread(invocation, chunk, total_slot);
      std::memset(total, 0, static_cast<std::size_t>(packed_weights) * sizeof(T));
      const Range range = split_range(batch * groups, chunk, chunks);
      for (std::int64_t item = range.begin; item < range.end;) {
        // Each image has a sum of its own: adding up sums keeps the rounding errors small.
        T* sums = per_thread(invocation, chunk, image_slot);
        std::memset(sums, 0, static_cast<std::size_t>(packed_weights) * sizeof(T));
        const std::int64_t n = item / groups, end = std::min(range.end, (n + 1) * groups);
        for (; item < end; ++item) {
          const RowGroup& group = plan.groups[static_cast<std::size_t>(item % groups)];
          kernels<T>().depthwise_convolution.weights_gradient_pixels(
              pixel_rows(plan, group, source + n * image.rows * image.columns * image.channels, gradient_row),
              invocation.input<T>(0) + (n * geometry.y.output + group.first) * gradient_row, sums);
        }
        kernels<T>().matrix.add(sums, packed_weights, total);
      }
    });
    T* total = per_thread(invocation, 0, total_slot);
    for (std::int64_t chunk = 1; chunk < chunks; ++chunk)
      kernels<T>().matrix.add(per_thread(invocation, chunk, total_slot), packed_weights, total);
    T* weights = invocation.output<T>(0);
    for_each_weight(geometry, plan.image, [&](std::int64_t from, std::int64_t to) { weights[to] = total[from]; });
  };
  return kernel;
}

template Kernel make_pixel_correlation<float>(const DepthwiseConvolution2DGeometry&, bool);
template Kernel make_pixel_correlation<double>(const DepthwiseConvolution2DGeometry&, bool);
template Kernel make_pixel_weights_gradient<float>(const DepthwiseConvolution2DGeometry&);
template Kernel make_pixel_weights_gradient<double>(const DepthwiseConvolution2DGeometry&);

}  // namespace mpsgraph_native::cpu
