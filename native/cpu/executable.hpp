#pragma once

#include <memory>

#include "runtime/engine.hpp"

namespace mpsgraph_native::cpu {

/// Makes one kernel per operation and plans where every intermediate result lies.
std::shared_ptr<Executable> compile_program(const Program& program);

}  // namespace mpsgraph_native::cpu
