#pragma once

#include "recurrent.hpp"

namespace stand_in {

/// An LSTM free of its descriptor, which an engine may change after the call.
struct Lstm {
  Recurrence sizes;
  std::int64_t input = 0, forget = 1, cell = 2, output = 3;  ///< places of the gates
  MPSGraphRNNActivation gate_activations[4];                 ///< by place
  MPSGraphRNNActivation activation;

  /// Output, cell and training state.
  std::vector<Values> forward(const Operands& in) const;
  /// All seven gradients: source, recurrent weight, input weight, bias, peephole, initial state, initial cell.
  std::vector<Values> gradients(const Operands& in) const;
};

}  // namespace stand_in
