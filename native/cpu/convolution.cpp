#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "cpu/convolution_correlation.hpp"
#include "cpu/convolution_flat.hpp"
#include "cpu/convolution_narrow.hpp"
#include "cpu/convolution_pointwise.hpp"
#include "cpu/convolution_weights_gradient.hpp"
#include "cpu/kernels.hpp"
#include "cpu/winograd_correlation.hpp"
#include "cpu/winograd_weights_gradient.hpp"
#include "runtime/device_settings.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {
namespace {

// The choice of algorithm is here, for the reasons measured on one thread with AVX-512:
// - Every convolution can run as an indirect matrix product, with panels of channels: 0.8 to 0.9 of the peak where
//   there are tens of channels, for any stride and layout.
// - Correlations with a few result channels, such as the data gradient of a network's first layer or a last layer's
//   forward pass, would leave most lanes of a panel empty. With neighbouring pixels in the lanes they take 0.15 to 0.5
//   of the time of panels (64 to 3 channels of 112 x 112, 3 to 64 channels of 224 x 224 with 7 x 7 at stride 2).
// - 1 x 1 kernels on planes are products of matrices. With panels of pixels no tile has to be transposed into the
//   planes of the result.
// - Small ones of few result channels run on flat images: packing panels would take longer than the products.
// - 3 x 3 kernels with strides 1 or 2 in float32 run by Winograd's minimal filtering where its transforms cost less
//   than the products that it saves.

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

template <template <class> class Algorithm, class T>
Kernel correlation_kernel(const Convolution2DGeometry& geometry, const CorrelationSizes& sizes,
                          const CorrelationAxes& axes, std::int64_t result_elements) {
  ScratchLayout shared_scratch, thread_scratch;
  auto plan = std::make_shared<const Algorithm<T>>(sizes, axes, shared_scratch, thread_scratch);
  std::int64_t rows = 0, columns = 0;
  for (const CorrelationAxis& y : axes.y) rows += y.outputs;
  for (const CorrelationAxis& x : axes.x) columns += x.outputs;
  // What no correlation writes is zeroed first.
  const bool covered = rows == sizes.result.height && columns == sizes.result.width;
  const bool worth_threads = products(geometry) >= products_worth_threads;
  return {shared_scratch.bytes(), thread_scratch.bytes(),
          [plan, covered, worth_threads, result_elements](const Invocation& invocation) {
            const int threads = worth_threads ? invocation.threads : 1;
            T* result = invocation.output<T>(0);
            if (!covered) fill_zeros(result, result_elements, threads);
            plan->run(invocation, invocation.input<T>(0), invocation.input<T>(1), result, threads);
          },
          Algorithm<T>::name, 2.0 * static_cast<double>(products(geometry))};
}

// What transforming one weight and back costs, in products: while its 36 points stay in the outer cache, and beyond.
constexpr std::int64_t winograd_cost_of_weight = 250, winograd_cost_of_far_weight = 900;
constexpr std::int64_t near_weights = (1 << 20) / (winograd_weights_points * std::int64_t{sizeof(float)});
// Fewer channels leave the vectors of the transforms half empty.
constexpr std::int64_t winograd_channels = 16;
// With stride 2 more transformed points save fewer products: 16 to 16 channels took 1.1 times the direct time, 16 to 32
// 0.9 times. So many products must come of each transformed value.
constexpr std::int64_t strided_winograd_products = 10;

/// Measured on some twenty shapes from 1 to 32 images of 2² to 112² pixels with AVX-512: where this holds, Winograd
/// took 0.3 to 0.85 of the direct time, elsewhere 0.8 to 3 times that; with stride 2, on fifteen shapes, 0.5 to 0.96.
bool winograd_pays(const Convolution2DGeometry& geometry, const WinogradScheme& scheme, std::int64_t height,
                   std::int64_t width) {
  const std::int64_t inputs = geometry.input_channels / geometry.groups;
  const std::int64_t outputs = geometry.output_channels / geometry.groups;
  if (inputs < winograd_channels || outputs < winograd_channels) return false;
  const bool strided = scheme.points() > winograd_weights_points;
  if (strided && inputs * outputs < strided_winograd_products * (inputs + outputs)) return false;
  // Per weight: tiles reach over the edge of the image, and their own transforms cost a fifth of the products.
  const std::int64_t tiles = geometry.batch * ((height + scheme.results - 1) / scheme.results) *
                             ((width + scheme.results - 1) / scheme.results);
  const std::int64_t cost = tiles * scheme.points() * 6 / 5 +
                            (inputs * outputs <= near_weights ? winograd_cost_of_weight : winograd_cost_of_far_weight);
  return cost < geometry.batch * geometry.y.output * geometry.x.output * 9;
}

struct WinogradChoice {
  WinogradScheme scheme;
  WinogradAxis y, x;
};

/// For results of such a height and width.
std::optional<WinogradChoice> choose_winograd(const Convolution2DGeometry& geometry, const CorrelationAxes& axes,
                                              std::int64_t height, std::int64_t width) {
  if (device_settings().precision == Precision::Exact) return std::nullopt;
  const std::optional<WinogradAxis> y = winograd_axis(axes.y), x = winograd_axis(axes.x);
  if (!y || !x || y->kind != x->kind) return std::nullopt;
  const WinogradScheme scheme = winograd_scheme(y->kind);
  if (!winograd_pays(geometry, scheme, height, width)) return std::nullopt;
  return WinogradChoice{scheme, *y, *x};
}

// More result channels than this fill the vectors of a panel, and more floats than these leave the inner caches.
constexpr std::int64_t flat_rows = 8, flat_elements = 1 << 16;

/// Measured on some thirty shapes of up to a million products, in float32 and float64, with SSE2, AVX2 and AVX-512:
/// where this holds, flat images took 0.2 to 1 of the time of panels (with SSE2 up to 1.1), elsewhere 0.6 to 3 times
/// that, mostly above 1. One tap is a plain matrix product. `slack` is what a panel's packing is worth in products.
template <class T>
bool flat_pays(const Convolution2DGeometry& geometry, const CorrelationAxis& y, const CorrelationAxis& x,
               std::int64_t rows, std::int64_t images_at_once, double slack) {
  if (!FlatImages::fits(y, x, flat_elements) || y.taps * x.taps == 1 || rows > flat_rows) return false;
  if (products(geometry) >= products_worth_threads) return false;
  const std::int64_t lanes = kernels<T>().flat_convolution.lanes;
  const FlatImages images({}, y, x, static_cast<int>(lanes));
  const std::int64_t channels = geometry.input_channels + geometry.output_channels;
  if (images_at_once * channels * images.plane() > flat_elements) return false;
  const std::int64_t panels = y.outputs * x.outputs * ((rows + lanes - 1) / lanes);
  return static_cast<double>(rows * images.vectors()) <= slack * static_cast<double>(panels);
}

// So few channels that the time is that of writing the result.
constexpr std::int64_t shallow_channels = 64;

/// Measured on some fifty shapes of 1 x 1 kernels from 1 x 1 to 112 x 112 pixels. With AVX-512, where this holds,
/// panels of pixels took 0.4 to 1 of the time of panels of channels, elsewhere 0.95 to 1.05; with the shorter vectors
/// of AVX2 and SSE2, whose panels cut the rows of planes into shorter runs, 0.7 to 1.6.
template <class T>
bool pointwise_pays(const CorrelationSizes& sizes) {
  const auto lanes = kernels<T>().matrix.lanes;
  if (lanes * sizeof(T) < 64) return false;
  // Results of other panels share lines of the cache where planes are not whole ones.
  return sizes.result.height * sizes.result.width % lanes == 0 || sizes.channels <= shallow_channels;
}

/// Runs `fast` and, where a result of it is not finite, `exact` after it. They share the scratch.
template <class Fast>
Kernel checked_kernel(const std::shared_ptr<const Fast>& fast, std::size_t shared_scratch, std::size_t thread_scratch,
                      bool worth_threads, Kernel exact) {
  const double operations = exact.operations;
  return {std::max(shared_scratch, exact.shared_scratch), std::max(thread_scratch, exact.scratch_per_thread),
          [fast, worth_threads, run = std::move(exact.run)](const Invocation& invocation) {
            if (!fast->run(invocation, invocation.input<float>(0), invocation.input<float>(1),
                           invocation.output<float>(0), worth_threads ? invocation.threads : 1))
              run(invocation);
          },
          fast->name(), operations};
}

template <class T>
Kernel choose_correlation(const Convolution2DGeometry& geometry, const CorrelationSizes& sizes,
                          const CorrelationAxes& axes, std::int64_t result_elements) {
  if (axes.y.empty() || axes.x.empty()) return zeros_kernel<T>(result_elements);
  if (flat_pays<T>(geometry, axes.y[0], axes.x[0], sizes.rows, 1, 1.25)) {
    ScratchLayout scratch;
    auto plan = std::make_shared<const FlatCorrelation<T>>(sizes, axes.y[0], axes.x[0], scratch);
    return {scratch.bytes(), 0,
            [plan](const Invocation& invocation) {
              plan->run(invocation, invocation.input<T>(0), invocation.input<T>(1), invocation.output<T>(0));
            },
            FlatImages::name, 2.0 * static_cast<double>(products(geometry))};
  }
  if (NarrowCorrelation<T>::fits(sizes, axes))
    return correlation_kernel<NarrowCorrelation, T>(geometry, sizes, axes, result_elements);
  if (PointwiseCorrelation<T>::fits(sizes, axes) && pointwise_pays<T>(sizes))
    return correlation_kernel<PointwiseCorrelation, T>(geometry, sizes, axes, result_elements);
  Kernel direct = correlation_kernel<Correlation, T>(geometry, sizes, axes, result_elements);
  if constexpr (std::is_same_v<T, float>) {
    if (const auto winograd = choose_winograd(geometry, axes, sizes.result.height, sizes.result.width)) {
      ScratchLayout shared_scratch, thread_scratch;
      auto plan = std::make_shared<const WinogradCorrelation>(sizes, winograd->scheme, winograd->y, winograd->x,
                                                              shared_scratch, thread_scratch);
      return checked_kernel(plan, shared_scratch.bytes(), thread_scratch.bytes(),
                            products(geometry) >= products_worth_threads, std::move(direct));
    }
  }
  return direct;
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
    return choose_correlation<T>(geometry, sizes, {{forward_axis(geometry.y)}, {forward_axis(geometry.x)}}, elements);
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
    return choose_correlation<T>(geometry, sizes, {data_gradient_axes(geometry.y), data_gradient_axes(geometry.x)},
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
    Kernel direct{shared_scratch.bytes(), thread_scratch.bytes(),
                  [plan, worth_threads](const Invocation& invocation) {
                    plan->run(invocation, invocation.input<T>(0), invocation.input<T>(1), invocation.output<T>(0),
                              worth_threads ? invocation.threads : 1);
                  },
                  "indirect matrix product", 2.0 * static_cast<double>(products(geometry))};
    if (flat_pays<T>(geometry, sizes.y, sizes.x, sizes.output_channels, sizes.batch, 1)) {
      ScratchLayout scratch;
      auto flat = std::make_shared<const FlatWeightsGradient<T>>(sizes, scratch);
      const double operations = direct.operations;
      return Kernel{
          std::max(scratch.bytes(), shared_scratch.bytes() + thread_scratch.bytes()), 0,
          [flat, direct = std::move(direct)](const Invocation& invocation) {
            if (!flat->run(invocation, invocation.input<T>(0), invocation.input<T>(1), invocation.output<T>(0)))
              direct.run({invocation.inputs, invocation.outputs, invocation.scratch, 1, direct.shared_scratch,
                          direct.scratch_per_thread});
          },
          FlatImages::name, operations};
    }
    if constexpr (std::is_same_v<T, float>) {
      const CorrelationAxes axes{{sizes.y}, {sizes.x}};
      if (const auto winograd = choose_winograd(geometry, axes, sizes.y.outputs, sizes.x.outputs)) {
        ScratchLayout fast_shared, fast_thread;
        auto fast = std::make_shared<const WinogradWeightsGradient>(sizes, winograd->scheme, fast_shared, fast_thread);
        return checked_kernel(fast, fast_shared.bytes(), fast_thread.bytes(), worth_threads, std::move(direct));
      }
    }
    return direct;
  });
}

}  // namespace mpsgraph_native::cpu
