#include "cpu/isa/recurrent.hpp"
#include "cpu/isa/recurrent_activation.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

template <class T>
constexpr int line_elements = 64 / static_cast<int>(sizeof(T));

/// The place of one vector of units in every array that a step touches.
template <class T>
struct Cursor {
  const RecurrentGradientStep<T>& step;
  const RecurrentBlock<T>& block;
  int vector;  // of the panel
  std::int64_t unit;
  int count;

  MPSGRAPH_INLINE Cursor(const RecurrentGradientStep<T>& s, const RecurrentBlock<T>& b, int v)
      : step(s), block(b), vector(v), unit(b.unit + v * lanes<T>), count(units_in_vector<T>(s.units, unit)) {}

  MPSGRAPH_INLINE Vec<T> mask(std::int64_t row) const {
    return step.mask ? load_units(step.mask.at(row, unit), count) : broadcast<T>(1);
  }
  MPSGRAPH_INLINE Vec<T> product(std::int64_t row) const {
    return load(block.product + (row - block.begin) * panel_width<T> + vector * lanes<T>);
  }
  MPSGRAPH_INLINE Vec<T> gate(std::int64_t row, int g) const {
    return load_units(step.z_state.at(row, step.gates.order[g] * step.units + unit), count);
  }
  MPSGRAPH_INLINE Vec<T> bias(const T* values) const { return values ? load_units(values + unit, count) : Vec<T>{}; }
  MPSGRAPH_INLINE void store_gradient(std::int64_t row, std::int64_t gate_block, Vec<T> value) const {
    constexpr int B = line_elements<T>;
    store(step.gate_gradients + gate_block * step.gate_stride + unit / B * step.line_stride + row * B + unit % B,
          value);
  }
  MPSGRAPH_INLINE void store_panel(T* panels, std::int64_t row, Vec<T> value) const {
    store(panels + block.unit / panel_width<T> * step.panel_stride + row * panel_width<T> + vector * lanes<T>, value);
  }
  MPSGRAPH_INLINE Vec<T> load_panel(const T* panels, std::int64_t row) const {
    return load(panels + block.unit / panel_width<T> * step.panel_stride + row * panel_width<T> + vector * lanes<T>);
  }

  /// The gradient of h: from above, from the next step's gates, and what its carry kept.
  template <bool Added>
  MPSGRAPH_INLINE Vec<T> carry(std::int64_t row) const {
    if (!block.product) return load_units<T>(step.carry.at(row, unit), count);
    const Vec<T> product_part = product(row) * mask(row);
    return Added ? product_part + load_units<T>(step.carry.at(row, unit), count) : product_part;
  }
  template <bool Added>
  MPSGRAPH_INLINE Vec<T> state_gradient(std::int64_t row) const {
    return carry<Added>(row) + load_or_zero(step.source_gradient, row, unit, count);
  }
};

/// Calls body(cursor, row) for each vector of the block that has units, and empty(cursor, row) for those beyond.
template <class T, class Body, class Empty>
MPSGRAPH_INLINE void for_each_vector(const RecurrentGradientStep<T>& step, const RecurrentBlock<T>& block, Body&& body,
                                     Empty&& empty) {
  for (int v = 0; v < panel_vectors; ++v) {
    const Cursor<T> cursor(step, block, v);
    if (cursor.count)
      for (std::int64_t row = block.begin; row < block.end; ++row) body(cursor, row);
    else
      for (std::int64_t row = block.begin; row < block.end; ++row) empty(cursor, row);
  }
}

/// The share of h⁻ in h is keep = constant + slope * z, z or 1 − z.
template <class T>
struct Keep {
  T constant, slope;
  explicit Keep(bool flip_z) : constant(flip_z ? 1 : 0), slope(flip_z ? -1 : 1) {}
  MPSGRAPH_INLINE Vec<T> operator()(Vec<T> z) const { return constant + slope * z; }
};

