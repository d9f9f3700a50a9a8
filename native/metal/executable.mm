#include "metal/executable.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "metal/buffer.hpp"
#include "metal/guarded.hpp"
#include "metal/lowered_program.hpp"
#include "metal/package_cache.hpp"
#include "metal/validation.hpp"
#include "runtime/device_faults.hpp"
#include "runtime/device_settings.hpp"

namespace mpsgraph_native::metal {
namespace {

/// How one submission ended. The completion handler runs on a thread of the framework's and only notes it here; the
/// thread that waits raises.
class Completion {
 public:
  void finish(NSError* error) noexcept {
    const std::lock_guard lock(mutex_);
    done_ = true;
    failed_ = error != nil;
    try {
      if (failed_) reason_ = to_string(error.localizedDescription);
    } catch (const std::bad_alloc&) {  // it failed all the same
    }
    finished_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return done_; });
    if (failed_) throw DeviceError(text("device mps: the command buffer failed: ", reason_));
  }

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  bool failed_ = false;
  std::string reason_;
};

NSError* fault_for_testing() {
  return [NSError errorWithDomain:@"MTLCommandBufferErrorDomain"
                             code:1
                         userInfo:@{NSLocalizedDescriptionKey : @"fault hook"}];
}

MPSGraphCompilationDescriptor* compilation_descriptor(int optimization_level) {
  MPSGraphCompilationDescriptor* const descriptor = [MPSGraphCompilationDescriptor new];
  descriptor.optimizationLevel = optimization_level == 0 ? MPSGraphOptimizationLevel0 : MPSGraphOptimizationLevel1;
  descriptor.waitForCompilationCompletion = YES;
  return descriptor;
}

/// Where each tensor of `listed` stands in `tensors`: MPSGraph promises no order.
std::vector<std::size_t> places_of(NSArray<MPSGraphTensor*>* listed, const std::vector<MPSGraphTensor*>& tensors) {
  std::vector<std::size_t> places;
  for (MPSGraphTensor* tensor in listed) {
    const auto found = std::ranges::find(tensors, tensor);
    if (found == tensors.end()) throw CompileError("device mps: MPSGraph's executable asks for a tensor of its own");
    places.push_back(static_cast<std::size_t>(found - tensors.begin()));
  }
  return places;
}

StoredExecutable compile(const Device& device, const LoweredProgram& lowered,
                         MPSGraphCompilationDescriptor* descriptor) {
  NSMutableDictionary<MPSGraphTensor*, MPSGraphShapedType*>* const feeds = [NSMutableDictionary dictionary];
  for (MPSGraphTensor* placeholder : lowered.placeholders) {
    if (placeholder == nil) continue;
    feeds[placeholder] = [[MPSGraphShapedType alloc] initWithShape:placeholder.shape dataType:placeholder.dataType];
  }
  NSArray<MPSGraphTensor*>* const targets = [NSArray arrayWithObjects:lowered.results.data()
                                                                count:lowered.results.size()];
  MPSGraphExecutable* const executable = [lowered.graph compileWithDevice:device.graph
                                                                    feeds:feeds
                                                            targetTensors:targets
                                                         targetOperations:nil
                                                    compilationDescriptor:descriptor];
  if (executable == nil) throw CompileError("device mps: MPSGraph compiles no executable");
  PackageOrder order{places_of(executable.feedTensors, lowered.placeholders),
                     places_of(executable.targetTensors, lowered.results)};
  if (order.results.size() != lowered.results.size())
    throw CompileError(text("device mps: MPSGraph's executable has ", order.results.size(), " results, expected ",
                            lowered.results.size()));
  return {executable, std::move(order)};
}

/// What lives on the Metal side of an executable.
struct State {
  MPSGraph* graph;  // MPSGraph does not say that an executable outlives its graph
  StoredExecutable stored;
};

class MetalExecutable final : public Executable {
 public:
  MetalExecutable(const Program& program, std::vector<TensorType> feeds, std::vector<TensorType> targets,
                  const LoweredProgram& lowered, StoredExecutable stored)
      : Executable(std::move(feeds), std::move(targets)),
        state_(new State{lowered.graph, std::move(stored)}),
        result_types_(lowered.result_types),
        sources_(lowered.targets),
        fed_indices_(lowered.fed_indices) {
    for (const Node& node : program.nodes)
      for (const TensorType& output : node.outputs) bytes_ += output.bytes();
    for (const TargetSource& source : sources_)
      target_of_result_.resize(
          std::max(target_of_result_.size(), source.kind == TargetSource::Kind::Result ? source.index + 1 : 0));
    for (std::size_t target = sources_.size(); target-- > 0;)
      if (sources_[target].kind == TargetSource::Kind::Result) target_of_result_[sources_[target].index] = target;
  }

