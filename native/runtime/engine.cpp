#include "runtime/engine.hpp"

#include <chrono>

namespace mpsgraph_native {

std::vector<StepProfile> Executable::profile(std::span<const void* const> inputs, std::span<void* const> outputs) {
  StepProfile whole;
  whole.operation = "program";
  for (const TensorType& type : feeds_) whole.bytes += type.bytes();
  for (const TensorType& type : targets_) whole.bytes += type.bytes();
  const auto start = std::chrono::steady_clock::now();
  run(inputs, outputs);
  whole.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {whole};
}

}  // namespace mpsgraph_native
