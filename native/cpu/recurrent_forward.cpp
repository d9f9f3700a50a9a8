#include "cpu/recurrent_plan.hpp"

namespace mpsgraph_native::cpu {
namespace {

/// One product of a step and the gates it ends in.
template <class T>
struct ForwardPass {
  const RecurrentForwardKernel<T>* kernel;
  std::vector<int> gates;
  std::int64_t blocks;  ///< of units
  std::int64_t width;   ///< packed elements of one k: the block's units of every gate
  Slot<T> weights;
};

template <class T>
class RecurrentForward {
 public:
  RecurrentForward(const RecurrentProblem& problem, const KernelRequest& request)
      : problem_(problem), matrix_(kernels<T>().matrix), lanes_(kernels<T>().recurrent.vector_width) {
    const std::int64_t units = problem_.units, gates = problem_.gate_count;
    vectors_ = ceil_divide(units, lanes_);
    batch_block_ = batch_block_of(problem_);
    chunk_steps_ = chunk_steps_of(problem_);
    plan_passes();
    bias_ = scratch_.reserve<T>(vectors_ * gates * lanes_);
    if (problem_.cell == RecurrentCell::GRU) secondary_bias_ = scratch_.reserve<T>(vectors_ * lanes_);
    has_input_weight_ = request.has(problem_.operands.input_weight);
    plan_input();
    zeros_ = scratch_.reserve<T>(units);
    const std::int64_t state = batch_block_ * units;
    if (request.has(problem_.operands.mask)) masked_ = scratch_.reserve<T>(2 * state);
    if (problem_.cell == RecurrentCell::LSTM) {
      if (request.has(problem_.operands.peephole)) peephole_ = scratch_.reserve<T>(vectors_ * gates * lanes_);
      writes_cell_ = request.outputs.size() > 1;
      if (!writes_cell_) cell_ = scratch_.reserve<T>(state);
    }
    if (problem_.cell == RecurrentCell::GRUResetBefore) {
      update_gate_ = scratch_.reserve<T>(state);
      reset_state_ = scratch_.reserve<T>(state);
    }
    z_state_ = problem_.training ? static_cast<int>(request.outputs.size()) - 1 : -1;
  }

  std::size_t scratch_bytes() const { return scratch_.bytes(); }

  void operator()(const Invocation& invocation) const {
    if (problem_.batch == 0 || problem_.steps == 0) return;
    for (std::int64_t index = 0; index < problem_.directions; ++index) {
      const RecurrentDirection<T> direction(problem_, invocation, index);
      pack(invocation, direction);
      for (std::int64_t first = 0; first < problem_.batch; first += batch_block_)
        run_batch(invocation, direction, first, std::min(batch_block_, problem_.batch - first));
    }
  }

 private:
  void plan_passes() {
    const RecurrentKernels<T>& all = kernels<T>().recurrent;
    switch (problem_.cell) {
      case RecurrentCell::GRU: passes_ = {{&all.gru, {0, 1, 2}, 0, 0, {}}}; break;
      case RecurrentCell::GRUResetBefore:
        passes_ = {{&all.gru_update_reset, {0, 1}, 0, 0, {}}, {&all.gru_output, {2}, 0, 0, {}}};
        break;
      case RecurrentCell::LSTM: passes_ = {{&all.lstm, {0, 1, 2, 3}, 0, 0, {}}}; break;
      case RecurrentCell::SingleGate: passes_ = {{&all.single_gate, {0}, 0, 0, {}}}; break;
    }
    for (ForwardPass<T>& pass : passes_) {
      pass.blocks = ceil_divide(problem_.units, pass.kernel->block_units);
      pass.width = static_cast<std::int64_t>(pass.gates.size()) * pass.kernel->block_units;
      pass.weights = scratch_.reserve<T>(pass.blocks * problem_.units * pass.width);
    }
  }

