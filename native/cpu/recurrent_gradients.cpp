#include "cpu/recurrent_gradients.hpp"

namespace mpsgraph_native::cpu {

template <class T>
RecurrentGradients<T>::RecurrentGradients(const RecurrentProblem& problem, const KernelRequest& request)
    : problem_(problem), kernels_(kernels<T>().recurrent.gradients), matrix_(kernels<T>().matrix) {
  const std::int64_t units = problem_.units, gates = problem_.gate_count, panel = matrix_.panel_width;
  const RecurrentOperands& operands = problem_.operands;
  has_input_weight_ = request.has(operands.input_weight);
  batch_block_ = batch_block_of(problem_);
  chunk_steps_ = chunk_steps_of(problem_);
  const std::int64_t rows = chunk_steps_ * batch_block_;

  lines_ = ceil_divide(units, line);
  line_stride_ = rows * line;
  gate_stride_ = lines_ * line_stride_;
  panel_stride_ = rows * panel;
  unit_panels_ = ceil_divide(units, panel);
  input_panels_ = has_input_weight_ ? ceil_divide(problem_.input_size, panel) : 0;
  plan_offsets(rows);

  const std::int64_t stored_gates = gates + (problem_.cell == RecurrentCell::GRU ? 1 : 0);
  gate_gradients_ = scratch_.reserve<T>(stored_gates * gate_stride_);
  previous_ = scratch_.reserve<T>(unit_panels_ * panel_stride_);
  source_ = scratch_.reserve<T>(input_panels_ * panel_stride_);
  recurrent_weight_ = scratch_.reserve<T>(unit_panels_ * problem_.gate_units() * panel);
  input_weight_ = scratch_.reserve<T>(input_panels_ * problem_.gate_units() * panel);
  recurrent_weight_sums_ = scratch_.reserve<T>(unit_panels_ * problem_.gate_units() * panel);
  input_weight_sums_ = scratch_.reserve<T>(input_panels_ * problem_.gate_units() * panel);
  bias_sums_ = scratch_.reserve<T>(stored_gates * lines_ * line);
  peephole_sums_ = scratch_.reserve<T>(gates * lines_ * line);
  carry_ = scratch_.reserve<T>(batch_block_ * units);
  if (problem_.cell == RecurrentCell::GRU) {
    secondary_weight_ = scratch_.reserve<T>(unit_panels_ * units * panel);
    secondary_product_ = scratch_.reserve<T>(unit_panels_ * panel_stride_);
  } else if (problem_.cell == RecurrentCell::GRUResetBefore) {
    reset_previous_ = scratch_.reserve<T>(unit_panels_ * panel_stride_);
  } else {
    activated_ = scratch_.reserve<T>(batch_block_ * units);
  }
  if (problem_.cell == RecurrentCell::LSTM) cell_carry_ = scratch_.reserve<T>(batch_block_ * units);
  product_ = thread_scratch_.reserve<T>(maximum_columns * panel);
  plan_results(request);
}

template <class T>
void RecurrentGradients<T>::plan_offsets(std::int64_t rows) {
  const std::int64_t units = problem_.units, panel = matrix_.panel_width;
  const auto push = [](std::vector<std::int32_t>& offsets, std::int64_t offset) {
    offsets.push_back(static_cast<std::int32_t>(offset));
  };
  for (std::int64_t gate = 0; gate < problem_.gate_count; ++gate)
    for (std::int64_t unit = 0; unit < units; ++unit) {
      const std::int64_t within = unit / line * line_stride_ + unit % line;
      push(input_gates_, gate * gate_stride_ + within);
      // With the reset gate after the product, the output gate's rows of R are multiplied before r is.
      const bool reset = problem_.cell == RecurrentCell::GRU && gate == 2;
      push(recurrent_gates_, (reset ? 3 : gate) * gate_stride_ + within);
    }
  for (std::int64_t unit = 0; unit < units; ++unit) push(previous_units_, unit / panel * panel_stride_ + unit % panel);
  for (std::int64_t row = 0; row < rows; ++row) push(line_rows_, row * line);
}

template <class T>
void RecurrentGradients<T>::plan_results(const KernelRequest& request) {
  const RecurrentOperands& operands = problem_.operands;
  int next = 0;
  const auto place = [&](std::size_t operand, int& result) {
    if (operand != RecurrentOperands::none && request.has(operand)) result = next++;
  };
  place(operands.source, results_.source);
  place(operands.recurrent_weight, results_.recurrent_weight);
  place(operands.input_weight, results_.input_weight);
  place(operands.bias, results_.bias);
  place(operands.peephole, results_.peephole);
  place(operands.init_state, results_.init_state);
  place(operands.init_cell, results_.init_cell);
  place(operands.secondary_bias, results_.secondary_bias);
}

template <class T>
void RecurrentGradients<T>::operator()(const Invocation& invocation) const {
  for (std::int64_t index = 0; index < problem_.directions; ++index) {
    const RecurrentDirection<T> direction(problem_, invocation, index);
    clear_sums(invocation);
    if (problem_.steps > 0 && problem_.batch > 0) pack(invocation, direction);
    for (std::int64_t first = 0; first < problem_.batch; first += batch_block_)
      run_batch(invocation, direction, first, std::min(batch_block_, problem_.batch - first));
    write_sums(invocation, direction);
  }
}

template <class T>
void RecurrentGradients<T>::clear_sums(const Invocation& invocation) const {
  const std::int64_t elements = problem_.gate_units() * matrix_.panel_width;
  std::fill_n(shared(invocation, recurrent_weight_sums_), unit_panels_ * elements, T(0));
  std::fill_n(shared(invocation, input_weight_sums_), input_panels_ * elements, T(0));
  const std::int64_t stored_gates = problem_.gate_count + (problem_.cell == RecurrentCell::GRU ? 1 : 0);
  std::fill_n(shared(invocation, bias_sums_), stored_gates * lines_ * line, T(0));
  std::fill_n(shared(invocation, peephole_sums_), problem_.gate_count * lines_ * line, T(0));
}

template <class T>
void RecurrentGradients<T>::pack(const Invocation& invocation, const RecurrentDirection<T>& direction) const {
  const std::int64_t units = problem_.units, inputs = problem_.input_size, width = matrix_.panel_width;
  const std::int64_t depth = problem_.gate_units();
  const T* recurrent = direction.input(problem_.operands.recurrent_weight, depth * units);
  const T* input = direction.input(problem_.operands.input_weight, depth * inputs);
  for_each_item(invocation, unit_panels_ + input_panels_, (unit_panels_ + input_panels_) * width * depth * 4,
                [&](std::int64_t item, std::int64_t) {
                  if (item >= unit_panels_) {
                    const std::int64_t panel = item - unit_panels_, first = panel * width;
                    matrix_.pack_columns(input + first, inputs, std::min(width, inputs - first), depth,
                                         shared(invocation, input_weight_) + panel * depth * width);
                    return;
                  }
                  const std::int64_t first = item * width, count = std::min(width, units - first);
                  matrix_.pack_columns(recurrent + first, units, count, depth,
                                       shared(invocation, recurrent_weight_) + item * depth * width);
                  if (problem_.cell == RecurrentCell::GRU)
                    matrix_.pack_rows(recurrent + (2 * units + first) * units, units, count, units,
                                      shared(invocation, secondary_weight_) + item * units * width);
                });
}

template <class T>
void RecurrentGradients<T>::run_batch(const Invocation& invocation, const RecurrentDirection<T>& direction,
                                      std::int64_t first, std::int64_t batch) const {
  const RecurrentOperands& operands = problem_.operands;
  const std::int64_t units = problem_.units;
  const Rows<T> carry{shared(invocation, carry_), units};
  const Rows<T> cell_carry{shared(invocation, cell_carry_), units};
  copy_rows(direction.rows(operands.state_gradient, units, first), batch, carry);
  if (problem_.cell == RecurrentCell::LSTM)
    copy_rows(direction.rows(operands.cell_gradient, units, first), batch, cell_carry);

  if (activates() && problem_.steps > 0) {
    const std::int64_t last = direction.time(problem_.steps - 1) * problem_.batch + first;
    if (problem_.cell == RecurrentCell::LSTM)
      kernels_.activate(problem_.gates.state_activation, direction.rows(operands.output_fwd, units, last), batch, units,
                        {shared(invocation, activated_), units});
    else
      kernels_.activate(problem_.gates.activation[0], direction.rows(operands.z_state, units, last), batch, units,
                        {shared(invocation, activated_), units});
  }
  for (std::int64_t end = problem_.steps; end > 0;) {
    const std::int64_t begin = std::max<std::int64_t>(end - chunk_steps_, 0);
    const Chunk chunk{direction, begin, end, direction.first_time(begin, end), first, batch};
    run_steps(invocation, chunk);
    accumulate(invocation, chunk);
    end = begin;
  }
  if (results_.init_state >= 0)
    copy_rows({carry.data, units}, batch, direction.joined(invocation.output<T>(results_.init_state), units, first));
  if (results_.init_cell >= 0)
    copy_rows({cell_carry.data, units}, batch,
              direction.joined(invocation.output<T>(results_.init_cell), units, first));
}

/// Null: zeros.
template <class T>
void RecurrentGradients<T>::copy_rows(Rows<const T> source, std::int64_t rows, Rows<T> destination) const {
  for (std::int64_t row = 0; row < rows; ++row) {
    if (source)
      std::copy_n(source.at(row), problem_.units, destination.at(row));
    else
      std::fill_n(destination.at(row), problem_.units, T(0));
  }
}

/// h⁻ of a step, or c⁻: what the step before left, or what the operation began with.
template <class T>
Rows<const T> RecurrentGradients<T>::before(const Chunk& chunk, std::int64_t step, std::size_t initial) const {
  if (step == 0) return chunk.direction.rows(initial, problem_.units, chunk.first);
  return chunk.direction.rows(problem_.operands.output_fwd, problem_.units, row_of(chunk, step - 1));
}
template Rows<const float> RecurrentGradients<float>::before(const Chunk&, std::int64_t, std::size_t) const;
template Rows<const double> RecurrentGradients<double>::before(const Chunk&, std::int64_t, std::size_t) const;

template <class T>
void RecurrentGradients<T>::run_steps(const Invocation& invocation, const Chunk& chunk) const {
  const RecurrentOperands& operands = problem_.operands;
  const std::int64_t units = problem_.units;
  const bool lstm = problem_.cell == RecurrentCell::LSTM;

  RecurrentGradientStep<T> step{};
  step.gates = problem_.gates;
  step.units = units;
  step.line_stride = line_stride_;
  step.gate_stride = gate_stride_;
  step.panel_stride = panel_stride_;
  step.mask = chunk.direction.rows(operands.mask, units, chunk.first);
  step.peephole = chunk.direction.input(operands.peephole, problem_.gate_units());
  step.secondary_bias = chunk.direction.input(operands.secondary_bias, units);
  step.carry = {shared(invocation, carry_), units};
  step.cell_carry = {shared(invocation, cell_carry_), units};
  step.activated = {shared(invocation, activated_), units};
  if (problem_.cell == RecurrentCell::GRU) multiply_secondary(invocation, chunk, step.mask);

  const Product recurrent{problem_.cell == RecurrentCell::GRUResetBefore ? 2 * units : problem_.gate_units(), 0};
  const T* finished = nullptr;  // gate gradients of the step that went before
  for (std::int64_t s = chunk.end - 1; s >= chunk.begin; --s) {
    const std::int64_t row = row_of(chunk, s), slot = (chunk.direction.time(s) - chunk.first_time) * chunk.batch;
    step.source_gradient = chunk.direction.rows(operands.source_gradient, units, row);
    step.z_state = chunk.direction.rows(operands.z_state, problem_.gate_units(), row);
    step.previous_z_state =
        s == 0 ? Rows<const T>{} : chunk.direction.rows(operands.z_state, problem_.gate_units(), row_of(chunk, s - 1));
    if (lstm) step.previous_cell = before(chunk, s, operands.init_cell);
    step.state = activates() ? chunk.direction.rows(operands.init_state, units, chunk.first)
                             : before(chunk, s, operands.init_state);
    step.gate_gradients = shared(invocation, gate_gradients_) + slot * line;
    step.previous = shared(invocation, previous_) + slot * matrix_.panel_width;
    step.reset_previous = shared(invocation, reset_previous_) + slot * matrix_.panel_width;
    step.secondary_product = shared(invocation, secondary_product_) + slot * matrix_.panel_width;
    switch (problem_.cell) {
      case RecurrentCell::GRU: run_blocks(invocation, kernels_.gru, step, recurrent, finished, chunk.batch); break;
      case RecurrentCell::GRUResetBefore:
        run_blocks(invocation, kernels_.gru_update_output, step, recurrent, finished, chunk.batch);
        run_blocks(invocation, kernels_.gru_reset, step, {units, 2 * units}, step.gate_gradients, chunk.batch);
        break;
      case RecurrentCell::LSTM: run_blocks(invocation, kernels_.lstm, step, recurrent, finished, chunk.batch); break;
      case RecurrentCell::SingleGate:
        run_blocks(invocation, kernels_.single_gate, step, recurrent, finished, chunk.batch);
        break;
    }
    finished = step.gate_gradients;
  }
  run_blocks(invocation, activates() ? kernels_.set_carry : kernels_.add_to_carry, step, recurrent, finished,
             chunk.batch);
}

/// Each panel of units: the product of a finished step's gate gradients with R, when there is such a step, and what
/// follows from it.
template <class T>
void RecurrentGradients<T>::run_blocks(const Invocation& invocation, RecurrentGradientKernel<T> kernel,
                                       const RecurrentGradientStep<T>& step, const Product& product, const T* finished,
                                       std::int64_t batch) const {
  const std::int64_t width = matrix_.panel_width, groups = ceil_divide(batch, step_columns);
  const std::int64_t work = unit_panels_ * width * batch * ((finished ? product.depth : 0) + 64);
  for_each_item(invocation, unit_panels_ * groups, work, [&](std::int64_t item, std::int64_t thread) {
    const std::int64_t panel = item / groups, group = item % groups;
    RecurrentBlock<T> block{panel * width, batch * group / groups, batch * (group + 1) / groups, nullptr};
    if (finished) {
      T* c = per_thread(invocation, thread, product_);
      const T* columns[step_columns];
      for (std::int64_t row = block.begin; row < block.end; ++row) columns[row - block.begin] = finished + row * line;
      const T* weights = shared(invocation, recurrent_weight_) + panel * problem_.gate_units() * width;
      multiply_deep_panel(matrix_, product.depth, weights + product.first * width,
                          recurrent_gates_.data() + product.first, columns, block.end - block.begin, c);
      block.product = c;
    }
    kernel(step, block);
  });
}

/// h⁻∘m of every step of the chunk, and h⁻∘m·Roᵀ, which the forward pass had but z_state does not keep.
template <class T>
void RecurrentGradients<T>::multiply_secondary(const Invocation& invocation, const Chunk& chunk,
                                               Rows<const T> mask) const {
  const std::int64_t units = problem_.units, width = matrix_.panel_width, rows = chunk.rows();
  T* const previous = shared(invocation, previous_);
  for_each_item(invocation, chunk.end - chunk.begin, rows * units * 16, [&](std::int64_t item, std::int64_t) {
    const std::int64_t step = chunk.begin + item, slot = (chunk.direction.time(step) - chunk.first_time) * chunk.batch;
    kernels_.pack_state(before(chunk, step, problem_.operands.init_state), mask, chunk.batch, units,
                        previous + slot * width, panel_stride_);
  });
  const std::int64_t groups = ceil_divide(rows, maximum_columns);
  for_each_item(invocation, unit_panels_ * groups, rows * unit_panels_ * width * units,
                [&](std::int64_t item, std::int64_t) {
                  const std::int64_t panel = item / groups, begin = item % groups * maximum_columns;
                  const std::int64_t count = std::min(maximum_columns, rows - begin);
                  const T* columns[maximum_columns];
                  for (std::int64_t i = 0; i < count; ++i) columns[i] = previous + (begin + i) * width;
                  multiply_deep_panel(matrix_, units, shared(invocation, secondary_weight_) + panel * units * width,
                                      previous_units_.data(), columns, count,
                                      shared(invocation, secondary_product_) + panel * panel_stride_ + begin * width);
                });
}

namespace {

template <class T>
Kernel make_typed(const RecurrentProblem& problem, const KernelRequest& request) {
  RecurrentGradients<T> gradients(problem, request);
  const std::size_t shared_bytes = gradients.shared_bytes(), thread_bytes = gradients.bytes_per_thread();
  return {shared_bytes, thread_bytes, std::move(gradients)};
}

}  // namespace

Kernel make_recurrent_gradients_kernel(const RecurrentProblem& problem, const KernelRequest& request) {
  return for_floating(problem.dtype, [&]<class T>(std::type_identity<T>) { return make_typed<T>(problem, request); });
}

}  // namespace mpsgraph_native::cpu
