#include "metal/engine.hpp"

namespace mpsgraph_native::metal {
namespace {

/// Stands where the Objective-C++ engine cannot be built, and says so.
class AbsentEngine final : public Engine {
 public:
  std::string_view name() const override { return "mps"; }
  bool available() const override { return false; }
  std::string reason() const override {
#if defined(__APPLE__)
    return "this build has no Metal engine";
#else
    return "MetalPerformanceShadersGraph exists on macOS only";
#endif
  }
  std::string description() const override { return {}; }
  std::shared_ptr<Executable> compile(const Program&) const override {
    throw DeviceError(text("device mps is not available: ", reason()));
  }
};

}  // namespace

const Engine& engine() {
  static const AbsentEngine instance;
  return instance;
}

}  // namespace mpsgraph_native::metal
