#include "cpu/isa/recurrent.hpp"

#include "cpu/isa/families.hpp"
#include "cpu/isa/recurrent_activation.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {

template <class T>
RecurrentGradientKernels<T> recurrent_gradient_kernels();

namespace {

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int accumulators = 24;
#else
constexpr int accumulators = 12;
#endif
constexpr int tile_rows(int vectors) { return accumulators / vectors; }

/// sums[row][vector] = sum over k of weights[k][vector] * row at k. A few rows alone cannot hide the latency of a
/// multiply-add: then several k have accumulators of their own.
template <class T, int Vectors, int Count>
MPSGRAPH_INLINE void multiply_tile(std::int64_t depth, const T* weights, Rows<const T> rows, T* sums) {
  constexpr int Chains = Vectors * Count >= 8 ? 1 : Vectors * Count >= 4 ? 2 : 4;
  Vec<T> acc[Chains][Count][Vectors] = {};
  const T* row[Count];
#pragma GCC unroll 8
  for (int i = 0; i < Count; ++i) row[i] = rows.at(i);
  const auto multiply_one = [&](std::int64_t k, int chain) __attribute__((always_inline)) {
    Vec<T> w[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) w[v] = load(weights + (k * Vectors + v) * lanes<T>);
#pragma GCC unroll 8
    for (int i = 0; i < Count; ++i) {
      const Vec<T> b = broadcast<T>(row[i][k]);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) acc[chain][i][v] = multiply_add(w[v], b, acc[chain][i][v]);
    }
  };
  std::int64_t k = 0;
  for (; k + Chains <= depth; k += Chains)
#pragma GCC unroll 4
    for (int chain = 0; chain < Chains; ++chain) multiply_one(k + chain, chain);
  for (; k < depth; ++k) multiply_one(k, 0);
#pragma GCC unroll 8
  for (int i = 0; i < Count; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      Vec<T> sum = acc[0][i][v];
#pragma GCC unroll 4
      for (int chain = 1; chain < Chains; ++chain) sum += acc[chain][i][v];
      store(sums + (i * Vectors + v) * lanes<T>, sum);
    }
}

template <class T, int Vectors, int Count = tile_rows(Vectors)>
MPSGRAPH_INLINE void multiply_rows(int count, std::int64_t depth, const T* weights, Rows<const T> rows, T* sums) {
  if constexpr (Count > 0) {
    if (count == Count)
      multiply_tile<T, Vectors, Count>(depth, weights, rows, sums);
    else
      multiply_rows<T, Vectors, Count - 1>(count, depth, weights, rows, sums);
  }
}

/// Pre-activations of one vector of units but for the recurrent product.
template <class T, int Gates>
struct GateInputs {
  const RecurrentStep<T>& step;
  std::int64_t j;  // of the vector
  int count;

  MPSGRAPH_INLINE Vec<T> operator()(std::int64_t row, int gate) const {
    const std::int64_t vector = j * Gates + gate;
    return load_units(step.input.at(row, step.input_offsets[vector]), count) + load(step.bias + vector * lanes<T>);
  }
};

template <class T>
MPSGRAPH_INLINE void store_gate(const RecurrentStep<T>& step, std::int64_t row, std::int64_t unit, int gate, int count,
                                Vec<T> value) {
  if (step.z_state) store_units(step.z_state.at(row, step.gates.order[gate] * step.units + unit), count, value);
}

template <class T>
MPSGRAPH_INLINE void store_state(const RecurrentStep<T>& step, std::int64_t row, std::int64_t unit, int count,
                                 Vec<T> h) {
  store_units(step.output.at(row, unit), count, h);
  if (step.mask) store_units(step.masked_output.at(row, unit), count, h * load_units(step.mask.at(row, unit), count));
}

/// z∘h⁻ + (1−z)∘o, z and 1−z exchanged with flip_z.
template <class T>
MPSGRAPH_INLINE Vec<T> mix(bool flip_z, Vec<T> z, Vec<T> h, Vec<T> o) {
  return flip_z ? multiply_add(z, o - h, h) : multiply_add(z, h - o, o);
}

// The cells: how many vectors of units and which gates one pass computes at once, and what follows the product.
// `Usual` fixes the activations to those that the descriptor has by default.

