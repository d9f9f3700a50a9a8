#include <algorithm>
#include <cstring>
#include <memory>

#include "cpu/convolution_correlation.hpp"
#include "cpu/convolution_weights_gradient.hpp"
#include "cpu/kernels.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {
namespace {

// The choice of algorithm is here: every convolution runs as an indirect matrix product.

// Below about this many products a second thread costs more than it saves.
constexpr std::int64_t products_worth_threads = 1 << 20;

ImageTensor image_tensor(const Convolution2DDescriptor& descriptor, std::int64_t channels, std::int64_t height,
                         std::int64_t width) {
  return {channels, height, width, descriptor.data_layout == TensorNamedDataLayout::NHWC};
}

std::int64_t products(const Convolution2DGeometry& geometry) {
  // Without channels or images the other sizes are unbounded.
  if (geometry.batch == 0 || geometry.input_channels == 0 || geometry.output_channels == 0) return 0;
  return geometry.batch * geometry.y.output * geometry.x.output * geometry.y.kernel * geometry.x.kernel *
         geometry.input_channels / geometry.groups * geometry.output_channels;
}

template <class T>
void fill_zeros(T* result, std::int64_t elements, int threads) {
  parallel_for(threads, [&](std::int64_t chunk) {
    const Range range = split_range(elements, chunk, threads);
    std::fill(result + range.begin, result + range.end, T(0));
  });
}

template <class T>
Kernel zeros_kernel(std::int64_t elements) {
  return {0, 0, [elements](const Invocation& invocation) { fill_zeros(invocation.output<T>(0), elements, 1); }};
}

/// Runs correlations one after another. Where they do not write every element of the result, it is zeroed first.
template <class T>
Kernel correlations_kernel(const Convolution2DGeometry& geometry, const CorrelationSizes& sizes,
                           const std::vector<CorrelationAxis>& y_axes, const std::vector<CorrelationAxis>& x_axes,
                           std::int64_t result_elements) {
  ScratchLayout shared_scratch, thread_scratch;
  std::vector<Correlation<T>> correlations;
  std::int64_t rows = 0, columns = 0;
  for (const CorrelationAxis& y : y_axes) rows += y.outputs;
  for (const CorrelationAxis& x : x_axes) columns += x.outputs;
  for (const CorrelationAxis& y : y_axes)
    for (const CorrelationAxis& x : x_axes) {
      // Correlations run one at a time and share the scratch of a thread.
      ScratchLayout own;
      correlations.emplace_back(sizes, y, x, shared_scratch, own);
      if (own.bytes() > thread_scratch.bytes()) thread_scratch = own;
    }
  const bool covered = rows == sizes.result.height && columns == sizes.result.width;
  const bool worth_threads = products(geometry) >= products_worth_threads;
  auto plan = std::make_shared<const std::vector<Correlation<T>>>(std::move(correlations));
  return {shared_scratch.bytes(), thread_scratch.bytes(),
          [plan, covered, worth_threads, result_elements](const Invocation& invocation) {
            const int threads = worth_threads ? invocation.threads : 1;
            T* result = invocation.output<T>(0);
            if (!covered) fill_zeros(result, result_elements, threads);
            for (const Correlation<T>& correlation : *plan)
              correlation.run(invocation, invocation.input<T>(0), invocation.input<T>(1), result, threads);
          }};
}

struct WeightsTensor {
  std::int64_t output = 0, input = 0, y = 0, x = 0;  // strides

  WeightsTensor(const Convolution2DDescriptor& descriptor, const Convolution2DGeometry& geometry) {
    const std::int64_t inputs = geometry.input_channels / geometry.groups;
    if (descriptor.weights_layout == TensorNamedDataLayout::HWIO) {
      output = 1;
      input = geometry.output_channels;
      x = inputs * input;
      y = geometry.x.kernel * x;
    } else {
      x = 1;
      y = geometry.x.kernel;
      input = geometry.y.kernel * y;
      output = inputs * input;
    }
  }
};

}  // namespace

