#pragma once

#include "runtime/engine.hpp"

namespace mpsgraph_native::cpu {

/// The portable engine, available everywhere.
const Engine& engine();

}  // namespace mpsgraph_native::cpu
