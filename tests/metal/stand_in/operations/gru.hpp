#pragma once

#include "recurrent.hpp"

namespace stand_in {

/// A GRU free of its descriptor, which an engine may change after the call.
struct Gru {
  Recurrence sizes;
  bool reset_after = false, flip_z = false;
  std::int64_t update = 0, reset = 1;  ///< places of the gates; the output gate is the last
  MPSGraphRNNActivation update_activation, reset_activation, output_activation;

  std::vector<Values> forward(const Operands& in) const;
  /// All six gradients: source, recurrent weight, input weight, bias, initial state, secondary bias.
  std::vector<Values> gradients(const Operands& in) const;
};

}  // namespace stand_in
