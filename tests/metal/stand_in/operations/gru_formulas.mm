#include "gru.hpp"

namespace stand_in {
namespace {

constexpr std::int64_t output_gate = 2;

}  // namespace

std::vector<Values> Gru::forward(const Operands& in) const {
  const HostTensor &x = in[0], &weight = in[1], &w = in[2], &bias = in[3], &init = in[4], &mask = in[5], &bias2 = in[6];
  const Recurrence& s = sizes;
  const std::int64_t H = s.units;
  Values output = zeros(count(s.output_shape())), gates = zeros(count(s.gates_shape()));
  for (std::int64_t d = 0; d < s.directions; ++d)
    for (std::int64_t n = 0; n < s.batch; ++n) {
      Values h = zeros(H), m(static_cast<std::size_t>(H), 1);
      for (std::int64_t u = 0; u < H; ++u) {
        if (init.present) at(h, u) = init.values[s.state(n, d, u)];
        if (mask.present) at(m, u) = mask.values[s.state(n, d, u)];
      }
      for (std::int64_t k = 0; k < s.steps; ++k) {
        const std::int64_t t = s.step(d, k);
        Values masked = h;
        for (std::int64_t u = 0; u < H; ++u) at(masked, u) *= at(m, u);
        Values z = zeros(H), r = zeros(H), o = zeros(H);
        for (std::int64_t u = 0; u < H; ++u) {
          at(z, u) = activated(update_activation, from_source(s, x, w, bias, t, n, d, update * H + u) +
                                                      from_state(s, weight, masked, d, update * H + u));
          at(r, u) = activated(reset_activation, from_source(s, x, w, bias, t, n, d, reset * H + u) +
                                                     from_state(s, weight, masked, d, reset * H + u));
        }
        Values reset_state = masked;
        for (std::int64_t u = 0; u < H; ++u) at(reset_state, u) *= at(r, u);
        for (std::int64_t u = 0; u < H; ++u) {
          const std::int64_t row = output_gate * H + u;
          Value c;
          if (reset_after) {
            const Value b2 = bias2.present ? at(bias2.values, d * H + u) : 0;
            c = (from_state(s, weight, masked, d, row) + b2) * at(r, u);
          } else {
            c = from_state(s, weight, reset_state, d, row);
          }
          at(o, u) = activated(output_activation, c + from_source(s, x, w, bias, t, n, d, row));
        }
        for (std::int64_t u = 0; u < H; ++u) {
          const Value share = at(z, u);
          at(h, u) = flip_z ? (1 - share) * at(h, u) + share * at(o, u) : share * at(h, u) + (1 - share) * at(o, u);
          output[s.at(t, n, d, H, u)] = at(h, u);
          gates[s.at(t, n, d, 3 * H, update * H + u)] = share;
          gates[s.at(t, n, d, 3 * H, reset * H + u)] = at(r, u);
          gates[s.at(t, n, d, 3 * H, output_gate * H + u)] = at(o, u);
        }
      }
    }
  return {output, gates};
}

std::vector<Values> Gru::gradients(const Operands& in) const {
  const HostTensor &x = in[0], &weight = in[1], &dh = in[2], &gates = in[3], &forward = in[4], &final = in[5],
                   &w = in[6], &init = in[8], &mask = in[9], &bias2 = in[10];
  const Recurrence& s = sizes;
  const std::int64_t H = s.units;
  RecurrentGradients sums(s, w);
  Values d_init = zeros(count(s.state_shape())), d_bias2 = zeros(s.directions * H);
  for (std::int64_t d = 0; d < s.directions; ++d)
    for (std::int64_t n = 0; n < s.batch; ++n) {
      Values carry = zeros(H), m(static_cast<std::size_t>(H), 1);
      for (std::int64_t u = 0; u < H; ++u) {
        if (final.present) at(carry, u) = final.values[s.state(n, d, u)];
        if (mask.present) at(m, u) = mask.values[s.state(n, d, u)];
      }
      for (std::int64_t k = s.steps; k-- > 0;) {
        const std::int64_t t = s.step(d, k);
        Values before = zeros(H);
        for (std::int64_t u = 0; u < H; ++u) {
          if (k > 0)
            at(before, u) = forward.values[s.at(s.step(d, k - 1), n, d, H, u)];
          else if (init.present)
            at(before, u) = init.values[s.state(n, d, u)];
        }
        const auto gate = [&](std::int64_t which, std::int64_t u) {
          return gates.values[s.at(t, n, d, 3 * H, which * H + u)];
        };
        Values masked = before, pre = zeros(3 * H), d_before = zeros(H), d_reset = zeros(H);
        for (std::int64_t u = 0; u < H; ++u) {
          at(masked, u) *= at(m, u);
          const Value g = dh.values[s.at(t, n, d, H, u)] + at(carry, u);
          const Value z = gate(update, u), o = gate(output_gate, u);
          const Value dz = flip_z ? g * (o - at(before, u)) : g * (at(before, u) - o);
          const Value d_output = flip_z ? g * z : g * (1 - z);
          at(d_before, u) = flip_z ? g * (1 - z) : g * z;
          at(pre, output_gate * H + u) = d_output * activation_slope(output_activation, o);
          at(pre, update * H + u) = dz * activation_slope(update_activation, z);
        }
        for (std::int64_t u = 0; u < H; ++u) {
          const std::int64_t row = output_gate * H + u;
          const Value a = at(pre, row);
          if (reset_after) {
            const Value b2 = bias2.present ? at(bias2.values, d * H + u) : 0;
            const Value q = from_state(s, weight, masked, d, row) + b2, dq = a * gate(reset, u);
            at(d_reset, u) = a * q;
            at(d_bias2, d * H + u) += dq;
            for (std::int64_t v = 0; v < H; ++v) {
              sums.recurrent_weight[s.recurrent(d, row, v)] += dq * at(masked, v);
              at(d_before, v) += dq * weight.values[s.recurrent(d, row, v)] * at(m, v);
            }
          } else {
            for (std::int64_t v = 0; v < H; ++v) {
              sums.recurrent_weight[s.recurrent(d, row, v)] += a * at(masked, v) * gate(reset, v);
              const Value du = a * weight.values[s.recurrent(d, row, v)];
              at(d_reset, v) += du * at(masked, v);
              at(d_before, v) += du * gate(reset, v) * at(m, v);
            }
          }
        }
        for (std::int64_t u = 0; u < H; ++u)
          at(pre, reset * H + u) = at(d_reset, u) * activation_slope(reset_activation, gate(reset, u));
        for (const std::int64_t which : {update, reset})
          for (std::int64_t u = 0; u < H; ++u) {
            const std::int64_t row = which * H + u;
            for (std::int64_t v = 0; v < H; ++v) {
              sums.recurrent_weight[s.recurrent(d, row, v)] += at(pre, row) * at(masked, v);
              at(d_before, v) += at(pre, row) * weight.values[s.recurrent(d, row, v)] * at(m, v);
            }
          }
        sums.add_step(s, x, w, pre, t, n, d);
        carry = d_before;
      }
      for (std::int64_t u = 0; u < H; ++u) d_init[s.state(n, d, u)] = at(carry, u);
    }
  return {sums.source, sums.recurrent_weight, sums.input_weight, sums.bias, d_init, d_bias2};
}

}  // namespace stand_in
