#include "cpu/half_precision.hpp"

#include "cpu/half_precision_conversion.hpp"
#include "cpu/half_precision_parts.hpp"

namespace mpsgraph_native::cpu {
namespace {

/// One operand that changes its type on the way.
struct Converted {
  std::size_t index;
  std::int64_t count;
  DataType dtype;
  Slot<float> slot;
};

/// Everything is converted at once.
struct Plan {
  Kernel inner;
  std::vector<Converted> inputs, outputs;
  std::size_t input_count, output_count;
  std::size_t own_scratch;

  void run(const Invocation& invocation) const {
    OperandPointers pointers(invocation);
    for (const Converted& operand : inputs) {
      float* wide = shared(invocation, operand.slot);
      widen_on_threads(operand.dtype, invocation.input<std::uint16_t>(operand.index), operand.count, wide);
      pointers.inputs[operand.index] = wide;
    }
    for (const Converted& operand : outputs) pointers.outputs[operand.index] = shared(invocation, operand.slot);
    inner.run({std::span(pointers.inputs.data(), input_count), std::span(pointers.outputs.data(), output_count),
               invocation.scratch + own_scratch, invocation.threads, inner.shared_scratch, inner.scratch_per_thread});
    for (const Converted& operand : outputs)
      narrow_on_threads(operand.dtype, shared(invocation, operand.slot), operand.count,
                        invocation.output<std::uint16_t>(operand.index));
  }
};

Kernel converted_at_once(const Operation& operation, const KernelRequest& request, const KernelMaker& make) {
  Plan plan;
  ScratchLayout layout;
  plan.input_count = request.inputs.size();
  plan.output_count = request.outputs.size();

  std::vector<TensorType> wide_inputs(request.inputs.size()), wide_outputs;
  std::vector<const TensorType*> wide_pointers;
  const auto widen = [&](std::size_t index, const TensorType& type, std::vector<Converted>& converted) {
    if (!is_half(type.dtype)) return type;
    const std::int64_t count = type.shape.elements();
    converted.push_back({index, count, type.dtype, layout.reserve<float>(count)});
    return widened(type);
  };
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.has(i)) wide_inputs[i] = widen(i, request.input(i), plan.inputs);
    wide_pointers.push_back(request.has(i) ? &wide_inputs[i] : nullptr);
  }
  for (std::size_t i = 0; i < request.outputs.size(); ++i)
    wide_outputs.push_back(widen(i, request.outputs[i], plan.outputs));

  plan.inner = make(operation, {wide_pointers, wide_outputs});
  plan.own_scratch = layout.bytes();
  Kernel kernel;
  kernel.shared_scratch = layout.bytes() + plan.inner.shared_scratch;
  kernel.scratch_per_thread = plan.inner.scratch_per_thread;
  kernel.algorithm = plan.inner.algorithm;
  kernel.operations = plan.inner.operations;
  kernel.run = [plan = std::move(plan)](const Invocation& invocation) { plan.run(invocation); };
  return kernel;
}

}  // namespace

Kernel with_half_precision(const Operation& operation, const KernelRequest& request, const KernelMaker& make) {
  if (std::optional<Kernel> kernel = converted_in_parts(operation, request, make)) return std::move(*kernel);
  return converted_at_once(operation, request, make);
}

}  // namespace mpsgraph_native::cpu
