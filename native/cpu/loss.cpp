#include "cpu/dispatch.hpp"
#include "cpu/kernels.hpp"
#include "cpu/lines.hpp"

namespace mpsgraph_native::cpu {
namespace {

constexpr std::int64_t exponential_grain = default_grain / 4;

}  // namespace

Kernel make_kernel(const SoftmaxCrossEntropy& attributes, const KernelRequest& request) {
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    const AxisView view = view_axis(request.input(0).shape, attributes.axis);
    const LossReductionType reduction = attributes.reduction_type;
    ScratchLayout scratch;
    const Slot<T> losses_slot = scratch.reserve<T>(reduction == LossReductionType::None ? 0 : view.lines());
    return Kernel{
        .shared_scratch = scratch.bytes(), .run = [=](const Invocation& invocation) {
          T* losses = reduction == LossReductionType::None ? invocation.output<T>(0) : shared(invocation, losses_slot);
          for_each_lines(invocation, view, exponential_grain,
                         [&](const Lines& lines, std::int64_t offset, std::int64_t first) {
                           kernels<T>().softmax.cross_entropy(lines, invocation.input<T>(0) + offset,
                                                              invocation.input<T>(1) + offset, losses + first);
                         });
          if (reduction == LossReductionType::None) return;
          const auto sum = kernels<T>().reduction.elements[static_cast<std::size_t>(ReductionFunction::Sum)];
          const T total = sum(losses, view.lines());
          *invocation.output<T>(0) =
              reduction == LossReductionType::Mean ? total / static_cast<T>(view.lines()) : total;
        }};
  });
}

Kernel make_kernel(const SoftmaxCrossEntropyGradient& attributes, const KernelRequest& request) {
  return for_floating(request.input(1).dtype, [&]<class T>(std::type_identity<T>) {
    const AxisView view = view_axis(request.input(1).shape, attributes.axis);
    const std::int64_t gradient_stride = attributes.reduction_type == LossReductionType::None ? 1 : 0;
    const T factor = attributes.reduction_type == LossReductionType::Mean ? T(1) / static_cast<T>(view.lines()) : T(1);
    return Kernel{.run = [=](const Invocation& invocation) {
      for_each_lines(
          invocation, view, exponential_grain, [&](const Lines& lines, std::int64_t offset, std::int64_t first) {
            kernels<T>().softmax.cross_entropy_gradient(
                lines, invocation.input<T>(0) + first * gradient_stride, gradient_stride, factor,
                invocation.input<T>(1) + offset, invocation.input<T>(2) + offset, invocation.output<T>(0) + offset);
          });
    }};
  });
}

}  // namespace mpsgraph_native::cpu