template <class T, bool Usual>
void gru_block(const RecurrentGradientStep<T>& step, const RecurrentBlock<T>& block) {
  const RecurrentGates& gates = step.gates;
  const Keep<T> keep_of(gates.flip_z);
  for_each_vector(
      step, block,
      [&](const Cursor<T>& at, std::int64_t row) __attribute__((always_inline)) {
        const Vec<T> g = at.template state_gradient<true>(row);
        const Vec<T> z = at.gate(row, 0), r = at.gate(row, 1), o = at.gate(row, 2);
        const Vec<T> keep = keep_of(z);
        const Vec<T> h = load_or_zero(step.state, row, at.unit, at.count);
        const Vec<T> q = at.load_panel(step.secondary_product, row) + at.bias(step.secondary_bias);
        const Vec<T> dz = activation_gradient<T>(Usual ? RNNActivation::Sigmoid : gates.activation[0], z,
                                                 g * (h - o) * keep_of.slope);
        const Vec<T> d_o =
            activation_gradient<T>(Usual ? RNNActivation::Tanh : gates.activation[2], o, g * (T(1) - keep));
        const Vec<T> dr = activation_gradient<T>(Usual ? RNNActivation::Sigmoid : gates.activation[1], r, d_o * q);
        at.store_gradient(row, gates.order[0], dz);
        at.store_gradient(row, gates.order[1], dr);
        at.store_gradient(row, gates.order[2], d_o);
        at.store_gradient(row, 3, d_o * r);
        store_units(step.carry.at(row, at.unit), at.count, g * keep);
      },
      [](const Cursor<T>&, std::int64_t) {});
}

template <class T>
void gru(const RecurrentGradientStep<T>& step, const RecurrentBlock<T>& block) {
  const RNNActivation* kind = step.gates.activation;
  if (kind[0] == RNNActivation::Sigmoid && kind[1] == RNNActivation::Sigmoid && kind[2] == RNNActivation::Tanh)
    gru_block<T, true>(step, block);
  else
    gru_block<T, false>(step, block);
}

template <class T>
void gru_update_output(const RecurrentGradientStep<T>& step, const RecurrentBlock<T>& block) {
  const RecurrentGates& gates = step.gates;
  const Keep<T> keep_of(gates.flip_z);
  for_each_vector(
      step, block,
      [&](const Cursor<T>& at, std::int64_t row) __attribute__((always_inline)) {
        const Vec<T> g = at.template state_gradient<true>(row);
        const Vec<T> z = at.gate(row, 0), o = at.gate(row, 2);
        const Vec<T> keep = keep_of(z);
        const Vec<T> h = load_or_zero(step.state, row, at.unit, at.count);
        at.store_gradient(row, gates.order[0],
                          activation_gradient<T>(gates.activation[0], z, g * (h - o) * keep_of.slope));
        at.store_gradient(row, gates.order[2], activation_gradient<T>(gates.activation[2], o, g * (T(1) - keep)));
        store_units(step.carry.at(row, at.unit), at.count, g * keep);
      },
      [](const Cursor<T>&, std::int64_t) {});
}

template <class T>
void gru_reset(const RecurrentGradientStep<T>& step, const RecurrentBlock<T>& block) {
  const RecurrentGates& gates = step.gates;
  for_each_vector(
      step, block,
      [&](const Cursor<T>& at, std::int64_t row) __attribute__((always_inline)) {
        const Vec<T> mask = at.mask(row), r = at.gate(row, 1), du = at.product(row);
        const Vec<T> masked = load_or_zero(step.state, row, at.unit, at.count) * mask;
        at.store_gradient(row, gates.order[1], activation_gradient<T>(gates.activation[1], r, du * masked));
        T* carry = step.carry.at(row, at.unit);
        store_units(carry, at.count, load_units<T>(carry, at.count) + du * r * mask);
        at.store_panel(step.previous, row, masked);
        at.store_panel(step.reset_previous, row, masked * r);
      },
      [&](const Cursor<T>& at, std::int64_t row) __attribute__((always_inline)) {
        at.store_panel(step.previous, row, Vec<T>{});
        at.store_panel(step.reset_previous, row, Vec<T>{});
      });
}

