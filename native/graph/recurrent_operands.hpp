#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "graph/operands.hpp"

namespace mpsgraph_native {

/// Where the operands that the recurrent operations have in common stand in the `arguments` of one of them.
struct RecurrentOperands {
  /// Of an operand that the operation does not have.
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::size_t source = none, recurrent_weight = none, input_weight = none, bias = none, init_state = none,
              init_cell = none, mask = none, secondary_bias = none, peephole = none, z_state = none, output_fwd = none,
              source_gradient = none, state_gradient = none, cell_gradient = none;

  explicit RecurrentOperands(std::span<const Argument> arguments) {
    const std::pair<std::string_view, std::size_t*> members[] = {
        {"source", &source},
        {"recurrent_weight", &recurrent_weight},
        {"input_weight", &input_weight},
        {"bias", &bias},
        {"init_state", &init_state},
        {"init_cell", &init_cell},
        {"mask", &mask},
        {"secondary_bias", &secondary_bias},
        {"peephole", &peephole},
        {"z_state", &z_state},
        {"output_fwd", &output_fwd},
        {"cell_output_fwd", &output_fwd},
        {"source_gradient", &source_gradient},
        {"state_gradient", &state_gradient},
        {"cell_gradient", &cell_gradient},
    };
    for (std::size_t i = 0; i < arguments.size(); ++i)
      for (const auto& [name, index] : members)
        if (arguments[i].name == name) *index = i;
  }
};

}  // namespace mpsgraph_native