Kernel make_kernel(const Convolution2D& attributes, const KernelRequest& request) {
  const Convolution2DDescriptor& descriptor = attributes.descriptor;
  const Convolution2DGeometry geometry = convolution_2d_geometry(
      Convolution2D::name, descriptor, request.input(0).shape, "source", request.input(1).shape, "weights");
  const WeightsTensor weights(descriptor, geometry);
  CorrelationSizes sizes;
  sizes.batch = geometry.batch;
  sizes.groups = geometry.groups;
  sizes.channels = geometry.input_channels / geometry.groups;
  sizes.rows = geometry.output_channels / geometry.groups;
  sizes.input = image_tensor(descriptor, geometry.input_channels, geometry.y.input, geometry.x.input);
  sizes.result = image_tensor(descriptor, geometry.output_channels, geometry.y.output, geometry.x.output);
  sizes.weights = {sizes.rows * weights.output, weights.output, weights.input, weights.y, weights.x};
  return for_floating(request.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const std::int64_t elements = request.outputs[0].shape.elements();
    if (products(geometry) == 0) return zeros_kernel<T>(elements);
    return correlations_kernel<T>(geometry, sizes, {forward_axis(geometry.y)}, {forward_axis(geometry.x)}, elements);
  });
}

Kernel make_kernel(const Convolution2DDataGradient& attributes, const KernelRequest& request) {
  const Convolution2DDescriptor& descriptor = attributes.descriptor;
  const Convolution2DGeometry geometry =
      convolution_2d_geometry(Convolution2DDataGradient::name, descriptor, request.outputs[0].shape, "output_shape",
                              request.input(1).shape, "weights");
  const WeightsTensor weights(descriptor, geometry);
  CorrelationSizes sizes;
  sizes.batch = geometry.batch;
  sizes.groups = geometry.groups;
  sizes.channels = geometry.output_channels / geometry.groups;
  sizes.rows = geometry.input_channels / geometry.groups;
  sizes.input = image_tensor(descriptor, geometry.output_channels, geometry.y.output, geometry.x.output);
  sizes.result = image_tensor(descriptor, geometry.input_channels, geometry.y.input, geometry.x.input);
  sizes.weights = {sizes.channels * weights.output, weights.input, weights.output, weights.y, weights.x};
  return for_floating(request.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const std::int64_t elements = request.outputs[0].shape.elements();
    if (products(geometry) == 0) return zeros_kernel<T>(elements);
    return correlations_kernel<T>(geometry, sizes, data_gradient_axes(geometry.y), data_gradient_axes(geometry.x),
                                  elements);
  });
}

Kernel make_kernel(const Convolution2DWeightsGradient& attributes, const KernelRequest& request) {
  const Convolution2DDescriptor& descriptor = attributes.descriptor;
  const Convolution2DGeometry geometry =
      convolution_2d_geometry(Convolution2DWeightsGradient::name, descriptor, request.input(1).shape, "source",
                              request.outputs[0].shape, "output_shape");
  WeightsGradientSizes sizes;
  sizes.batch = geometry.batch;
  sizes.groups = geometry.groups;
  sizes.input_channels = geometry.input_channels / geometry.groups;
  sizes.output_channels = geometry.output_channels / geometry.groups;
  sizes.source = image_tensor(descriptor, geometry.input_channels, geometry.y.input, geometry.x.input);
  sizes.incoming = image_tensor(descriptor, geometry.output_channels, geometry.y.output, geometry.x.output);
  sizes.y = forward_axis(geometry.y);
  sizes.x = forward_axis(geometry.x);
  sizes.output_last = descriptor.weights_layout == TensorNamedDataLayout::HWIO;
  return for_floating(request.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if (products(geometry) == 0) return zeros_kernel<T>(request.outputs[0].shape.elements());
    ScratchLayout shared_scratch, thread_scratch;
    auto plan = std::make_shared<const WeightsGradient<T>>(sizes, shared_scratch, thread_scratch);
    const bool worth_threads = products(geometry) >= products_worth_threads;
    return Kernel{shared_scratch.bytes(), thread_scratch.bytes(), [plan, worth_threads](const Invocation& invocation) {
                    plan->run(invocation, invocation.input<T>(0), invocation.input<T>(1), invocation.output<T>(0),
                              worth_threads ? invocation.threads : 1);
                  }};
  });
}

}  // namespace mpsgraph_native::cpu