template <class T>
struct GRUCell {
  static constexpr int gates = 3, vectors = 1;
  static bool is_usual(const RecurrentGates& g) {
    return g.activation[0] == RNNActivation::Sigmoid && g.activation[1] == RNNActivation::Sigmoid &&
           g.activation[2] == RNNActivation::Tanh;
  }
  template <bool Usual>
  MPSGRAPH_INLINE static void finish(const RecurrentStep<T>& step, std::int64_t j, std::int64_t row, int count,
                                     const T* sums) {
    const RNNActivation* kind = step.gates.activation;
    const std::int64_t unit = j * lanes<T>;
    const GateInputs<T, 3> input{step, j, count};
    const Vec<T> z = activate<T>(Usual ? RNNActivation::Sigmoid : kind[0], load(sums) + input(row, 0));
    const Vec<T> r = activate<T>(Usual ? RNNActivation::Sigmoid : kind[1], load(sums + lanes<T>) + input(row, 1));
    const Vec<T> q = load(sums + 2 * lanes<T>) + load(step.secondary_bias + unit);
    const Vec<T> o = activate<T>(Usual ? RNNActivation::Tanh : kind[2], multiply_add(q, r, input(row, 2)));
    store_gate(step, row, unit, 0, count, z);
    store_gate(step, row, unit, 1, count, r);
    store_gate(step, row, unit, 2, count, o);
    store_state(step, row, unit, count, mix<T>(step.gates.flip_z, z, load_units(step.state.at(row, unit), count), o));
  }
};

template <class T>
struct GRUUpdateResetCell {
  static constexpr int gates = 2, vectors = 2;
  static bool is_usual(const RecurrentGates& g) {
    return g.activation[0] == RNNActivation::Sigmoid && g.activation[1] == RNNActivation::Sigmoid;
  }
  template <bool Usual>
  MPSGRAPH_INLINE static void finish(const RecurrentStep<T>& step, std::int64_t j, std::int64_t row, int count,
                                     const T* sums) {
    const RNNActivation* kind = step.gates.activation;
    const std::int64_t unit = j * lanes<T>;
    const GateInputs<T, 3> input{step, j, count};
    const Vec<T> z = activate<T>(Usual ? RNNActivation::Sigmoid : kind[0], load(sums) + input(row, 0));
    const Vec<T> r =
        activate<T>(Usual ? RNNActivation::Sigmoid : kind[1], load(sums + vectors * lanes<T>) + input(row, 1));
    store_gate(step, row, unit, 0, count, z);
    store_gate(step, row, unit, 1, count, r);
    store_units(step.update_gate.at(row, unit), count, z);
    store_units(step.reset_state.at(row, unit), count, r * load_units(step.recurrent.at(row, unit), count));
  }
};

template <class T>
struct GRUOutputCell {
  static constexpr int gates = 1, vectors = 4;
  static bool is_usual(const RecurrentGates& g) { return g.activation[2] == RNNActivation::Tanh; }
  template <bool Usual>
  MPSGRAPH_INLINE static void finish(const RecurrentStep<T>& step, std::int64_t j, std::int64_t row, int count,
                                     const T* sums) {
    const std::int64_t unit = j * lanes<T>;
    const GateInputs<T, 3> input{step, j, count};
    const Vec<T> o = activate<T>(Usual ? RNNActivation::Tanh : step.gates.activation[2], load(sums) + input(row, 2));
    store_gate(step, row, unit, 2, count, o);
    const Vec<T> z = load_units<T>(step.update_gate.at(row, unit), count);
    store_state(step, row, unit, count, mix<T>(step.gates.flip_z, z, load_units(step.state.at(row, unit), count), o));
  }
};