  ~MetalExecutable() override {
    if (forked_from_metal()) {
      state_.release();  // its objects belong to the parent's connection with the GPU
      return;
    }
    try {
      guarded([&] { state_.reset(); });
    } catch (...) {  // a destructor has nobody to tell
    }
  }

  void run(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    const Device& device = require_device();
    for (const FedIndices& indices : fed_indices_)
      check_pooling_indices(indices.operation, indices.type, inputs[indices.feed]);
    if (!result_types_.empty()) guarded([&] { compute(device, inputs, outputs); });
    for (std::size_t target = 0; target < sources_.size(); ++target) {
      const TargetSource& source = sources_[target];
      const std::size_t size = targets()[target].bytes();
      switch (source.kind) {
        case TargetSource::Kind::NoElements: break;
        case TargetSource::Kind::Feed: std::memcpy(outputs[target], inputs[source.index], size); break;
        case TargetSource::Kind::Known: std::memcpy(outputs[target], source.bytes->data(), size); break;
        case TargetSource::Kind::Result:
          if (const std::size_t first = target_of_result_[source.index]; first != target)
            std::memcpy(outputs[target], outputs[first], size);
          break;
      }
    }
  }

  /// MPSGraph does not tell what an executable holds; every tensor of the program counts.
  MemoryUse memory() const override {
    MemoryUse use;
    use.program = sizeof *this + bytes_;
    return use;
  }

 private:
  void compute(const Device& device, std::span<const void* const> inputs, std::span<void* const> outputs) {
    const PackageOrder& order = state_->stored.order;
    std::vector<DeviceMemory> memory;
    memory.reserve(order.feeds.size() + order.results.size());
    NSMutableArray<MPSGraphTensorData*>* const operands = [NSMutableArray arrayWithCapacity:order.feeds.size()];
    for (const std::size_t feed : order.feeds) {
      memory.push_back(DeviceMemory::of_input(device, inputs[feed], feeds()[feed]));
      [operands addObject:memory.back().tensor_data()];
    }
    NSMutableArray<MPSGraphTensorData*>* const results = [NSMutableArray arrayWithCapacity:order.results.size()];
    for (const std::size_t result : order.results) {
      memory.push_back(DeviceMemory::of_output(device, outputs[target_of_result_[result]], result_types_[result]));
      [results addObject:memory.back().tensor_data()];
    }
    submit(device, operands, results);
    for (std::size_t index = order.feeds.size(); index < memory.size(); ++index) memory[index].deliver();
  }

  void submit(const Device& device, NSArray<MPSGraphTensorData*>* operands, NSArray<MPSGraphTensorData*>* results) {
    const auto completion = std::make_shared<Completion>();
    const bool fault = take_command_buffer_fault();
    MPSGraphExecutableExecutionDescriptor* const descriptor = [MPSGraphExecutableExecutionDescriptor new];
    descriptor.completionHandler = ^(NSArray<MPSGraphTensorData*>*, NSError* _Nullable error) {
      @autoreleasepool {
        completion->finish(fault ? fault_for_testing() : error);
      }
    };
    // Apple does not say that an executable may be run by several threads at a time.
    const std::lock_guard lock(mutex_);
    [state_->stored.executable runAsyncWithMTLCommandQueue:device.queue
                                               inputsArray:operands
                                              resultsArray:results
                                       executionDescriptor:descriptor];
    completion->wait();
  }

  std::unique_ptr<State> state_;
  std::vector<TensorType> result_types_;
  std::vector<TargetSource> sources_;
  std::vector<FedIndices> fed_indices_;
  std::vector<std::size_t> target_of_result_;  // the first target that shows each result
  std::size_t bytes_ = 0;
  std::mutex mutex_;
};

}  // namespace

std::shared_ptr<Executable> compile_program(const Device& device, const Program& program) {
  const auto types = [&](const std::vector<TensorRef>& tensors) {
    std::vector<TensorType> result;
    for (const TensorRef tensor : tensors) result.push_back(program.type(tensor));
    return result;
  };
  const LoweredProgram lowered = lower_program(program);
  StoredExecutable stored;
  if (!lowered.results.empty()) {
    const DeviceSettings settings = device_settings();
    MPSGraphCompilationDescriptor* const descriptor = compilation_descriptor(settings.optimization_level);
    const PackageCache cache(device, settings, program);
    if (std::optional<StoredExecutable> found = cache.load(descriptor)) {
      stored = std::move(*found);
    } else {
      stored = compile(device, lowered, descriptor);
      cache.store(stored);
    }
  }
  return std::make_shared<MetalExecutable>(program, types(program.feeds), types(program.targets), lowered,
                                           std::move(stored));
}

}  // namespace mpsgraph_native::metal