template <class T, bool Usual>
void lstm_block(const RecurrentGradientStep<T>& step, const RecurrentBlock<T>& block) {
  const RecurrentGates& gates = step.gates;
  const RNNActivation state_kind = Usual ? RNNActivation::Tanh : gates.state_activation;
  for_each_vector(
      step, block,
      [&](const Cursor<T>& at, std::int64_t row) __attribute__((always_inline)) {
        const Vec<T> g = at.template state_gradient<false>(row);
        const Vec<T> i = at.gate(row, 0), f = at.gate(row, 1), z = at.gate(row, 2), o = at.gate(row, 3);
        T* const activated_place = step.activated.at(row, at.unit);
        T* const cell_place = step.cell_carry.at(row, at.unit);
        const Vec<T> activated = load_units<T>(activated_place, at.count);
        const Vec<T> previous = load_or_zero(step.previous_cell, row, at.unit, at.count);
        const Vec<T> dc = load_units<T>(cell_place, at.count) + activation_gradient<T>(state_kind, activated, g * o);
        const Vec<T> gradient[4] = {
            activation_gradient<T>(Usual ? RNNActivation::Sigmoid : gates.activation[0], i, dc * z),
            activation_gradient<T>(Usual ? RNNActivation::Sigmoid : gates.activation[1], f, dc * previous),
            activation_gradient<T>(Usual ? RNNActivation::Tanh : gates.activation[2], z, dc * i),
            activation_gradient<T>(Usual ? RNNActivation::Sigmoid : gates.activation[3], o, g * activated)};
        Vec<T> cell_carry = dc * f;
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
          at.store_gradient(row, gates.order[k], gradient[k]);
          if (step.peephole)
            cell_carry = multiply_add(at.bias(step.peephole + gates.order[k] * step.units), gradient[k], cell_carry);
        }
        store_units(cell_place, at.count, cell_carry);
        Vec<T> h;
        if (step.previous_z_state) {
          const Vec<T> before = activate<T>(state_kind, previous);
          store_units(activated_place, at.count, before);
          h = before * load_units(step.previous_z_state.at(row, gates.order[3] * step.units + at.unit), at.count);
        } else {
          h = load_or_zero(step.state, row, at.unit, at.count);
        }
        at.store_panel(step.previous, row, h * at.mask(row));
      },
      [&](const Cursor<T>& at, std::int64_t row)
          __attribute__((always_inline)) { at.store_panel(step.previous, row, Vec<T>{}); });
}

template <class T>
void lstm(const RecurrentGradientStep<T>& step, const RecurrentBlock<T>& block) {
  const RNNActivation* kind = step.gates.activation;
  if (kind[0] == RNNActivation::Sigmoid && kind[1] == RNNActivation::Sigmoid && kind[2] == RNNActivation::Tanh &&
      kind[3] == RNNActivation::Sigmoid && step.gates.state_activation == RNNActivation::Tanh)
    lstm_block<T, true>(step, block);
  else
    lstm_block<T, false>(step, block);
}

template <class T>
void single_gate(const RecurrentGradientStep<T>& step, const RecurrentBlock<T>& block) {
  const RNNActivation kind = step.gates.activation[0];
  for_each_vector(
      step, block,
      [&](const Cursor<T>& at, std::int64_t row) __attribute__((always_inline)) {
        const Vec<T> g = at.template state_gradient<false>(row);
        T* const place = step.activated.at(row, at.unit);
        at.store_gradient(row, 0, activation_gradient<T>(kind, load_units<T>(place, at.count), g));
        Vec<T> h;
        if (step.previous_z_state) {
          h = activate<T>(kind, load_units(step.previous_z_state.at(row, at.unit), at.count));
          store_units(place, at.count, h);
        } else {
          h = load_or_zero(step.state, row, at.unit, at.count);
        }
        at.store_panel(step.previous, row, h * at.mask(row));
      },
      [&](const Cursor<T>& at, std::int64_t row)
          __attribute__((always_inline)) { at.store_panel(step.previous, row, Vec<T>{}); });
}

