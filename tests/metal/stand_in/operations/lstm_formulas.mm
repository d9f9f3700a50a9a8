#include "lstm.hpp"

namespace stand_in {

std::vector<Values> Lstm::forward(const Operands& in) const {
  const HostTensor &x = in[0], &weight = in[1], &w = in[2], &bias = in[3], &init = in[4], &init_cell = in[5],
                   &mask = in[6], &peephole = in[7];
  const Recurrence& s = sizes;
  const std::int64_t H = s.units;
  Values outputs = zeros(count(s.output_shape())), cells = outputs, states = zeros(count(s.gates_shape()));
  for (std::int64_t d = 0; d < s.directions; ++d)
    for (std::int64_t n = 0; n < s.batch; ++n) {
      Values h = zeros(H), c = zeros(H), m(static_cast<std::size_t>(H), 1);
      for (std::int64_t u = 0; u < H; ++u) {
        if (init.present) at(h, u) = init.values[s.state(n, d, u)];
        if (init_cell.present) at(c, u) = init_cell.values[s.state(n, d, u)];
        if (mask.present) at(m, u) = mask.values[s.state(n, d, u)];
      }
      for (std::int64_t k = 0; k < s.steps; ++k) {
        const std::int64_t t = s.step(d, k);
        Values masked = h, gates = zeros(4 * H);
        for (std::int64_t u = 0; u < H; ++u) at(masked, u) *= at(m, u);
        for (std::int64_t row = 0; row < 4 * H; ++row) {
          Value a = from_source(s, x, w, bias, t, n, d, row) + from_state(s, weight, masked, d, row);
          if (peephole.present) a += peephole.values[s.row(d, row)] * at(c, row % H);
          at(gates, row) = activated(gate_activations[row / H], a);
          states[s.at(t, n, d, 4 * H, row)] = at(gates, row);
        }
        for (std::int64_t u = 0; u < H; ++u) {
          at(c, u) = at(gates, forget * H + u) * at(c, u) + at(gates, input * H + u) * at(gates, cell * H + u);
          at(h, u) = at(gates, output * H + u) * activated(activation, at(c, u));
          outputs[s.at(t, n, d, H, u)] = at(h, u);
          cells[s.at(t, n, d, H, u)] = at(c, u);
        }
      }
    }
  return {outputs, cells, states};
}

std::vector<Values> Lstm::gradients(const Operands& in) const {
  const HostTensor &x = in[0], &weight = in[1], &dh = in[2], &states = in[3], &cells = in[4], &final_state = in[5],
                   &final_cell = in[6], &w = in[7], &init = in[9], &init_cell = in[10], &mask = in[11],
                   &peephole = in[12];
  const Recurrence& s = sizes;
  const std::int64_t H = s.units;
  RecurrentGradients sums(s, w);
  Values d_init = zeros(count(s.state_shape())), d_init_cell = d_init, d_peephole = zeros(s.directions * 4 * H);
  for (std::int64_t d = 0; d < s.directions; ++d)
    for (std::int64_t n = 0; n < s.batch; ++n) {
      const auto gate = [&](std::int64_t t, std::int64_t which, std::int64_t u) {
        return states.values[s.at(t, n, d, 4 * H, which * H + u)];
      };
      Values carry = zeros(H), cell_carry = zeros(H), m(static_cast<std::size_t>(H), 1);
      for (std::int64_t u = 0; u < H; ++u) {
        if (final_state.present) at(carry, u) = final_state.values[s.state(n, d, u)];
        if (final_cell.present) at(cell_carry, u) = final_cell.values[s.state(n, d, u)];
        if (mask.present) at(m, u) = mask.values[s.state(n, d, u)];
      }
      for (std::int64_t k = s.steps; k-- > 0;) {
        const std::int64_t t = s.step(d, k);
        Values h_before = zeros(H), c_before = zeros(H), pre = zeros(4 * H);
        for (std::int64_t u = 0; u < H; ++u) {
          if (k > 0) {
            const std::int64_t earlier = s.step(d, k - 1);
            at(c_before, u) = cells.values[s.at(earlier, n, d, H, u)];
            at(h_before, u) = gate(earlier, output, u) * activated(activation, at(c_before, u));
          } else {
            if (init_cell.present) at(c_before, u) = init_cell.values[s.state(n, d, u)];
            if (init.present) at(h_before, u) = init.values[s.state(n, d, u)];
          }
        }
        for (std::int64_t u = 0; u < H; ++u) {
          const Value g = dh.values[s.at(t, n, d, H, u)] + at(carry, u);
          const Value squashed = activated(activation, cells.values[s.at(t, n, d, H, u)]);
          const Value dc = at(cell_carry, u) + g * gate(t, output, u) * activation_slope(activation, squashed);
          at(pre, output * H + u) = g * squashed;
          at(pre, input * H + u) = dc * gate(t, cell, u);
          at(pre, cell * H + u) = dc * gate(t, input, u);
          at(pre, forget * H + u) = dc * at(c_before, u);
          at(cell_carry, u) = dc * gate(t, forget, u);
        }
        Values d_before = zeros(H);
        for (std::int64_t row = 0; row < 4 * H; ++row) {
          const std::int64_t u = row % H;
          at(pre, row) *= activation_slope(gate_activations[row / H], gate(t, row / H, u));
          if (peephole.present) {
            at(cell_carry, u) += at(pre, row) * peephole.values[s.row(d, row)];
            d_peephole[s.row(d, row)] += at(pre, row) * at(c_before, u);
          }
          for (std::int64_t v = 0; v < H; ++v) {
            sums.recurrent_weight[s.recurrent(d, row, v)] += at(pre, row) * at(h_before, v) * at(m, v);
            at(d_before, v) += at(pre, row) * weight.values[s.recurrent(d, row, v)] * at(m, v);
          }
        }
        sums.add_step(s, x, w, pre, t, n, d);
        carry = d_before;
      }
      for (std::int64_t u = 0; u < H; ++u) {
        d_init[s.state(n, d, u)] = at(carry, u);
        d_init_cell[s.state(n, d, u)] = at(cell_carry, u);
      }
    }
  return {sums.source, sums.recurrent_weight, sums.input_weight, sums.bias, d_peephole, d_init, d_init_cell};
}

}  // namespace stand_in
