#pragma once

#include "graph/graph.hpp"

namespace mpsgraph_native::metal {

/// Refuses what this engine cannot compute on the running macOS, before anything is lowered: types that Metal lacks
/// (DTypeError), operations that are too new (DeviceError), known faults without a way around (ShapeError,
/// DeviceError).
MPSGRAPH_API void check_program(const Program& program);

/// Raises ShapeError naming the first index of a max pooling gradient that names no element of the destination, in the
/// terms of the operation's index mode; -1 stands for a window without a tap. MPSGraph itself does not check them.
MPSGRAPH_API void check_pooling_indices(const Operation& operation, const TensorType& type, const void* indices);

}  // namespace mpsgraph_native::metal
