#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "graph/types.hpp"

namespace mpsgraph_native {

/// One tensor argument of an operation, as its Python signature spells it.
struct Argument {
  std::string_view name;
  bool required = true;
};

inline constexpr bool optional = false;

/// The operand types of one operation, in the order of its `arguments`; an absent optional one is null.
class Operands {
 public:
  /// Raises ShapeError when a required operand is absent.
  Operands(std::string_view operation, std::span<const Argument> arguments, std::span<const TensorType* const> types);

  std::string_view operation() const { return operation_; }
  std::string_view name(std::size_t index) const { return arguments_[index].name; }
  bool has(std::size_t index) const { return types_[index] != nullptr; }
  const TensorType& operator[](std::size_t index) const { return *types_[index]; }

  /// The common dtype of all floating operands listed; raises DTypeError when one is not floating or differs.
  DataType common_floating(std::span<const std::size_t> indices) const;
  /// The same over every operand that is present.
  DataType common_floating() const;

  /// Raises ShapeError when the operand has another rank.
  void require_rank(std::size_t index, int rank, std::string_view meaning) const;
  /// Raises ShapeError when the operand has another shape. `meaning` spells the dimensions: "[N, H]".
  void require_shape(std::size_t index, const Shape& expected, std::string_view meaning) const;

 private:
  std::string_view operation_;
  std::span<const Argument> arguments_;
  std::span<const TensorType* const> types_;
};

using ResultTypes = std::vector<TensorType>;

}  // namespace mpsgraph_native