template <class T, bool Added>
void finish_carry(const RecurrentGradientStep<T>& step, const RecurrentBlock<T>& block) {
  for_each_vector(
      step, block,
      [&](const Cursor<T>& at, std::int64_t row) __attribute__((always_inline)) {
        store_units(step.carry.at(row, at.unit), at.count, at.template carry<Added>(row));
      },
      [](const Cursor<T>&, std::int64_t) {});
}

template <class T>
void activate_rows(RNNActivation activation, Rows<const T> source, std::int64_t rows, std::int64_t units,
                   Rows<T> destination) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t unit = 0; unit < units; unit += lanes<T>) {
      const int count = units_in_vector<T>(units, unit);
      store_units(destination.at(row, unit), count, activate<T>(activation, load_units(source.at(row, unit), count)));
    }
}

template <class T>
void pack_state(Rows<const T> state, Rows<const T> mask, std::int64_t rows, std::int64_t units, T* panels,
                std::int64_t panel_stride) {
  constexpr int P = panel_width<T>;
  for (std::int64_t unit = 0; unit < (units + P - 1) / P * P; unit += lanes<T>) {
    const int count = units_in_vector<T>(units, unit);
    T* panel = panels + unit / P * panel_stride + unit % P;
    for (std::int64_t row = 0; row < rows; ++row) {
      Vec<T> h = load_or_zero(state, row, unit, count);
      if (mask) h = h * load_units(mask.at(row, unit), count);
      store(panel + row * P, h);
    }
  }
}

template <class T>
void sum_line(const T* line, std::int64_t rows, T* sums) {
  constexpr int B = line_elements<T>, V = B / lanes<T>, Chains = 4;
  Vec<T> acc[Chains][V] = {};
  std::int64_t row = 0;
  for (; row + Chains <= rows; row += Chains)
#pragma GCC unroll 4
    for (int chain = 0; chain < Chains; ++chain)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) acc[chain][v] += load(line + (row + chain) * B + v * lanes<T>);
  for (; row < rows; ++row)
    for (int v = 0; v < V; ++v) acc[0][v] += load(line + row * B + v * lanes<T>);
  for (int v = 0; v < V; ++v)
    store(sums + v * lanes<T>, load(sums + v * lanes<T>) + ((acc[0][v] + acc[1][v]) + (acc[2][v] + acc[3][v])));
}

template <class T>
void sum_line_products(const T* line, Rows<const T> factor, std::int64_t rows, std::int64_t count, T* sums) {
  constexpr int B = line_elements<T>;
  for (std::int64_t element = 0; element < count; element += lanes<T>) {
    const int valid = units_in_vector<T>(count, element);
    Vec<T> acc = {};
    for (std::int64_t row = 0; row < rows; ++row)
      acc = multiply_add(load(line + row * B + element), load_units(factor.at(row, element), valid), acc);
    store(sums + element, load(sums + element) + acc);
  }
}

}  // namespace

template <class T>
RecurrentGradientKernels<T> recurrent_gradient_kernels() {
  return {gru<T>,         gru_update_output<T>,  gru_reset<T>,           lstm<T>,
          single_gate<T>, finish_carry<T, true>, finish_carry<T, false>, activate_rows<T>,
          pack_state<T>,  sum_line<T>,           sum_line_products<T>};
}
template RecurrentGradientKernels<float> recurrent_gradient_kernels<float>();
template RecurrentGradientKernels<double> recurrent_gradient_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
