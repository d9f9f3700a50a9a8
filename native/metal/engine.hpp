#pragma once

#include "runtime/engine.hpp"

namespace mpsgraph_native::metal {

/// The engine on Apple's MPSGraph. Where it cannot be built, no_metal/ gives the same symbol with the reason.
const Engine& engine();

}  // namespace mpsgraph_native::metal
