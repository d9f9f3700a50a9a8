#pragma once

#include "support.hpp"

namespace stand_in {

/// Calls visit(first element, distance of neighbours, length) for each line of elements along an axis.
template <class Visit>
void each_line(const Dims& shape, std::size_t axis, Visit visit) {
  const std::size_t length = static_cast<std::size_t>(shape[axis]);
  std::size_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(shape[i]);
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= static_cast<std::size_t>(shape[i]);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) visit(o * length * inner + i, inner, length);
}

/// Along an axis, in the order of the elements: softmax, and the logarithm of it.
Values softmax(const Values& x, const Dims& shape, std::size_t axis);
Values log_softmax(const Values& x, const Dims& shape, std::size_t axis);

}  // namespace stand_in
