#pragma once

#include "graph/attributes.hpp"
#include "graph/operands.hpp"

namespace mpsgraph_native {

struct Relu {
  static constexpr std::string_view name = "relu";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};

  friend bool operator==(const Relu&, const Relu&) = default;
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

struct ReluGradient {
  static constexpr std::string_view name = "relu_gradient";
  static constexpr std::array<Argument, 2> arguments{{{"incoming_gradient"}, {"source"}}};

  friend bool operator==(const ReluGradient&, const ReluGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

struct Sigmoid {
  static constexpr std::string_view name = "sigmoid";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};

  friend bool operator==(const Sigmoid&, const Sigmoid&) = default;
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

/// `source` is the forward input, not its sigmoid.
struct SigmoidGradient {
  static constexpr std::string_view name = "sigmoid_gradient";
  static constexpr std::array<Argument, 2> arguments{{{"incoming_gradient"}, {"source"}}};

  friend bool operator==(const SigmoidGradient&, const SigmoidGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

struct Softmax {
  static constexpr std::string_view name = "softmax";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  std::int64_t axis = -1;

  friend bool operator==(const Softmax&, const Softmax&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("axis", self.axis);
  }
};

/// `source` is the forward input, not its softmax.
struct SoftmaxGradient {
  static constexpr std::string_view name = "softmax_gradient";
  static constexpr std::array<Argument, 2> arguments{{{"incoming_gradient"}, {"source"}}};
  std::int64_t axis = -1;

  friend bool operator==(const SoftmaxGradient&, const SoftmaxGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("axis", self.axis);
  }
};

ResultTypes infer(const Relu& attributes, const Operands& operands);
ResultTypes infer(const ReluGradient& attributes, const Operands& operands);
ResultTypes infer(const Sigmoid& attributes, const Operands& operands);
ResultTypes infer(const SigmoidGradient& attributes, const Operands& operands);
ResultTypes infer(const Softmax& attributes, const Operands& operands);
ResultTypes infer(const SoftmaxGradient& attributes, const Operands& operands);

}  // namespace mpsgraph_native
