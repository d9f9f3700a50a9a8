#include "metal/engine.hpp"

#include "metal/device.hpp"
#include "metal/executable.hpp"
#include "metal/guarded.hpp"

namespace mpsgraph_native::metal {
namespace {

constexpr std::string_view no_float64 = "must not be float64 on device mps: Metal has no such type (device cpu has)";

void refuse_float64(const Program& program) {
  for (const Node& node : program.nodes) {
    const std::string_view operation = name_of(node.operation);
    const std::span<const Argument> arguments = arguments_of(node.operation);
    for (std::size_t index = 0; index < node.inputs.size(); ++index)
      if (node.inputs[index].present() && program.type(node.inputs[index]).dtype == DataType::Float64)
        fail<DTypeError>(operation, arguments[index].name, no_float64);
  }
  // What is left: values that no operation reads, and casts.
  for (const Node& node : program.nodes)
    for (const TensorType& output : node.outputs)
      if (output.dtype == DataType::Float64)
        fail<DTypeError>(name_of(node.operation), node.name.empty() ? "dtype" : text("dtype of ", node.name), no_float64);
}

class MetalEngine final : public Engine {
 public:
  std::string_view name() const override { return "mps"; }
  bool available() const override { return reason_without_device().empty(); }
  std::string reason() const override { return reason_without_device(); }
  std::string description() const override { return describe_device(); }
  std::shared_ptr<Executable> compile(const Program& program) const override {
    const Device& device = require_device();
    refuse_float64(program);
    return guarded([&] { return compile_program(device, program); });
  }
};

}  // namespace

const Engine& engine() {
  static const MetalEngine instance;
  return instance;
}

}  // namespace mpsgraph_native::metal
