#include "cpu/executable.hpp"

#include <chrono>
#include <cstring>

#include "cpu/half_precision.hpp"
#include "cpu/kernels.hpp"
#include "cpu/memory_plan.hpp"
#include "runtime/interruption.hpp"
#include "runtime/pages.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {
namespace {

Kernel make_native_kernel(const Operation& operation, const KernelRequest& request) {
  return std::visit(
      [&]<class Attributes>(const Attributes& attributes) -> Kernel {
        if constexpr (std::is_same_v<Attributes, Placeholder> || std::is_same_v<Attributes, Constant>)
          throw CompileError(text(attributes.name, " is a value and has no kernel"));
        else
          return make_kernel(attributes, request);
      },
      operation);
}

bool holds_half(const KernelRequest& request) {
  for (std::size_t i = 0; i < request.inputs.size(); ++i)
    if (request.has(i) && is_half(request.input(i).dtype)) return true;
  return std::ranges::any_of(request.outputs, [](const TensorType& type) { return is_half(type.dtype); });
}

/// Whether the operation moves elements without looking at them, so that half types need no float32 in between.
bool moves_elements(const Operation& operation) {
  return std::visit(
      []<class Attributes>(const Attributes&) {
        return is_one_of<Attributes, Broadcast, Identity, Reshape, Select, Slice, SliceGradient, Transpose>;
      },
      operation);
}

Kernel make_any_kernel(const Operation& operation, const KernelRequest& request) {
  if (!holds_half(request) || moves_elements(operation)) return make_native_kernel(operation, request);
  return with_half_precision(operation, request, make_native_kernel);
}

struct Step {
  Kernel kernel;
  std::vector<Place> inputs;
  std::vector<Place> outputs;
  std::string operation;
  std::size_t bytes = 0;  ///< of operands and results
};

/// A target that no step writes by itself: a feed, a constant, or a tensor that is a target twice.
struct CopiedTarget {
  Place source;
  std::size_t target;
  std::size_t bytes;
};

class PortableExecutable final : public Executable {
 public:
  PortableExecutable(const Program& program, std::vector<TensorType> feeds, std::vector<TensorType> targets)
      : Executable(std::move(feeds), std::move(targets)) {
    const MemoryPlan plan = plan_memory(program);
    intermediate_bytes_ = plan.arena_bytes;
    for (const Node& node : program.nodes)
      if (const auto* constant = std::get_if<Constant>(&node.operation)) constants_.push_back(constant->data);

    for (std::size_t index = 0; index < program.nodes.size(); ++index) {
      const Node& node = program.nodes[index];
      if (std::holds_alternative<Placeholder>(node.operation) || std::holds_alternative<Constant>(node.operation))
        continue;
      std::vector<const TensorType*> types;
      Step step;
      for (const TensorRef input : node.inputs) {
        types.push_back(input.present() ? &program.type(input) : nullptr);
        step.inputs.push_back(input.present() ? plan.place(input) : Place{});
      }
      step.outputs = plan.places[index];
      step.operation = describe(node.operation);
      for (const TensorType* type : types) step.bytes += type ? type->bytes() : 0;
      for (const TensorType& type : node.outputs) step.bytes += type.bytes();
      step.kernel = make_any_kernel(node.operation, {types, node.outputs});
      shared_scratch_ = std::max(shared_scratch_, round_to_line(step.kernel.shared_scratch));
      scratch_per_thread_ = std::max(scratch_per_thread_, round_to_line(step.kernel.scratch_per_thread));
      steps_.push_back(std::move(step));
    }
    for (std::size_t target = 0; target < program.targets.size(); ++target) {
      const Place source = plan.place(program.targets[target]);
      if (source.kind != Place::Kind::Target || source.index != target)
        copies_.push_back({source, target, this->targets()[target].bytes()});
    }
  }

  void run(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    run_steps(inputs, outputs, [](const Step&, auto run_step) { run_step(); });
  }

  std::vector<StepProfile> profile(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    std::vector<StepProfile> profiles;
    run_steps(inputs, outputs, [&](const Step& step, auto run_step) {
      take_most_chunks();
      const auto start = std::chrono::steady_clock::now();
      run_step();
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      profiles.push_back({step.operation, std::string(step.kernel.algorithm), take_most_chunks(), step.bytes,
                          step.kernel.operations, seconds.count()});
    });
    return profiles;
  }

  MemoryUse memory() const override {
    MemoryUse use;
    for (const auto& constant : constants_) use.constants += constant->size();
    use.intermediates = intermediate_bytes_;
    use.scratch = shared_scratch_ + static_cast<std::size_t>(thread_count()) * scratch_per_thread_;
    use.program = sizeof *this + steps_.size() * sizeof(Step);
    return use;
  }

 private:
  static constexpr std::size_t maximum_operands = 32;
  static constexpr std::size_t small_arena = 16 << 10;

  /// around(step, run) calls run() once for every step.
  template <class Around>
  void run_steps(std::span<const void* const> inputs, std::span<void* const> outputs, Around around) {
    const int threads = thread_count();
    const std::size_t arena_bytes =
        intermediate_bytes_ + shared_scratch_ + static_cast<std::size_t>(threads) * scratch_per_thread_;
    // A small run would spend more on acquiring pages than on its work.
    alignas(64) std::byte small[small_arena];
    const ScopedPages pages(arena_bytes > small_arena ? arena_bytes : 0);
    std::byte* const arena = arena_bytes > small_arena ? pages.data() : small;
    const auto address = [&](const Place& place) -> const void* {
      switch (place.kind) {
        case Place::Kind::Absent: return nullptr;
        case Place::Kind::Feed: return inputs[place.index];
        case Place::Kind::Target: return outputs[place.index];
        case Place::Kind::Constant: return constants_[place.index]->data();
        case Place::Kind::Arena: return arena + place.index;
      }
      return nullptr;
    };
    std::array<const void*, maximum_operands> step_inputs;
    std::array<void*, maximum_operands> step_outputs;
    InterruptionPoll poll;
    for (const Step& step : steps_) {
      poll(static_cast<double>(step.bytes) + step.kernel.operations);
      for (std::size_t i = 0; i < step.inputs.size(); ++i) step_inputs[i] = address(step.inputs[i]);
      // Only targets and the arena are ever outputs, and both are writable.
      for (std::size_t i = 0; i < step.outputs.size(); ++i)
        step_outputs[i] = const_cast<void*>(address(step.outputs[i]));
      around(step, [&] {
        step.kernel.run({std::span(step_inputs.data(), step.inputs.size()),
                         std::span(step_outputs.data(), step.outputs.size()), arena + intermediate_bytes_, threads,
                         step.kernel.shared_scratch, step.kernel.scratch_per_thread});
      });
    }
    for (const CopiedTarget& copy : copies_)
      if (copy.bytes) std::memcpy(outputs[copy.target], address(copy.source), copy.bytes);
  }

  std::vector<Step> steps_;
  std::vector<CopiedTarget> copies_;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> constants_;
  std::size_t intermediate_bytes_ = 0;
  std::size_t shared_scratch_ = 0;
  std::size_t scratch_per_thread_ = 0;
};

}  // namespace

std::shared_ptr<Executable> compile_program(const Program& program) {
  const auto types = [&](const std::vector<TensorRef>& tensors) {
    std::vector<TensorType> result;
    result.reserve(tensors.size());
    for (const TensorRef tensor : tensors) result.push_back(program.type(tensor));
    return result;
  };
  return std::make_shared<PortableExecutable>(program, types(program.feeds), types(program.targets));
}

}  // namespace mpsgraph_native::cpu