  /// The input product leaves vector j of gate g, number v = j * gates + g, as slot v of its panels, so that the
  /// step reads the gates of the same units side by side.
  void plan_input() {
    const std::int64_t gates = problem_.gate_count, panel = matrix_.panel_width, slots = panel / lanes_;
    input_panels_ = ceil_divide(vectors_ * gates, slots);
    input_panel_stride_ = chunk_steps_ * batch_block_ * panel;
    for (std::int64_t v = 0; v < vectors_ * gates; ++v)
      input_offsets_.push_back(has_input_weight_
                                   ? v / slots * input_panel_stride_ + v % slots * lanes_
                                   : problem_.gates.order[v % gates] * problem_.units + v / gates * lanes_);
    if (!has_input_weight_) return;
    input_weight_ = scratch_.reserve<T>(input_panels_ * panel * problem_.input_size);
    projection_ = scratch_.reserve<T>(input_panels_ * input_panel_stride_);
    for (std::int64_t k = 0; k < problem_.input_size; ++k) input_depth_.push_back(static_cast<std::int32_t>(k));
  }

  // Packing

  void pack(const Invocation& invocation, const RecurrentDirection<T>& direction) const {
    const RecurrentOperands& operands = problem_.operands;
    const std::int64_t units = problem_.units;
    const T* recurrent = direction.input(operands.recurrent_weight, problem_.gate_units() * units);
    for (const ForwardPass<T>& pass : passes_)
      for_each_item(
          invocation, pass.blocks, 8 * pass.blocks * units * pass.width, [&](std::int64_t block, std::int64_t) {
            pack_recurrent_block(pass, block, recurrent, shared(invocation, pass.weights) + block * units * pass.width);
          });
    if (has_input_weight_) {
      const std::int64_t elements = matrix_.panel_width * problem_.input_size;
      const T* weight = direction.input(operands.input_weight, problem_.gate_units() * problem_.input_size);
      for_each_item(invocation, input_panels_, 8 * input_panels_ * elements, [&](std::int64_t panel, std::int64_t) {
        pack_input_panel(panel, weight, shared(invocation, input_weight_) + panel * elements);
      });
    }
    pack_vectors(direction.input(operands.bias, problem_.gate_units()), problem_.gate_count, shared(invocation, bias_));
    if (problem_.cell == RecurrentCell::GRU)
      pack_vectors(direction.input(operands.secondary_bias, units), 1, shared(invocation, secondary_bias_));
    if (const T* peephole = direction.input(operands.peephole, problem_.gate_units()))
      pack_vectors(peephole, problem_.gate_count, shared(invocation, peephole_));
    std::fill_n(shared(invocation, zeros_), units, T(0));
  }

  /// Units of vector j that exist.
  std::int64_t units_of(std::int64_t j) const {
    return std::clamp<std::int64_t>(problem_.units - j * lanes_, 0, lanes_);
  }

  void pack_recurrent_block(const ForwardPass<T>& pass, std::int64_t block, const T* weight, T* packed) const {
    const std::int64_t units = problem_.units, slots = pass.kernel->block_units / lanes_;
    if (units_of((block + 1) * slots - 1) < lanes_) std::fill_n(packed, units * pass.width, T(0));
    for (std::size_t g = 0; g < pass.gates.size(); ++g)
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        const std::int64_t j = block * slots + slot;
        const std::int64_t row = problem_.gates.order[pass.gates[g]] * units + j * lanes_;
        if (units_of(j) > 0)
          matrix_.transpose(weight + row * units, units, units_of(j), units,
                            packed + (static_cast<std::int64_t>(g) * slots + slot) * lanes_, pass.width);
      }
  }

