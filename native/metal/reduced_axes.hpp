#pragma once

#include "graph/axes.hpp"
#include "metal/tensors.hpp"

namespace mpsgraph_native::metal {

/// The axes that a reduction names, counted from the front and in order.
template <class Attributes>
NSArray<NSNumber*>* reduced_axes(const Attributes& attributes, const TensorType& type) {
  const AxisSet selected = resolve_axes(attributes.name, attributes.axes, attributes.all_axes, type.shape.rank());
  Shape axes;
  for (int axis = 0; axis < type.shape.rank(); ++axis)
    if (selected[static_cast<std::size_t>(axis)]) axes.push_back(axis);
  return number_array({axes.begin(), axes.end()});
}

}  // namespace mpsgraph_native::metal
