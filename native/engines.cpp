#include "engines.hpp"

#include <array>

#include "cpu/dispatch.hpp"
#include "cpu/engine.hpp"
#include "metal/engine.hpp"

namespace mpsgraph_native {

std::span<const Engine* const> engines() {
  static const std::array<const Engine*, 2> all{&metal::engine(), &cpu::engine()};
  return all;
}

const Engine& engine_named(std::string_view name) {
  std::string known;
  for (const Engine* engine : engines()) {
    if (engine->name() == name) {
      if (!engine->available()) throw DeviceError(text("device ", name, " is not available: ", engine->reason()));
      return *engine;
    }
    known += text(known.empty() ? "" : ", ", engine->name());
  }
  throw DeviceError(text("device must be one of ", known, ", got ", name));
}

std::vector<std::string> cpu_instruction_sets() { return cpu::available_instruction_sets(); }
std::string cpu_instruction_set() { return cpu::kernel_table().name; }
void set_cpu_instruction_set(std::string_view name) { cpu::set_instruction_set(name); }

}  // namespace mpsgraph_native
