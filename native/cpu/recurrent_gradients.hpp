#pragma once

#include "cpu/recurrent_plan.hpp"

namespace mpsgraph_native::cpu {

/// Gradients of one recurrent operation. A direction walks its steps from the last to the first in chunks: every
/// step's gate gradients are kept for the chunk, then multiplied with the sources and states at once.
template <class T>
class RecurrentGradients {
 public:
  RecurrentGradients(const RecurrentProblem& problem, const KernelRequest& request);

  std::size_t shared_bytes() const { return scratch_.bytes(); }
  std::size_t bytes_per_thread() const { return thread_scratch_.bytes(); }
  void operator()(const Invocation& invocation) const;

 private:
  static constexpr std::int64_t line = 64 / sizeof(T);  ///< elements of one line of gate gradients
  static constexpr std::int64_t step_columns = 24;      ///< batch rows of one block of a step

  /// Steps [begin, end) of a direction, for batch rows [first, first + batch).
  struct Chunk {
    const RecurrentDirection<T>& direction;
    std::int64_t begin, end, first_time, first, batch;
    std::int64_t rows() const { return (end - begin) * batch; }
  };
  /// Rows of R that take part in a product.
  struct Product {
    std::int64_t depth, first;
  };
  /// Places among the outputs; negative: absent.
  struct Results {
    int source = -1, recurrent_weight = -1, input_weight = -1, bias = -1, peephole = -1, init_state = -1,
        init_cell = -1, secondary_bias = -1;
  };

  void plan_offsets(std::int64_t rows);
  void plan_results(const KernelRequest& request);

  /// LSTM and single gate compute their state anew from z_state; the GRU is given it.
  bool activates() const { return problem_.cell == RecurrentCell::LSTM || problem_.cell == RecurrentCell::SingleGate; }
  std::int64_t row_of(const Chunk& chunk, std::int64_t step) const {
    return chunk.direction.time(step) * problem_.batch + chunk.first;
  }
  Rows<const T> before(const Chunk& chunk, std::int64_t step, std::size_t initial) const;

  void clear_sums(const Invocation& invocation) const;
  void pack(const Invocation& invocation, const RecurrentDirection<T>& direction) const;
  void run_batch(const Invocation& invocation, const RecurrentDirection<T>& direction, std::int64_t first,
                 std::int64_t batch) const;
  void copy_rows(Rows<const T> source, std::int64_t rows, Rows<T> destination) const;
  void run_steps(const Invocation& invocation, const Chunk& chunk) const;
  void run_blocks(const Invocation& invocation, RecurrentGradientKernel<T> kernel, const RecurrentGradientStep<T>& step,
                  const Product& product, const T* finished, std::int64_t batch) const;
  void multiply_secondary(const Invocation& invocation, const Chunk& chunk, Rows<const T> mask) const;

  // What one chunk adds to the results; in recurrent_accumulation.cpp.
  void accumulate(const Invocation& invocation, const Chunk& chunk) const;
  void pack_source(const Invocation& invocation, const Chunk& chunk) const;
  void accumulate_weights(const Invocation& invocation, const Chunk& chunk) const;
  void accumulate_biases(const Invocation& invocation, const Chunk& chunk) const;
  void write_source_gradient(const Invocation& invocation, const Chunk& chunk) const;
  void write_gates_as_source_gradient(const Invocation& invocation, const Chunk& chunk) const;
  void write_sums(const Invocation& invocation, const RecurrentDirection<T>& direction) const;

  RecurrentProblem problem_;
  const RecurrentGradientKernels<T>& kernels_;
  const MatrixKernels<T>& matrix_;
  bool has_input_weight_;
  std::int64_t batch_block_, chunk_steps_;
  std::int64_t lines_;  ///< of one gate
  std::int64_t line_stride_, gate_stride_, panel_stride_;
  std::int64_t unit_panels_, input_panels_;
  Results results_;
  // Where the products find element k of a column: by gate and unit in the lines of one row, by unit in the panels of
  // `previous`, by row in one element of the lines.
  std::vector<std::int32_t> input_gates_, recurrent_gates_, previous_units_, line_rows_;

  ScratchLayout scratch_, thread_scratch_;
  Slot<T> gate_gradients_, previous_, reset_previous_, source_, secondary_product_;
  Slot<T> recurrent_weight_, input_weight_, secondary_weight_;
  Slot<T> recurrent_weight_sums_, input_weight_sums_, bias_sums_, peephole_sums_;
  Slot<T> carry_, cell_carry_, activated_;
  Slot<T> product_;
};

}  // namespace mpsgraph_native::cpu
