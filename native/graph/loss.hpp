#pragma once

#include "graph/attributes.hpp"
#include "graph/operands.hpp"

namespace mpsgraph_native {

struct SoftmaxCrossEntropy {
  static constexpr std::string_view name = "softmax_cross_entropy";
  static constexpr std::array<Argument, 2> arguments{{{"source"}, {"labels"}}};
  std::int64_t axis = -1;
  LossReductionType reduction_type = LossReductionType::None;

  friend bool operator==(const SoftmaxCrossEntropy&, const SoftmaxCrossEntropy&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("axis", self.axis);
    visit("reduction_type", self.reduction_type);
  }
};

struct SoftmaxCrossEntropyGradient {
  static constexpr std::string_view name = "softmax_cross_entropy_gradient";
  static constexpr std::array<Argument, 3> arguments{{{"incoming_gradient"}, {"source"}, {"labels"}}};
  std::int64_t axis = -1;
  LossReductionType reduction_type = LossReductionType::None;

  friend bool operator==(const SoftmaxCrossEntropyGradient&, const SoftmaxCrossEntropyGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("axis", self.axis);
    visit("reduction_type", self.reduction_type);
  }
};

ResultTypes infer(const SoftmaxCrossEntropy& attributes, const Operands& operands);
ResultTypes infer(const SoftmaxCrossEntropyGradient& attributes, const Operands& operands);

}  // namespace mpsgraph_native
