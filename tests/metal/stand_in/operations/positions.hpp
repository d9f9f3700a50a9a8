#pragma once

#include "support.hpp"

namespace stand_in {

/// Calls visit(number, position) for each element of a shape in row-major order.
template <class Visit>
void each_position(const Dims& shape, Visit visit) {
  Dims position(shape.size(), 0);
  for (std::int64_t number = 0; number < count(shape); ++number) {
    visit(static_cast<std::size_t>(number), position);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++position[axis] < shape[axis]) break;
      position[axis] = 0;
    }
  }
}

/// The number of the element at a position.
inline std::size_t number_of(const Dims& shape, const Dims& position) {
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) number = number * shape[axis] + position[axis];
  return static_cast<std::size_t>(number);
}

}  // namespace stand_in
