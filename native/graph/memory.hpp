#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "graph/attributes.hpp"
#include "graph/operands.hpp"

namespace mpsgraph_native {

/// A value that the caller feeds.
struct Placeholder {
  static constexpr std::string_view name = "placeholder";
  static constexpr std::array<Argument, 0> arguments{};
  TensorType type;

  friend bool operator==(const Placeholder&, const Placeholder&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("shape", self.type.shape);
    visit("dtype", self.type.dtype);
  }
};

/// A value fixed when the graph is built: its elements, C-contiguous, shared between copies of the graph.
struct Constant {
  static constexpr std::string_view name = "constant";
  static constexpr std::array<Argument, 0> arguments{};
  TensorType type;
  std::shared_ptr<const std::vector<std::byte>> data;

  friend bool operator==(const Constant& a, const Constant& b) {
    return a.type == b.type && (a.data == b.data || (a.data && b.data && *a.data == *b.data));
  }
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("shape", self.type.shape);
    visit("dtype", self.type.dtype);
  }
};

ResultTypes infer(const Placeholder& attributes, const Operands& operands);
ResultTypes infer(const Constant& attributes, const Operands& operands);

}  // namespace mpsgraph_native