template <class T>
struct LSTMCell {
  static constexpr int gates = 4, vectors = 1;
  static bool is_usual(const RecurrentGates& g) {
    return g.activation[0] == RNNActivation::Sigmoid && g.activation[1] == RNNActivation::Sigmoid &&
           g.activation[2] == RNNActivation::Tanh && g.activation[3] == RNNActivation::Sigmoid &&
           g.state_activation == RNNActivation::Tanh;
  }
  template <bool Usual>
  MPSGRAPH_INLINE static void finish(const RecurrentStep<T>& step, std::int64_t j, std::int64_t row, int count,
                                     const T* sums) {
    const RNNActivation* kind = step.gates.activation;
    const std::int64_t unit = j * lanes<T>;
    const GateInputs<T, 4> input{step, j, count};
    const Vec<T> previous = load_units(step.cell.at(row, unit), count);
    Vec<T> gate[4];
#pragma GCC unroll 4
    for (int g = 0; g < 4; ++g) {
      gate[g] = load(sums + g * lanes<T>) + input(row, g);
      if (step.peephole) gate[g] = multiply_add(load(step.peephole + (j * 4 + g) * lanes<T>), previous, gate[g]);
    }
    const Vec<T> i = activate<T>(Usual ? RNNActivation::Sigmoid : kind[0], gate[0]);
    const Vec<T> f = activate<T>(Usual ? RNNActivation::Sigmoid : kind[1], gate[1]);
    const Vec<T> z = activate<T>(Usual ? RNNActivation::Tanh : kind[2], gate[2]);
    const Vec<T> o = activate<T>(Usual ? RNNActivation::Sigmoid : kind[3], gate[3]);
    const Vec<T> c = multiply_add(f, previous, i * z);
    store_gate(step, row, unit, 0, count, i);
    store_gate(step, row, unit, 1, count, f);
    store_gate(step, row, unit, 2, count, z);
    store_gate(step, row, unit, 3, count, o);
    store_units(step.output_cell.at(row, unit), count, c);
    store_state(step, row, unit, count, o * activate<T>(Usual ? RNNActivation::Tanh : step.gates.state_activation, c));
  }
};

template <class T>
struct SingleGateCell {
  static constexpr int gates = 1, vectors = 4;
  static bool is_usual(const RecurrentGates& g) { return g.activation[0] == RNNActivation::Relu; }
  template <bool Usual>
  MPSGRAPH_INLINE static void finish(const RecurrentStep<T>& step, std::int64_t j, std::int64_t row, int count,
                                     const T* sums) {
    const std::int64_t unit = j * lanes<T>;
    const GateInputs<T, 1> input{step, j, count};
    const Vec<T> z = load(sums) + input(row, 0);
    store_gate(step, row, unit, 0, count, z);
    store_state(step, row, unit, count, activate<T>(Usual ? RNNActivation::Relu : step.gates.activation[0], z));
  }
};

template <class T, class Cell, bool Usual>
void finish_tile(const RecurrentStep<T>& step, std::int64_t block, std::int64_t begin, std::int64_t end,
                 const T* sums) {
  constexpr int V = Cell::gates * Cell::vectors;
  for (int m = 0; m < Cell::vectors; ++m) {
    const std::int64_t j = block * Cell::vectors + m;
    const int count = units_in_vector<T>(step.units, j * lanes<T>);
    if (count == 0) return;
    for (std::int64_t row = begin; row < end; ++row)
      Cell::template finish<Usual>(step, j, row, count, sums + ((row - begin) * V + m) * lanes<T>);
  }
}

template <class T, class Cell>
void run_block(const RecurrentStep<T>& step, std::int64_t block, std::int64_t begin, std::int64_t end) {
  constexpr int V = Cell::gates * Cell::vectors;
  constexpr int R = tile_rows(V);
  alignas(64) T sums[R * V * lanes<T>];
  const T* weights = step.weights + block * step.units * V * lanes<T>;
  const bool usual = Cell::is_usual(step.gates);
  const std::int64_t rows = end - begin, tiles = (rows + R - 1) / R;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t first = begin + rows * tile / tiles, last = begin + rows * (tile + 1) / tiles;
    multiply_rows<T, V>(static_cast<int>(last - first), step.units, weights,
                        {step.recurrent.at(first), step.recurrent.stride}, sums);
    if (usual)
      finish_tile<T, Cell, true>(step, block, first, last, sums);
    else
      finish_tile<T, Cell, false>(step, block, first, last, sums);
  }
}

template <class T, class Cell>
RecurrentForwardKernel<T> forward_kernel() {
  return {Cell::vectors * lanes<T>, tile_rows(Cell::gates * Cell::vectors), run_block<T, Cell>};
}

}  // namespace

template <class T>
RecurrentKernels<T> recurrent_kernels() {
  return {lanes<T>,
          forward_kernel<T, GRUCell<T>>(),
          forward_kernel<T, GRUUpdateResetCell<T>>(),
          forward_kernel<T, GRUOutputCell<T>>(),
          forward_kernel<T, LSTMCell<T>>(),
          forward_kernel<T, SingleGateCell<T>>(),
          recurrent_gradient_kernels<T>()};
}
template RecurrentKernels<float> recurrent_kernels<float>();
template RecurrentKernels<double> recurrent_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
