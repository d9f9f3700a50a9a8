#include "cpu/recurrent_gradients.hpp"

namespace mpsgraph_native::cpu {

template <class T>
void RecurrentGradients<T>::accumulate(const Invocation& invocation, const Chunk& chunk) const {
  if (has_input_weight_) {
    pack_source(invocation, chunk);
    write_source_gradient(invocation, chunk);
  } else {
    write_gates_as_source_gradient(invocation, chunk);
  }
  accumulate_weights(invocation, chunk);
  accumulate_biases(invocation, chunk);
}

/// The chunk's rows of the source as panels over I: the left side of the input weights' gradient.
template <class T>
void RecurrentGradients<T>::pack_source(const Invocation& invocation, const Chunk& chunk) const {
  const std::int64_t inputs = problem_.input_size, width = matrix_.panel_width, steps = chunk.end - chunk.begin;
  const T* source = chunk.direction.input(problem_.operands.source);
  for_each_item(invocation, input_panels_ * steps, input_panels_ * chunk.rows() * width * 4,
                [&](std::int64_t item, std::int64_t) {
                  const std::int64_t panel = item / steps, slot = item % steps;
                  const std::int64_t row = (chunk.first_time + slot) * problem_.batch + chunk.first;
                  matrix_.pack_columns(
                      source + row * inputs + panel * width, inputs, std::min(width, inputs - panel * width),
                      chunk.batch, shared(invocation, source_) + panel * panel_stride_ + slot * chunk.batch * width);
                });
}

/// dR += a'ᵀ·(h⁻∘m) and dW += a'ᵀ·x over the rows of the chunk: panels over units or inputs, columns over gates.
template <class T>
void RecurrentGradients<T>::accumulate_weights(const Invocation& invocation, const Chunk& chunk) const {
  const std::int64_t units = problem_.units, gates = problem_.gate_count, width = matrix_.panel_width;
  const std::int64_t groups = ceil_divide(units, maximum_columns), per_panel = gates * groups;
  const std::int64_t panels = unit_panels_ + input_panels_;
  const T* const lines = shared(invocation, gate_gradients_);
  for_each_item(invocation, panels * per_panel, panels * width * problem_.gate_units() * chunk.rows(),
                [&](std::int64_t item, std::int64_t) {
                  const std::int64_t gate = item % per_panel / groups, group = item % groups;
                  const std::int64_t begin = gate * units + group * maximum_columns;
                  const std::int64_t count = std::min(maximum_columns, (gate + 1) * units - begin);
                  const bool recurrent = item / per_panel < unit_panels_;
                  const std::int64_t panel = item / per_panel - (recurrent ? 0 : unit_panels_);
                  const bool reset = problem_.cell == RecurrentCell::GRUResetBefore && gate == 2;
                  const T* left = shared(invocation, !recurrent ? source_ : reset ? reset_previous_ : previous_);
                  const std::vector<std::int32_t>& offsets = recurrent ? recurrent_gates_ : input_gates_;
                  T* sums = shared(invocation, recurrent ? recurrent_weight_sums_ : input_weight_sums_);
                  const T* columns[maximum_columns];
                  for (std::int64_t i = 0; i < count; ++i)
                    columns[i] = lines + offsets[static_cast<std::size_t>(begin + i)];
                  matrix_.multiply_panel(chunk.rows(), left + panel * panel_stride_, line_rows_.data(), columns, count,
                                         sums + (panel * problem_.gate_units() + begin) * width, true);
                });
}

template <class T>
void RecurrentGradients<T>::accumulate_biases(const Invocation& invocation, const Chunk& chunk) const {
  const std::int64_t gates = problem_.gate_count;
  const bool secondary = results_.secondary_bias >= 0 && problem_.cell == RecurrentCell::GRU;
  const std::int64_t sums = (results_.bias >= 0 ? gates : 0) + secondary;
  const std::int64_t first_gate = results_.bias >= 0 ? 0 : gates;
  const T* const gradients = shared(invocation, gate_gradients_);
  for_each_item(invocation, sums * lines_, sums * lines_ * line * chunk.rows(), [&](std::int64_t item, std::int64_t) {
    const std::int64_t gate = first_gate + item / lines_, column = item % lines_;
    kernels_.sum_line(gradients + gate * gate_stride_ + column * line_stride_, chunk.rows(),
                      shared(invocation, bias_sums_) + (gate * lines_ + column) * line);
  });
  if (results_.peephole < 0) return;
  for_each_item(invocation, gates * lines_, gates * lines_ * line * chunk.rows(), [&](std::int64_t item, std::int64_t) {
    const std::int64_t gate = item / lines_, column = item % lines_;
    const T* lines = gradients + gate * gate_stride_ + column * line_stride_;
    for (std::int64_t step = chunk.begin; step < chunk.end; ++step) {
      const Rows<const T> cell = before(chunk, step, problem_.operands.init_cell);
      if (!cell) continue;
      const std::int64_t slot = (chunk.direction.time(step) - chunk.first_time) * chunk.batch;
      kernels_.sum_line_products(lines + slot * line, {cell.at(0, column * line), cell.stride}, chunk.batch,
                                 std::min(line, problem_.units - column * line),
                                 shared(invocation, peephole_sums_) + item * line);
    }
  });
}

/// dx = a'·W; the second direction adds to what the first wrote.
template <class T>
void RecurrentGradients<T>::write_source_gradient(const Invocation& invocation, const Chunk& chunk) const {
  const std::int64_t inputs = problem_.input_size, width = matrix_.panel_width, depth = problem_.gate_units();
  const std::int64_t rows = chunk.rows(), groups = ceil_divide(rows, maximum_columns);
  const T* const lines = shared(invocation, gate_gradients_);
  T* const result = invocation.output<T>(static_cast<std::size_t>(results_.source));
  for_each_item(invocation, input_panels_ * groups, input_panels_ * width * rows * depth,
                [&](std::int64_t item, std::int64_t thread) {
                  const std::int64_t panel = item / groups, begin = item % groups * maximum_columns;
                  const std::int64_t count = std::min(maximum_columns, rows - begin);
                  const T* columns[maximum_columns];
                  for (std::int64_t i = 0; i < count; ++i) columns[i] = lines + (begin + i) * line;
                  T* c = per_thread(invocation, thread, product_);
                  multiply_deep_panel(matrix_, depth, shared(invocation, input_weight_) + panel * depth * width,
                                      input_gates_.data(), columns, count, c);
                  const std::int64_t first = panel * width, valid = std::min(width, inputs - first);
                  for (std::int64_t i = 0; i < count; ++i) {
                    const std::int64_t slot = (begin + i) / chunk.batch, n = (begin + i) % chunk.batch;
                    const std::int64_t row = (chunk.first_time + slot) * problem_.batch + chunk.first + n;
                    T* destination = result + row * inputs + first;
                    if (chunk.direction.index() == 0)
                      std::copy_n(c + i * width, valid, destination);
                    else
                      matrix_.add(c + i * width, valid, destination);
                  }
                });
}

/// Without input weights the source holds the pre-activations, and the gates' gradients are its own.
template <class T>
void RecurrentGradients<T>::write_gates_as_source_gradient(const Invocation& invocation, const Chunk& chunk) const {
  const std::int64_t units = problem_.units, steps = chunk.end - chunk.begin;
  const T* const lines = shared(invocation, gate_gradients_);
  T* const result = invocation.output<T>(static_cast<std::size_t>(results_.source));
  for_each_item(invocation, steps, chunk.rows() * problem_.gate_units() * 8, [&](std::int64_t slot, std::int64_t) {
    const Rows<T> rows =
        chunk.direction.joined(result, problem_.gate_units(), (chunk.first_time + slot) * problem_.batch + chunk.first);
    for (std::int64_t item = 0; item < problem_.gate_count * lines_; ++item) {
      const std::int64_t gate = item / lines_, first = item % lines_ * line;
      const T* from = lines + gate * gate_stride_ + item % lines_ * line_stride_ + slot * chunk.batch * line;
      for (std::int64_t n = 0; n < chunk.batch; ++n)
        std::copy_n(from + n * line, std::min(line, units - first), rows.at(n, gate * units + first));
    }
  });
}

template <class T>
void RecurrentGradients<T>::write_sums(const Invocation& invocation, const RecurrentDirection<T>& direction) const {
  const std::int64_t units = problem_.units, gate_units = problem_.gate_units(), width = matrix_.panel_width;
  const auto write_weights = [&](int result, Slot<T> slot, std::int64_t columns) {
    if (result < 0) return;
    const T* sums = shared(invocation, slot);
    T* destination = invocation.output<T>(static_cast<std::size_t>(result)) + direction.index() * gate_units * columns;
    for_each_item(invocation, gate_units, gate_units * columns * 4, [&](std::int64_t row, std::int64_t) {
      for (std::int64_t first = 0; first < columns; first += width)
        std::copy_n(sums + (first / width * gate_units + row) * width, std::min(width, columns - first),
                    destination + row * columns + first);
    });
  };
  const auto write_vector = [&](int result, const T* sums, std::int64_t gates) {
    if (result < 0) return;
    T* destination = invocation.output<T>(static_cast<std::size_t>(result)) + direction.index() * gates * units;
    for (std::int64_t gate = 0; gate < gates; ++gate)
      std::copy_n(sums + gate * lines_ * line, units, destination + gate * units);
  };
  write_weights(results_.recurrent_weight, recurrent_weight_sums_, units);
  write_weights(results_.input_weight, input_weight_sums_, problem_.input_size);
  const T* bias = shared(invocation, bias_sums_);
  write_vector(results_.bias, bias, problem_.gate_count);
  write_vector(results_.peephole, shared(invocation, peephole_sums_), problem_.gate_count);
  if (problem_.cell == RecurrentCell::GRU)
    write_vector(results_.secondary_bias, bias + 3 * lines_ * line, 1);
  else if (results_.secondary_bias >= 0)
    std::fill_n(invocation.output<T>(static_cast<std::size_t>(results_.secondary_bias)) + direction.index() * units,
                units, T(0));
}

template void RecurrentGradients<float>::accumulate(const Invocation&, const Chunk&) const;
template void RecurrentGradients<double>::accumulate(const Invocation&, const Chunk&) const;
template void RecurrentGradients<float>::write_sums(const Invocation&, const RecurrentDirection<float>&) const;
template void RecurrentGradients<double>::write_sums(const Invocation&, const RecurrentDirection<double>&) const;

}  // namespace mpsgraph_native::cpu
