#include "cpu/engine.hpp"

#include "cpu/dispatch.hpp"
#include "cpu/executable.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {
namespace {

class PortableEngine final : public Engine {
 public:
  std::string_view name() const override { return "cpu"; }
  bool available() const override { return true; }
  std::string reason() const override { return {}; }
  std::string description() const override {
    return text("portable C++ kernels, ", kernel_table().name, ", ", thread_count(), " thread(s)");
  }
  std::shared_ptr<Executable> compile(const Program& program) const override { return compile_program(program); }
};

}  // namespace

const Engine& engine() {
  static const PortableEngine instance;
  return instance;
}

}  // namespace mpsgraph_native::cpu
