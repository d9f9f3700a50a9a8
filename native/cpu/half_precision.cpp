#include "cpu/half_precision.hpp"

#include "cpu/dispatch.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {
namespace {

constexpr std::int64_t elements_per_chunk = 1 << 15;

/// Converts in chunks over the threads; the conversions are elementwise, so chunking changes no result.
template <class From, class To>
void convert(void (*conversion)(const From*, std::int64_t, To*), const From* source, std::int64_t count,
             To* destination) {
  parallel_for((count + elements_per_chunk - 1) / elements_per_chunk, [&](std::int64_t chunk) {
    const std::int64_t begin = chunk * elements_per_chunk;
    conversion(source + begin, std::min(elements_per_chunk, count - begin), destination + begin);
  });
}

/// One operand that changes its type on the way.
struct Converted {
  std::size_t index;
  std::int64_t count;
  DataType dtype;
  Slot<float> slot;
};

struct Plan {
  Kernel inner;
  std::vector<Converted> inputs, outputs;
  std::size_t input_count, output_count;
  std::size_t own_scratch;

  void run(const Invocation& invocation) const {
    // Operand lists are short; fixed arrays keep the run free of allocations.
    std::array<const void*, 32> inputs_seen{};
    std::array<void*, 32> outputs_seen{};
    std::copy(invocation.inputs.begin(), invocation.inputs.end(), inputs_seen.begin());
    std::copy(invocation.outputs.begin(), invocation.outputs.end(), outputs_seen.begin());
    const ConversionKernels& conversion = kernel_table().conversion;
    for (const Converted& operand : inputs) {
      float* wide = shared(invocation, operand.slot);
      convert(operand.dtype == DataType::Float16 ? conversion.float16_to_float32 : conversion.bfloat16_to_float32,
              invocation.input<std::uint16_t>(operand.index), operand.count, wide);
      inputs_seen[operand.index] = wide;
    }
    for (const Converted& operand : outputs) outputs_seen[operand.index] = shared(invocation, operand.slot);
    inner.run({std::span(inputs_seen.data(), input_count), std::span(outputs_seen.data(), output_count),
               invocation.scratch + own_scratch, invocation.threads, inner.shared_scratch, inner.scratch_per_thread});
    for (const Converted& operand : outputs)
      convert(operand.dtype == DataType::Float16 ? conversion.float32_to_float16 : conversion.float32_to_bfloat16,
              static_cast<const float*>(shared(invocation, operand.slot)), operand.count,
              invocation.output<std::uint16_t>(operand.index));
  }
};

}  // namespace

Kernel with_half_precision(const KernelRequest& request, const std::function<Kernel(const KernelRequest&)>& make) {
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
    return TensorType{DataType::Float32, type.shape};
  };
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.has(i)) wide_inputs[i] = widen(i, request.input(i), plan.inputs);
    wide_pointers.push_back(request.has(i) ? &wide_inputs[i] : nullptr);
  }
  for (std::size_t i = 0; i < request.outputs.size(); ++i)
    wide_outputs.push_back(widen(i, request.outputs[i], plan.outputs));

  plan.inner = make({wide_pointers, wide_outputs});
  plan.own_scratch = layout.bytes();
  Kernel kernel;
  kernel.shared_scratch = layout.bytes() + plan.inner.shared_scratch;
  kernel.scratch_per_thread = plan.inner.scratch_per_thread;
  kernel.algorithm = plan.inner.algorithm;
  kernel.operations = plan.inner.operations;
  kernel.run = [plan = std::move(plan)](const Invocation& invocation) { plan.run(invocation); };
  return kernel;
}

}  // namespace mpsgraph_native::cpu
