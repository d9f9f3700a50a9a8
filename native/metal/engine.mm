#include "metal/engine.hpp"

#include "metal/buffer.hpp"
#include "metal/device.hpp"
#include "metal/executable.hpp"
#include "metal/guarded.hpp"
#include "metal/validation.hpp"

namespace mpsgraph_native::metal {
namespace {

class MetalEngine final : public Engine {
 public:
  std::string_view name() const override { return "mps"; }
  bool available() const override { return reason_without_device().empty(); }
  std::string reason() const override { return reason_without_device(); }
  std::string description() const override { return describe_device(); }
  std::string reason_for_copy(const void* data, std::size_t bytes) const override {
    return metal::reason_for_copy(data, bytes);
  }
  std::shared_ptr<Executable> compile(const Program& program) const override {
    const Device& device = require_device();
    check_program(program);
    return guarded([&] { return compile_program(device, program); });
  }
};

}  // namespace

const Engine& engine() {
  static const MetalEngine instance;
  return instance;
}

}  // namespace mpsgraph_native::metal
