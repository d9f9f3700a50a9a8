#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "graph/operation.hpp"

namespace mpsgraph_native::metal {

// MPSGraph asserts on tensors without elements, so none reaches it. The rule: an operation of which every operand and
// every result has elements is lowered. Of any other, results without elements need no computation, and results with
// elements are known beforehand: sums over nothing are 0, products 1, maxima and minima the least and the greatest
// value, means NaN; a recurrent gradient over no steps hands the gradient of the final state to the initial one. One
// case remains to be computed: a recurrent operation over steps that have no input channels. It is lowered with one
// channel of zeros, which adds nothing to any sum.

bool has_elements(const TensorType& type);

enum class Treatment { Lower, LowerWidened, Known };
Treatment treatment_of(const Operation& operation, std::span<const TensorType* const> operands,
                       std::span<const TensorType> results);

/// A result of an operation whose treatment is Known.
struct KnownResult {
  enum class Kind { NoElements, Filled, Operand };
  Kind kind = Kind::NoElements;
  std::vector<std::byte> element;  ///< Filled: what every element is
  std::size_t operand = 0;         ///< Operand: whose contents it has
};
KnownResult known_result(const Operation& operation, std::span<const TensorType* const> operands,
                         std::span<const TensorType> results, std::size_t index);

/// The type with one element where the shape has none. Raises nothing; a type with elements stays as it is.
TensorType widened(TensorType type);

}  // namespace mpsgraph_native::metal
