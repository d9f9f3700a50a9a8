#include "cpu/dispatch.hpp"
#include "cpu/kernels.hpp"
#include "cpu/lines.hpp"

namespace mpsgraph_native::cpu {
namespace {

constexpr std::int64_t exponential_grain = default_grain / 4;

template <class T>
Kernel unary_kernel(const KernelRequest& request, std::int64_t grain, typename ElementwiseKernels<T>::Unary unary) {
  return {.run = [elements = request.input(0).shape.elements(), grain, unary](const Invocation& invocation) {
    for_each_chunk(invocation, elements, grain, [&](std::int64_t begin, std::int64_t end) {
      unary(invocation.input<T>(0) + begin, end - begin, invocation.output<T>(0) + begin);
    });
  }};
}

template <class T, class Gradient>
Kernel gradient_kernel(const KernelRequest& request, std::int64_t grain, Gradient gradient) {
  return {.run = [elements = request.input(0).shape.elements(), grain, gradient](const Invocation& invocation) {
    for_each_chunk(invocation, elements, grain, [&](std::int64_t begin, std::int64_t end) {
      gradient(invocation.input<T>(0) + begin, invocation.input<T>(1) + begin, end - begin,
               invocation.output<T>(0) + begin);
    });
  }};
}

}  // namespace

Kernel make_kernel(const Relu&, const KernelRequest& request) {
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return unary_kernel<T>(request, default_grain, kernels<T>().elementwise.relu);
  });
}

Kernel make_kernel(const ReluGradient&, const KernelRequest& request) {
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return gradient_kernel<T>(request, default_grain, kernels<T>().elementwise.relu_gradient);
  });
}

Kernel make_kernel(const Sigmoid&, const KernelRequest& request) {
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return unary_kernel<T>(request, exponential_grain, kernels<T>().elementwise.sigmoid);
  });
}

Kernel make_kernel(const SigmoidGradient&, const KernelRequest& request) {
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return gradient_kernel<T>(request, exponential_grain, kernels<T>().elementwise.sigmoid_gradient);
  });
}

Kernel make_kernel(const Softmax& attributes, const KernelRequest& request) {
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return Kernel{.run = [view = view_axis(request.input(0).shape, attributes.axis)](const Invocation& invocation) {
      for_each_lines(invocation, view, exponential_grain, [&](const Lines& lines, std::int64_t offset, std::int64_t) {
        kernels<T>().softmax.softmax(lines, invocation.input<T>(0) + offset, invocation.output<T>(0) + offset);
      });
    }};
  });
}

Kernel make_kernel(const SoftmaxGradient& attributes, const KernelRequest& request) {
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return Kernel{.run = [view = view_axis(request.input(1).shape, attributes.axis)](const Invocation& invocation) {
      for_each_lines(invocation, view, exponential_grain, [&](const Lines& lines, std::int64_t offset, std::int64_t) {
        kernels<T>().softmax.softmax_gradient(lines, invocation.input<T>(0) + offset, invocation.input<T>(1) + offset,
                                              invocation.output<T>(0) + offset);
      });
    }};
  });
}

}  // namespace mpsgraph_native::cpu
