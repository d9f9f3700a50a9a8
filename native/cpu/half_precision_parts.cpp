#include "cpu/half_precision_parts.hpp"

#include "cpu/half_precision_conversion.hpp"
#include "cpu/operation_parts.hpp"
#include "cpu/partition.hpp"

namespace mpsgraph_native::cpu {
namespace {

/// Of the float32 operands of a part: they are to stay in a core's own cache, next to what the kernel needs.
constexpr std::int64_t bytes_of_a_part = 1 << 18;

/// An operand or result of all parts.
struct Operand {
  DataType dtype = DataType::Float32;
  std::int64_t elements = 0;  ///< of an item where it is cut, else of the whole
  bool present = false, cut = false;
  Slot<float> wide{};  ///< where a half type is widened: per thread where it is cut or summed, else shared
  Slot<float> sum{};   ///< per thread, of results that are summed

  const std::byte* at(const void* begin, std::int64_t item) const {
    return static_cast<const std::byte*>(begin) + (cut ? item * elements * bytes_per_element() : 0);
  }
  std::int64_t bytes_per_element() const { return static_cast<std::int64_t>(byte_size(dtype)); }
};

struct Plan {
  std::int64_t items, items_per_part;
  bool summed;
  std::vector<Operand> inputs, outputs;
  Kernel part, last;  ///< of `items_per_part` items, and of the rest
  std::size_t own_scratch_per_thread;

  std::int64_t parts() const { return (items + items_per_part - 1) / items_per_part; }

  void run(const Invocation& invocation) const {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].present && !inputs[i].cut && is_half(inputs[i].dtype))
        widen_on_threads(inputs[i].dtype, invocation.input<std::uint16_t>(i), inputs[i].elements,
                         shared(invocation, inputs[i].wide));
    // A thread's parts follow each other, so that sums depend on the number of threads alone.
    const std::int64_t threads = std::min<std::int64_t>(invocation.threads, parts());
    parallel_for(threads, [&](std::int64_t thread) {
      const Range range = split_range(parts(), thread, threads);
      for (std::int64_t index = range.begin; index < range.end; ++index)
        run_part(invocation, thread, index, index == range.begin);
    });
    if (!summed) return;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      float* sum = per_thread(invocation, 0, outputs[i].sum);
      for (std::int64_t thread = 1; thread < threads; ++thread)
        kernels<float>().matrix.add(per_thread(invocation, thread, outputs[i].sum), outputs[i].elements, sum);
      narrow(outputs[i].dtype, sum, outputs[i].elements, invocation.output<std::uint16_t>(i));
    }
  }

  void run_part(const Invocation& invocation, std::int64_t thread, std::int64_t index, bool first) const {
    const std::int64_t begin = index * items_per_part;
    const std::int64_t count = std::min(items_per_part, items - begin);
    OperandPointers pointers(invocation);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Operand& operand = inputs[i];
      if (!operand.present) continue;
      const std::byte* source = operand.at(invocation.inputs[i], begin);
      pointers.inputs[i] = source;
      if (!is_half(operand.dtype)) continue;
      float* wide = operand.cut ? per_thread(invocation, thread, operand.wide) : shared(invocation, operand.wide);
      if (operand.cut)
        widen(operand.dtype, reinterpret_cast<const std::uint16_t*>(source), count * operand.elements, wide);
      pointers.inputs[i] = wide;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Operand& operand = outputs[i];
      pointers.outputs[i] = const_cast<std::byte*>(operand.at(invocation.outputs[i], begin));
      if (summed)
        pointers.outputs[i] = per_thread(invocation, thread, first ? operand.sum : operand.wide);
      else if (is_half(operand.dtype))
        pointers.outputs[i] = per_thread(invocation, thread, operand.wide);
    }
    const Kernel& kernel = count == items_per_part ? part : last;
    std::byte* scratch = per_thread(invocation, thread, Slot<std::byte>{own_scratch_per_thread});
    kernel.run({std::span(pointers.inputs.data(), inputs.size()), std::span(pointers.outputs.data(), outputs.size()),
                scratch, 1, kernel.shared_scratch, kernel.scratch_per_thread});
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Operand& operand = outputs[i];
      const float* wide = per_thread(invocation, thread, operand.wide);
      if (summed && !first)
        kernels<float>().matrix.add(wide, operand.elements, per_thread(invocation, thread, operand.sum));
      else if (!summed && is_half(operand.dtype))
        narrow(operand.dtype, wide, count * operand.elements,
               reinterpret_cast<std::uint16_t*>(const_cast<std::byte*>(operand.at(invocation.outputs[i], begin))));
    }
  }
};

