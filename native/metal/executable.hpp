#pragma once

#include <memory>

#include "metal/device.hpp"
#include "runtime/engine.hpp"

namespace mpsgraph_native::metal {

/// Lowers the program, and compiles it or takes the compiled executable from the disk. To be called inside guarded().
std::shared_ptr<Executable> compile_program(const Device& device, const Program& program);

}  // namespace mpsgraph_native::metal
