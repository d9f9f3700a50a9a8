// NCHW: vectors run along the columns of a plane.

#include <cstring>

#include "cpu/depthwise_convolution_plan.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/partition.hpp"

namespace mpsgraph_native::cpu {

template <class T>
Kernel make_plane_correlation(const DepthwiseConvolution2DGeometry& geometry, bool data_gradient) {
  const auto phases = data_gradient ? data_gradient_phases : correlation_phases;
  const WeightsStrides strides = weights_strides(geometry);
  PlaneCorrelation<T> shape{};
  shape.source_rows = data_gradient ? geometry.y.output : geometry.y.input;
  shape.source_columns = data_gradient ? geometry.x.output : geometry.x.input;
  shape.source_plane_stride = shape.source_rows * shape.source_columns;
  shape.planes = data_gradient ? geometry.multiplier : 1;
  shape.weights_plane_stride = strides.multiplier;
  shape.weights_row_stride = strides.row;
  shape.weights_column_stride = strides.column;
  shape.output_columns = data_gradient ? geometry.x.input : geometry.x.output;
  shape.fetch_ahead = leaves_caches<T>(geometry);
  const std::int64_t output_plane = shape.output_columns * (data_gradient ? geometry.y.input : geometry.y.output);
  // The multiplier's kernels of a channel are summed over in the data gradient, and planes of their own in the forward.
  const std::int64_t multiplier = geometry.multiplier;
  const std::int64_t kernels_per_plane = data_gradient ? 1 : multiplier;
  const std::int64_t outputs = geometry.batch * geometry.channels * kernels_per_plane;
  const std::int64_t operations =
      geometry.y.output * geometry.x.output * geometry.y.kernel * geometry.x.kernel * shape.planes;

  Kernel kernel;
  kernel.run = [=, y = phases(geometry.y), x = phases(geometry.x), channels = geometry.channels,
                zeros = std::vector<T>(static_cast<std::size_t>(shape.source_columns))](const Invocation& invocation) {
    for_each_item(invocation, outputs, outputs * operations, [&](std::int64_t item, std::int64_t) {
      const std::int64_t plane = item / kernels_per_plane, m = item % kernels_per_plane;
      PlaneCorrelation<T> correlation = shape;
      correlation.y = y.data();
      correlation.y_phases = static_cast<std::int64_t>(y.size());
      correlation.x = x.data();
      correlation.x_phases = static_cast<std::int64_t>(x.size());
      correlation.zeros = zeros.data();
      correlation.source = invocation.input<T>(0) + plane * shape.planes * shape.source_plane_stride;
      correlation.weights = invocation.input<T>(1) + plane % channels * strides.channel + m * strides.multiplier;
      correlation.output = invocation.output<T>(0) + item * output_plane;
      kernels<T>().depthwise_convolution.correlate_plane(correlation);
    });
  };
  return kernel;
}

template <class T>
Kernel make_plane_weights_gradient(const DepthwiseConvolution2DGeometry& geometry) {
  const WeightsStrides strides = weights_strides(geometry);
  const std::int64_t multiplier = geometry.multiplier, channels = geometry.channels, batch = geometry.batch;
  const std::int64_t kernel_rows = geometry.y.kernel, kernel_columns = geometry.x.kernel;
  const std::int64_t taps = kernel_rows * kernel_columns;
  const std::int64_t source_plane = geometry.y.input * geometry.x.input;
  const std::int64_t gradient_plane = geometry.y.output * geometry.x.output;
  const std::int64_t accumulators = taps * kernels<T>().depthwise_convolution.lanes;
  const std::int64_t outputs = channels * multiplier;

  // Planes of one image follow each other in memory: the images are the outer loop, over a block of channels whose
  // accumulators stay in the second-level cache.
  constexpr std::int64_t cached_bytes = 192 * 1024;
  const std::int64_t block =
      std::max<std::int64_t>(1, cached_bytes / (accumulators * static_cast<std::int64_t>(sizeof(T))));

  PlaneWeightsGradient<T> shape{};
  shape.y = correlation_phases(geometry.y).front();
  shape.x = correlation_phases(geometry.x).front();
  shape.source_rows = geometry.y.input;
  shape.source_columns = geometry.x.input;
  shape.fetch_ahead = leaves_caches<T>(geometry);

  ScratchLayout layout;
  const Slot<T> accumulator_slot =
      layout.reserve<T>(std::min(block, std::max<std::int64_t>(outputs, 1)) * accumulators);
  const Slot<T> sums_slot = layout.reserve<T>(taps);
  Kernel kernel;
  kernel.scratch_per_thread = layout.bytes();
  kernel.run = [=, zeros = std::vector<T>(static_cast<std::size_t>(geometry.x.input))](const Invocation& invocation) {
    const DepthwiseConvolutionKernels<T>& isa = kernels<T>().depthwise_convolution;
    const std::int64_t chunks = item_chunk_count(invocation, outputs, batch * gradient_plane * taps);
    parallel_for(chunks, [&](std::int64_t chunk) {
      T* sums = per_thread(invocation, chunk, sums_slot);
      T* block_accumulators = per_thread(invocation, chunk, accumulator_slot);
      const Range range = split_range(outputs, chunk, chunks);
      for (std::int64_t begin = range.begin; begin < range.end; begin += block) {
        const std::int64_t end = std::min(range.end, begin + block);
        std::memset(block_accumulators, 0, static_cast<std::size_t>((end - begin) * accumulators) * sizeof(T));
        for (std::int64_t n = 0; n < batch; ++n) {
          for (std::int64_t output = begin; output < end; ++output) {
            PlaneWeightsGradient<T> plane = shape;
            plane.zeros = zeros.data();
            plane.source = invocation.input<T>(1) + (n * channels + output / multiplier) * source_plane;
            plane.gradient = invocation.input<T>(0) + (n * outputs + output) * gradient_plane;
            plane.accumulators = block_accumulators + (output - begin) * accumulators;
            isa.weights_gradient_plane(plane);
          }
        }
        for (std::int64_t output = begin; output < end; ++output) {
          isa.sum_accumulators(block_accumulators + (output - begin) * accumulators, taps, sums);
          T* weights = invocation.output<T>(0) + output / multiplier * strides.channel +
                       output % multiplier * strides.multiplier;
          for (std::int64_t i = 0; i < kernel_rows; ++i)
            for (std::int64_t j = 0; j < kernel_columns; ++j)
              weights[i * strides.row + j * strides.column] = sums[i * kernel_columns + j];
        }
      }
    });
  };
  return kernel;
}

template Kernel make_plane_correlation<float>(const DepthwiseConvolution2DGeometry&, bool);
template Kernel make_plane_correlation<double>(const DepthwiseConvolution2DGeometry&, bool);
template Kernel make_plane_weights_gradient<float>(const DepthwiseConvolution2DGeometry&);
template Kernel make_plane_weights_gradient<double>(const DepthwiseConvolution2DGeometry&);

}  // namespace mpsgraph_native::cpu