Operand operand_of(const TensorType& type, bool cut, std::int64_t items) {
  Operand operand;
  operand.present = true;
  operand.dtype = type.dtype;
  operand.cut = cut;
  operand.elements = type.shape.elements() / (cut ? items : 1);
  return operand;
}

Kernel kernel_of_part(const Operation& operation, const KernelRequest& request, const Cut& cut, std::int64_t items,
                      const KernelMaker& make) {
  std::vector<TensorType> inputs(request.inputs.size()), outputs;
  std::vector<const TensorType*> pointers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = widened(cut.inputs[i]);
    if (cut.input_is_cut[i] && request.has(i)) inputs[i].shape[0] = items;
    pointers.push_back(request.has(i) ? &inputs[i] : nullptr);
  }
  for (const TensorType& output : cut.outputs) {
    outputs.push_back(widened(output));
    if (!cut.results_are_summed) outputs.back().shape[0] = items;
  }
  return make(part_of(operation, cut, items), {pointers, outputs});
}

}  // namespace

std::optional<Kernel> converted_in_parts(const Operation& operation, const KernelRequest& request,
                                         const KernelMaker& make) {
  const std::optional<Cut> cut = cut_of(operation, request);
  if (!cut) return std::nullopt;
  Plan plan;
  plan.items = cut->items;
  plan.summed = cut->results_are_summed;
  std::int64_t elements_per_item = 0;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    plan.inputs.push_back(request.has(i) ? operand_of(cut->inputs[i], cut->input_is_cut[i], cut->items) : Operand{});
    if (plan.inputs[i].cut) elements_per_item += plan.inputs[i].elements;
  }
  for (const TensorType& type : cut->outputs) {
    plan.outputs.push_back(operand_of(type, !plan.summed, cut->items));
    if (!plan.summed) elements_per_item += plan.outputs.back().elements;
  }
  constexpr std::int64_t elements_of_a_part = bytes_of_a_part / static_cast<std::int64_t>(sizeof(float));
  plan.items_per_part = std::max<std::int64_t>(elements_of_a_part / std::max<std::int64_t>(elements_per_item, 1), 1);
  if (plan.items_per_part >= plan.items) return std::nullopt;

  ScratchLayout shared_layout, thread_layout;
  for (Operand& operand : plan.inputs)
    if (operand.present && is_half(operand.dtype))
      operand.wide = operand.cut ? thread_layout.reserve<float>(operand.elements * plan.items_per_part)
                                 : shared_layout.reserve<float>(operand.elements);
  for (Operand& operand : plan.outputs) {
    if (plan.summed) operand.sum = thread_layout.reserve<float>(operand.elements);
    if (plan.summed || is_half(operand.dtype))
      operand.wide = thread_layout.reserve<float>(operand.elements * (plan.summed ? 1 : plan.items_per_part));
  }
  plan.own_scratch_per_thread = thread_layout.bytes();
  plan.part = kernel_of_part(operation, request, *cut, plan.items_per_part, make);
  if (const std::int64_t rest = plan.items % plan.items_per_part)
    plan.last = kernel_of_part(operation, request, *cut, rest, make);

  const auto needs = [](const Kernel& kernel) {
    return round_to_line(kernel.shared_scratch) + kernel.scratch_per_thread;
  };
  Kernel kernel;
  kernel.shared_scratch = shared_layout.bytes();
  kernel.scratch_per_thread = plan.own_scratch_per_thread + std::max(needs(plan.part), needs(plan.last));
  kernel.algorithm = plan.part.algorithm;
  kernel.operations =
      plan.part.operations * (static_cast<double>(plan.items) / static_cast<double>(plan.items_per_part));
  kernel.run = [plan = std::move(plan)](const Invocation& invocation) { plan.run(invocation); };
  return kernel;
}

}  // namespace mpsgraph_native::cpu
