#include "graph/arithmetic.hpp"

#include <algorithm>

namespace mpsgraph_native {
namespace {

bool takes_integers(UnaryFunction function) {
  switch (function) {
    case UnaryFunction::Absolute:
    case UnaryFunction::Identity:
    case UnaryFunction::Negative:
    case UnaryFunction::Square: return true;
    case UnaryFunction::Exponent:
    case UnaryFunction::Logarithm:
    case UnaryFunction::Reciprocal:
    case UnaryFunction::SquareRoot:
    case UnaryFunction::Tanh: return false;
  }
  return false;
}

void require_number(const Operands& operands, std::size_t index) {
  const DataType dtype = operands[index].dtype;
  if (!is_floating(dtype) && dtype != DataType::Int32 && dtype != DataType::Int64)
    fail<DTypeError>(operands.operation(), operands.name(index),
                     "must be float32, float16, bfloat16, float64, int32 or int64, got ", dtype);
}

void require_dtype_of(const Operands& operands, std::size_t index, std::size_t other) {
  if (operands[index].dtype != operands[other].dtype)
    fail<DTypeError>(operands.operation(), operands.name(index), "must have the dtype of ", operands.name(other), ", ",
                     operands[other].dtype, ", got ", operands[index].dtype);
}

/// NumPy's rule; `index` is the operand that a mismatch names.
Shape broadcast_with(const Shape& shape, const Operands& operands, std::size_t index) {
  const Shape& other = operands[index].shape;
  const int rank = std::max(shape.rank(), other.rank());
  const auto dim = [rank](const Shape& of, int axis) {
    const int own = axis - (rank - of.rank());
    return own < 0 ? 1 : of[own];
  };
  Shape result;
  for (int axis = 0; axis < rank; ++axis) {
    const std::int64_t a = dim(shape, axis), b = dim(other, axis);
    if (a != b && a != 1 && b != 1)
      fail<ShapeError>(operands.operation(), operands.name(index), "must broadcast with shape ", shape, ", got ",
                       other);
    result.push_back(a == 1 ? b : a);
  }
  check_size(result, operands.operation(), operands.name(index));
  return result;
}

Shape infer_pair(const Operands& operands) {
  require_number(operands, 0);
  require_dtype_of(operands, 1, 0);
  return broadcast_with(operands[0].shape, operands, 1);
}

}  // namespace

ResultTypes infer_unary(UnaryFunction function, const Operands& operands) {
  if (!takes_integers(function))
    operands.common_floating();
  else if (function != UnaryFunction::Identity)
    require_number(operands, 0);
  return {operands[0]};
}

ResultTypes infer_binary(const Operands& operands) { return {{operands[0].dtype, infer_pair(operands)}}; }

ResultTypes infer_comparison(const Operands& operands) { return {{DataType::Bool, infer_pair(operands)}}; }

ResultTypes infer(const Select&, const Operands& operands) {
  if (operands[0].dtype != DataType::Bool)
    fail<DTypeError>(operands.operation(), operands.name(0), "must be bool, got ", operands[0].dtype);
  require_dtype_of(operands, 2, 1);
  const Shape shape = broadcast_with(operands[0].shape, operands, 1);
  return {{operands[1].dtype, broadcast_with(shape, operands, 2)}};
}

}  // namespace mpsgraph_native
