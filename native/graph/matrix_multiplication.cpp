#include "graph/matrix_multiplication.hpp"

#include <algorithm>

namespace mpsgraph_native {

ResultTypes infer(const MatrixMultiplication&, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  const Shape& primary = operands[0].shape;
  const Shape& secondary = operands[1].shape;
  for (const std::size_t i : {0u, 1u})
    if (operands[i].shape.rank() < 2)
      fail<ShapeError>(operands.operation(), operands.name(i), "must have rank 2 or more, got shape ",
                       operands[i].shape);
  const std::int64_t depth = primary[primary.rank() - 1];
  if (secondary[secondary.rank() - 2] != depth)
    fail<ShapeError>(operands.operation(), operands.name(1), "must have ", depth, " rows, as ", operands.name(0),
                     " has columns, got shape ", secondary);

  const int rank = std::max(primary.rank(), secondary.rank());
  Shape result;
  for (int axis = 0; axis < rank - 2; ++axis) {
    const int in_primary = axis - (rank - primary.rank());
    const int in_secondary = axis - (rank - secondary.rank());
    const std::int64_t a = in_primary < 0 ? 1 : primary[in_primary];
    const std::int64_t b = in_secondary < 0 ? 1 : secondary[in_secondary];
    if (a != b && a != 1 && b != 1)
      fail<ShapeError>(operands.operation(), operands.name(1), "must have leading dimensions that broadcast with ",
                       operands.name(0), " of shape ", primary, ", got shape ", secondary);
    result.push_back(a == 1 ? b : a);
  }
  result.push_back(primary[primary.rank() - 2]);
  result.push_back(secondary[secondary.rank() - 1]);
  return {{dtype, result}};
}

}  // namespace mpsgraph_native