  void pack_input_panel(std::int64_t panel, const T* weight, T* packed) const {
    const std::int64_t gates = problem_.gate_count, width = matrix_.panel_width, slots = width / lanes_;
    const std::int64_t depth = problem_.input_size;
    if (panel + 1 == input_panels_ || problem_.units % lanes_) std::fill_n(packed, width * depth, T(0));
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      const std::int64_t v = panel * slots + slot, j = v / gates;
      if (units_of(j) == 0) continue;
      const std::int64_t row = problem_.gates.order[v % gates] * problem_.units + j * lanes_;
      matrix_.transpose(weight + row * depth, depth, units_of(j), depth, packed + slot * lanes_, width);
    }
  }

  /// One value per unit and gate, as whole vectors [j][gate]; zeros when absent.
  void pack_vectors(const T* values, std::int64_t gates, T* packed) const {
    std::fill_n(packed, vectors_ * gates * lanes_, T(0));
    if (!values) return;
    for (std::int64_t v = 0; v < vectors_ * gates; ++v) {
      const std::int64_t j = v / gates, order = gates == 1 ? 0 : problem_.gates.order[v % gates];
      std::copy_n(values + order * problem_.units + j * lanes_, units_of(j), packed + v * lanes_);
    }
  }

  // Running

  void run_batch(const Invocation& invocation, const RecurrentDirection<T>& direction, std::int64_t first,
                 std::int64_t batch) const {
    const RecurrentOperands& operands = problem_.operands;
    const std::int64_t units = problem_.units, steps = problem_.steps;
    const Rows<const T> zeros{shared(invocation, zeros_), 0};
    const auto initial = [&](std::size_t operand) {
      const Rows<const T> given = direction.rows(operand, units, first);
      return given ? given : zeros;
    };
    T* const output = invocation.output<T>(0);
    T* const cell_output = writes_cell_ ? invocation.output<T>(1) : nullptr;
    T* const z_state = z_state_ < 0 ? nullptr : invocation.output<T>(static_cast<std::size_t>(z_state_));

    RecurrentStep<T> step{};
    step.gates = problem_.gates;
    step.units = units;
    step.input_offsets = input_offsets_.data();
    step.bias = shared(invocation, bias_);
    step.secondary_bias = shared(invocation, secondary_bias_);
    step.peephole = direction.input(operands.peephole) ? shared(invocation, peephole_) : nullptr;
    step.mask = direction.rows(operands.mask, units, first);
    step.update_gate = {shared(invocation, update_gate_), units};
    step.reset_state = {shared(invocation, reset_state_), units};
    step.state = initial(operands.init_state);
    step.cell = initial(operands.init_cell);
    Rows<T> masked{};
    if (step.mask) {
      masked = {shared(invocation, masked_), units};
      for (std::int64_t row = 0; row < batch; ++row)
        for (std::int64_t unit = 0; unit < units; ++unit)
          *masked.at(row, unit) = *step.state.at(row, unit) * *step.mask.at(row, unit);
    }

    for (std::int64_t begin = 0; begin < steps; begin += chunk_steps_) {
      const std::int64_t end = std::min(begin + chunk_steps_, steps);
      const std::int64_t first_time = direction.first_time(begin, end);
      if (has_input_weight_) project(invocation, direction, first_time, end - begin, first, batch);
      for (std::int64_t s = begin; s < end; ++s) {
        const std::int64_t time = direction.time(s), row = time * problem_.batch + first;
        if (has_input_weight_)
          step.input = {shared(invocation, projection_) + (time - first_time) * batch * matrix_.panel_width,
                        matrix_.panel_width};
        else
          step.input = direction.rows(operands.source, problem_.gate_units(), row);
        step.output = direction.joined(output, units, row);
        step.z_state = direction.joined(z_state, problem_.gate_units(), row);
        step.output_cell =
            writes_cell_ ? direction.joined(cell_output, units, row) : Rows<T>{shared(invocation, cell_), units};
        step.recurrent = step.state;
        if (step.mask) {
          // The product of this step still reads the masked state while the next one is written.
          step.recurrent = {masked.at(s % 2 * batch_block_), units};
          step.masked_output = {masked.at((s + 1) % 2 * batch_block_), units};
        }
        for (const ForwardPass<T>& pass : passes_) {
          if (&pass != &passes_.front()) step.recurrent = {step.reset_state.data, units};
          run_pass(invocation, pass, step, batch);
        }
        step.state = {step.output.data, step.output.stride};
        step.cell = {step.output_cell.data, step.output_cell.stride};
      }
    }
  }

