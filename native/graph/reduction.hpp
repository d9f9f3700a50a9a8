#pragma once

#include "graph/attributes.hpp"
#include "graph/operands.hpp"

namespace mpsgraph_native {

// Reduced dimensions stay, with size 1.

struct ReductionSum {
  static constexpr std::string_view name = "reduction_sum";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  Shape axes;
  bool all_axes = false;  ///< reduce over every axis, whatever `axes` says

  friend bool operator==(const ReductionSum&, const ReductionSum&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("axes", self.axes);
    visit("all_axes", self.all_axes);
  }
};

struct ReductionProduct {
  static constexpr std::string_view name = "reduction_product";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  Shape axes;
  bool all_axes = false;  ///< reduce over every axis, whatever `axes` says

  friend bool operator==(const ReductionProduct&, const ReductionProduct&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("axes", self.axes);
    visit("all_axes", self.all_axes);
  }
};

struct ReductionMaximum {
  static constexpr std::string_view name = "reduction_maximum";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  Shape axes;
  bool all_axes = false;  ///< reduce over every axis, whatever `axes` says

  friend bool operator==(const ReductionMaximum&, const ReductionMaximum&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("axes", self.axes);
    visit("all_axes", self.all_axes);
  }
};

struct ReductionMinimum {
  static constexpr std::string_view name = "reduction_minimum";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  Shape axes;
  bool all_axes = false;  ///< reduce over every axis, whatever `axes` says

  friend bool operator==(const ReductionMinimum&, const ReductionMinimum&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("axes", self.axes);
    visit("all_axes", self.all_axes);
  }
};

struct ReductionArgMaximum {
  static constexpr std::string_view name = "reduction_arg_maximum";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  std::int64_t axis = -1;

  friend bool operator==(const ReductionArgMaximum&, const ReductionArgMaximum&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("axis", self.axis);
  }
};

struct ReductionArgMinimum {
  static constexpr std::string_view name = "reduction_arg_minimum";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  std::int64_t axis = -1;

  friend bool operator==(const ReductionArgMinimum&, const ReductionArgMinimum&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("axis", self.axis);
  }
};

ResultTypes infer(const ReductionSum& attributes, const Operands& operands);
ResultTypes infer(const ReductionProduct& attributes, const Operands& operands);
ResultTypes infer(const ReductionMaximum& attributes, const Operands& operands);
ResultTypes infer(const ReductionMinimum& attributes, const Operands& operands);
ResultTypes infer(const ReductionArgMaximum& attributes, const Operands& operands);
ResultTypes infer(const ReductionArgMinimum& attributes, const Operands& operands);

}  // namespace mpsgraph_native
