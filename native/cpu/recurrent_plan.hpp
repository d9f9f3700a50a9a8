#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/dispatch.hpp"
#include "cpu/kernel.hpp"
#include "cpu/partition.hpp"
#include "graph/division.hpp"
#include "graph/recurrent_operands.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {

/// The GRU is two cells: with the reset gate before the recurrent product, a step needs two products in a row.
enum class RecurrentCell { GRU, GRUResetBefore, LSTM, SingleGate };

/// A recurrent operation of any cell, forward or backward.
struct RecurrentProblem {
  RecurrentCell cell;
  std::int64_t gate_count;
  RecurrentGates gates;
  RecurrentOperands operands;
  bool reverse, training;
  std::int64_t directions, steps, batch, input_size, units;
  DataType dtype;

  std::int64_t gate_units() const { return gate_count * units; }  ///< of one direction
  /// Does the direction walk from the last time step to the first?
  bool backwards(std::int64_t direction) const { return directions == 2 ? direction == 1 : reverse; }
};

/// For the forward operation; results: h, cell when there is one, z_state when training.
Kernel make_recurrent_kernel(const RecurrentProblem& problem, const KernelRequest& request);
/// For the gradients of the operands that are present, in MPSGraph's order.
Kernel make_recurrent_gradients_kernel(const RecurrentProblem& problem, const KernelRequest& request);

/// One direction of one run: which half of every joined array it owns.
template <class T>
class RecurrentDirection {
 public:
  RecurrentDirection(const RecurrentProblem& problem, const Invocation& invocation, std::int64_t index)
      : problem_(problem), invocation_(invocation), index_(index), backwards_(problem.backwards(index)) {}

  std::int64_t index() const { return index_; }
  bool backwards() const { return backwards_; }
  /// Time of the step that the direction takes as number `step`.
  std::int64_t time(std::int64_t step) const { return backwards_ ? problem_.steps - 1 - step : step; }
  /// First time of the steps [begin, end).
  std::int64_t first_time(std::int64_t begin, std::int64_t end) const {
    return backwards_ ? problem_.steps - end : begin;
  }

  /// Operands: null when absent, `part` being the elements of one direction in those that are stacked by direction.
  const T* input(std::size_t operand, std::int64_t part = 0) const {
    if (operand == RecurrentOperands::none) return nullptr;
    const T* data = invocation_.input<T>(operand);
    return data ? data + index_ * part : nullptr;
  }
  /// Rows of an operand joined on its last axis, beginning with row `first`.
  Rows<const T> rows(std::size_t operand, std::int64_t width, std::int64_t first) const {
    return joined(input(operand), width, first);
  }
  template <class U>
  Rows<U> joined(U* data, std::int64_t width, std::int64_t first) const {
    const std::int64_t stride = problem_.directions * width;
    return data ? Rows<U>{data + first * stride + index_ * width, stride} : Rows<U>{};
  }

 private:
  const RecurrentProblem& problem_;
  const Invocation& invocation_;
  std::int64_t index_;
  bool backwards_;
};

// Rows of all steps of a chunk are multiplied at once: enough of them that weights read from the outer caches are
// used often, few enough that the chunk's own arrays stay there.
inline constexpr std::int64_t chunk_rows = 512;
// A wider batch is done in blocks, which bounds the scratch and keeps its offsets within 32 bits.
inline constexpr std::int64_t maximum_batch_block = 2048;
// Depth of one pass of a panel product: two such panels fit into an ordinary second-level cache.
inline constexpr std::int64_t maximum_depth = 1024;
// Columns of one call of the panel kernel: multiples of its tile.
inline constexpr std::int64_t maximum_columns = 48;

/// Batch rows that a direction takes through all its steps together.
inline std::int64_t batch_block_of(const RecurrentProblem& problem) {
  return std::min(problem.batch, maximum_batch_block);
}
/// Steps of one chunk.
inline std::int64_t chunk_steps_of(const RecurrentProblem& problem) {
  const std::int64_t steps = chunk_rows / std::max<std::int64_t>(batch_block_of(problem), 1);
  return std::max<std::int64_t>(std::min(steps, problem.steps), 1);
}

/// One panel by at most `maximum_columns` columns of any depth.
template <class T>
void multiply_deep_panel(const MatrixKernels<T>& matrix, std::int64_t depth, const T* panel,
                         const std::int32_t* offsets, const T* const* columns, std::int64_t column_count, T* c) {
  std::int64_t k = 0;
  do {
    const std::int64_t part = std::min(depth - k, maximum_depth);
    matrix.multiply_panel(part, panel + k * matrix.panel_width, offsets + k, columns, column_count, c, k > 0);
    k += part;
  } while (k < depth);
}

}  // namespace mpsgraph_native::cpu