  void run_pass(const Invocation& invocation, const ForwardPass<T>& pass, RecurrentStep<T>& step,
                std::int64_t batch) const {
    step.weights = shared(invocation, pass.weights);
    const std::int64_t tiles = ceil_divide(batch, pass.kernel->tile_rows), items = pass.blocks * tiles;
    const std::int64_t work = pass.blocks * pass.width * batch * (problem_.units + 32);
    const std::int64_t chunks = std::min(chunks_for(invocation, work), items);
    parallel_for(chunks, [&](std::int64_t chunk) {
      const Range range = split_range(items, chunk, chunks);
      for (std::int64_t item = range.begin; item < range.end;) {
        const std::int64_t block = item / tiles, next = std::min((block + 1) * tiles, range.end);
        pass.kernel->run(step, block, batch * (item - block * tiles) / tiles, batch * (next - block * tiles) / tiles);
        item = next;
      }
    });
  }

  /// x·Wᵀ for the rows of some steps, of one block of the batch.
  void project(const Invocation& invocation, const RecurrentDirection<T>& direction, std::int64_t first_time,
               std::int64_t steps, std::int64_t first, std::int64_t batch) const {
    const std::int64_t depth = problem_.input_size, width = matrix_.panel_width, rows = steps * batch;
    const std::int64_t groups = ceil_divide(rows, maximum_columns);
    const T* source = direction.input(problem_.operands.source);
    for_each_item(invocation, input_panels_ * groups, rows * input_panels_ * width * depth,
                  [&](std::int64_t item, std::int64_t) {
                    const std::int64_t panel = item / groups, begin = item % groups * maximum_columns;
                    const std::int64_t count = std::min(maximum_columns, rows - begin);
                    const T* columns[maximum_columns];
                    for (std::int64_t i = 0; i < count; ++i) {
                      const std::int64_t step = (begin + i) / batch, n = (begin + i) % batch;
                      columns[i] = source + ((first_time + step) * problem_.batch + first + n) * depth;
                    }
                    multiply_deep_panel(matrix_, depth, shared(invocation, input_weight_) + panel * width * depth,
                                        input_depth_.data(), columns, count,
                                        shared(invocation, projection_) + panel * input_panel_stride_ + begin * width);
                  });
  }

  RecurrentProblem problem_;
  const MatrixKernels<T>& matrix_;
  std::int64_t lanes_;
  std::int64_t vectors_, batch_block_, chunk_steps_;
  std::int64_t input_panels_ = 0, input_panel_stride_ = 0;
  std::vector<ForwardPass<T>> passes_;
  std::vector<std::int64_t> input_offsets_;
  std::vector<std::int32_t> input_depth_;
  bool has_input_weight_ = false, writes_cell_ = false;
  int z_state_ = -1;  ///< its place among the outputs
  ScratchLayout scratch_;
  Slot<T> bias_, secondary_bias_, peephole_, input_weight_, projection_, zeros_, masked_, cell_, update_gate_,
      reset_state_;
};

}  // namespace

Kernel make_recurrent_kernel(const RecurrentProblem& problem, const KernelRequest& request) {
  return for_floating(problem.dtype, [&]<class T>(std::type_identity<T>) {
    RecurrentForward<T> forward(problem, request);
    const std::size_t scratch = forward.scratch_bytes();
    return Kernel{scratch, 0, std::move(forward)};
  });
}

}  // namespace mpsgraph_native::cpu
