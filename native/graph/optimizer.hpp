#pragma once

#include "graph/attributes.hpp"
#include "graph/operands.hpp"

namespace mpsgraph_native {

/// values − learning_rate·gradient.
struct StochasticGradientDescent {
  static constexpr std::string_view name = "stochastic_gradient_descent";
  static constexpr std::array<Argument, 3> arguments{{{"learning_rate"}, {"values"}, {"gradient"}}};

  friend bool operator==(const StochasticGradientDescent&, const StochasticGradientDescent&) = default;
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

ResultTypes infer(const StochasticGradientDescent& attributes, const Operands& operands);

}  // namespace mpsgraph_native
