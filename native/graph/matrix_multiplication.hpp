#pragma once

#include "graph/attributes.hpp"
#include "graph/operands.hpp"

namespace mpsgraph_native {

/// [..., M, K] · [..., K, N]; leading dimensions broadcast.
struct MatrixMultiplication {
  static constexpr std::string_view name = "matrix_multiplication";
  static constexpr std::array<Argument, 2> arguments{{{"primary"}, {"secondary"}}};

  friend bool operator==(const MatrixMultiplication&, const MatrixMultiplication&) = default;
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

ResultTypes infer(const MatrixMultiplication& attributes, const Operands& operands);

}  // namespace mpsgraph_native
