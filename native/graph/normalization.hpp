#pragma once

#include "graph/attributes.hpp"
#include "graph/operands.hpp"

namespace mpsgraph_native {

/// Arithmetic mean; reduced dimensions stay, with size 1.
struct Mean {
  static constexpr std::string_view name = "mean";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  Shape axes;
  bool all_axes = false;  ///< reduce over every axis, whatever `axes` says

  friend bool operator==(const Mean&, const Mean&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("axes", self.axes);
    visit("all_axes", self.all_axes);
  }
};

ResultTypes infer(const Mean& attributes, const Operands& operands);

}  // namespace mpsgraph_native
