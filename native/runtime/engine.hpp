#pragma once

#include <memory>
#include <span>
#include <string>

#include "graph/graph.hpp"

namespace mpsgraph_native {

/// What one step of a run took.
struct StepProfile {
  std::string operation;  ///< with its attributes; of an engine that runs its program as a whole, "program"
  std::string algorithm;  ///< the kernel chosen; empty where there is no choice
  int threads = 1;        ///< between which the step was split
  std::size_t bytes = 0;  ///< operands and results, each once
  double operations = 0;  ///< multiplications and additions of the formula; 0 where memory is the limit
  double seconds = 0;
};

/// What an executable keeps, and what a run needs beside inputs and results; in bytes.
struct MemoryUse {
  std::size_t constants = 0;
  std::size_t intermediates = 0;  ///< what steps leave for later ones; those that are not needed at a time share memory
  std::size_t scratch = 0;        ///< of the kernels, for all threads together
  std::size_t program = 0;        ///< steps and plan; for an engine that does not tell them apart, everything

  std::size_t total() const { return constants + intermediates + scratch + program; }
};

/// A program compiled for one device. Runs may overlap in several threads.
class MPSGRAPH_API Executable {
 public:
  Executable(std::vector<TensorType> feeds, std::vector<TensorType> targets)
      : feeds_(std::move(feeds)), targets_(std::move(targets)) {}
  virtual ~Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  /// Inputs in the order of the feeds, outputs in the order of the targets: C-contiguous host memory, aligned to the
  /// element. Outputs overlap neither inputs nor each other. After an exception the outputs' contents are undefined
  /// unless the operation's documentation says that nothing was written.
  virtual void run(std::span<const void* const> inputs, std::span<void* const> outputs) = 0;

  /// The same, and what each step took.
  virtual std::vector<StepProfile> profile(std::span<const void* const> inputs, std::span<void* const> outputs);

  virtual MemoryUse memory() const = 0;

  const std::vector<TensorType>& feeds() const { return feeds_; }
  const std::vector<TensorType>& targets() const { return targets_; }

 private:
  std::vector<TensorType> feeds_;
  std::vector<TensorType> targets_;
};

/// Something that compiles and runs programs.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  virtual bool available() const = 0;
  /// Why it is not available; empty when it is.
  virtual std::string reason() const = 0;
  /// The hardware in words.
  virtual std::string description() const = 0;
  /// Why its device cannot share host memory that is C-contiguous and aligned to its elements; empty when it can.
  virtual std::string reason_for_copy(const void* /*data*/, std::size_t /*bytes*/) const { return {}; }
  /// Raises CompileError, DTypeError or DeviceError.
  virtual std::shared_ptr<Executable> compile(const Program& program) const = 0;
};

}  // namespace mpsgraph_native
