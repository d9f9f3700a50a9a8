#pragma once

#include "support.hpp"

namespace stand_in {

/// Which axes an array names, each once; all of them for nil.
std::vector<bool> reduced_axes(const Site& site, NSArray<NSNumber*>* axes, std::size_t rank);

/// The shape with the reduced axes as 1.
Dims reduced_shape(const Dims& shape, const std::vector<bool>& reduced);

/// Folds every element of `values` into the result that it belongs to, starting from `seed`.
template <class Fold>
Values folded(const Values& values, const Dims& shape, const std::vector<bool>& reduced, Value seed, Fold fold) {
  const Dims result_shape = reduced_shape(shape, reduced), own = strides_of(result_shape);
  Values result(static_cast<std::size_t>(count(result_shape)), seed);
  Dims position(shape.size(), 0);
  std::int64_t target = 0;
  for (const Value value : values) {
    Value& sum = result[static_cast<std::size_t>(target)];
    sum = fold(sum, value);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const std::int64_t step = reduced[axis] ? 0 : own[axis];
      target += step;
      if (++position[axis] < shape[axis]) break;
      target -= step * shape[axis];
      position[axis] = 0;
    }
  }
  return result;
}

}  // namespace stand_in
