#pragma once

#include <cstdint>

#include "graph/enumerations.hpp"

namespace mpsgraph_native::cpu {

/// A row-major matrix of which the rows are `stride` elements apart; null: absent.
template <class T>
struct Rows {
  T* data = nullptr;
  std::int64_t stride = 0;

  T* at(std::int64_t row, std::int64_t column = 0) const { return data + row * stride + column; }
  explicit operator bool() const { return data != nullptr; }
};

/// How the gates of one cell are computed. Gates are numbered z, r, o (GRU), i, f, z, o (LSTM), whatever order the
/// descriptor gives their blocks.
struct RecurrentGates {
  static constexpr int maximum = 4;

  RNNActivation activation[maximum] = {};
  RNNActivation state_activation = RNNActivation::Tanh;  ///< LSTM: of the cell on its way out
  std::int64_t order[maximum] = {};                      ///< which block of H columns or rows is the gate's
  bool flip_z = false;
};

/// One time step of one direction, forward. The recurrent product of a block of units and its gates are fused.
template <class T>
struct RecurrentStep {
  RecurrentGates gates;
  std::int64_t units;       ///< H
  const T* weights;         ///< packed: [block of units][k][gate of the pass][unit of the block]
  Rows<const T> recurrent;  ///< the right side of the product: h⁻∘m, or h⁻∘r∘m
  Rows<const T> input;      ///< x·Wᵀ, or the source itself
  /// Element where a row of `input` holds vector j of gate g: [j * gate count + g].
  const std::int64_t* input_offsets;
  const T* bias;            ///< packed as vectors, [j * gate count + g]
  const T* secondary_bias;  ///< packed as vectors, [j]; GRU
  const T* peephole;        ///< packed like the bias; LSTM; null: none
  Rows<const T> mask;
  Rows<const T> state;  ///< h⁻
  Rows<const T> cell;   ///< c⁻
  Rows<T> output;
  Rows<T> output_cell;
  Rows<T> masked_output;  ///< h∘m for the next step; only with a mask
  Rows<T> z_state;        ///< in the descriptor's gate order; null: not wanted
  Rows<T> update_gate;    ///< GRU with reset before the product: z between its two passes
  Rows<T> reset_state;    ///< the same: h⁻∘r∘m
};

/// One time step of one direction, backward. Gate gradients are kept in lines of 64 bytes, [line][row][element], so
/// that products over units and products over rows both read them in whole cache lines.
template <class T>
struct RecurrentGradientStep {
  RecurrentGates gates;
  std::int64_t units;
  std::int64_t line_stride;       ///< elements from one line of gate gradients to the next
  std::int64_t gate_stride;       ///< elements from the lines of one gate to those of the next
  std::int64_t panel_stride;      ///< elements from one panel of `previous` to the next
  Rows<const T> source_gradient;  ///< null: zeros
  Rows<const T> mask;
  Rows<const T> z_state;
  Rows<const T> state;             ///< h⁻; GRU, and the others at the first step; null: zeros
  Rows<const T> cell;              ///< c; LSTM
  Rows<const T> previous_cell;     ///< c⁻; null: zeros
  Rows<const T> previous_z_state;  ///< of the step before; null at the first step
  const T* peephole;               ///< in the descriptor's gate order; null: none
  const T* secondary_product;      ///< h⁻∘m·Roᵀ in panels; GRU with reset after the product
  const T* secondary_bias;         ///< null: zeros
  Rows<T> carry;                   ///< in: gradient of h but for the product; out: of h⁻ likewise
  Rows<T> cell_carry;
  Rows<T> activated;  ///< f(c) of the LSTM, h of the single gate: of this step, then of the step before
  T* gate_gradients;  ///< [block of the gate][line][row][element]; GRU with reset after: r∘o' behind them
  T* previous;        ///< h⁻∘m in panels, the left side of the recurrent weights' gradient
  T* reset_previous;  ///< h⁻∘r∘m in panels; GRU with reset before the product
};

/// A block of a step: units from `unit` on (one panel), rows [begin, end). `product` holds one column of a panel per
/// row, or is null when the carry is complete already.
template <class T>
struct RecurrentBlock {
  std::int64_t unit, begin, end;
  const T* product;
};

template <class T>
struct RecurrentForwardKernel {
  int block_units;  ///< units of one block of packed weights
  int tile_rows;    ///< row counts that are a multiple of this leave no remainder
  /// Computes block number `block` for rows [begin, end).
  void (*run)(const RecurrentStep<T>& step, std::int64_t block, std::int64_t begin, std::int64_t end);
};

template <class T>
using RecurrentGradientKernel = void (*)(const RecurrentGradientStep<T>& step, const RecurrentBlock<T>& block);

template <class T>
struct RecurrentGradientKernels {
  RecurrentGradientKernel<T> gru;                ///< reset after the product
  RecurrentGradientKernel<T> gru_update_output;  ///< reset before the product: gates z and o
  RecurrentGradientKernel<T> gru_reset;          ///< then r, `product` being o'·Ro
  RecurrentGradientKernel<T> lstm;
  RecurrentGradientKernel<T> single_gate;
  RecurrentGradientKernel<T> add_to_carry;  ///< carry += product∘m: the GRU, whose z passes h⁻ on by itself
  RecurrentGradientKernel<T> set_carry;     ///< carry = product∘m: the others

  /// destination = activation(source), rows by units.
  void (*activate)(RNNActivation activation, Rows<const T> source, std::int64_t rows, std::int64_t units,
                   Rows<T> destination);
  /// One step's h⁻∘m in panels; null state: zeros.
  void (*pack_state)(Rows<const T> state, Rows<const T> mask, std::int64_t rows, std::int64_t units, T* panels,
                     std::int64_t panel_stride);
  /// sums[i] += sum of line[row][i] over the rows, for every element of one line.
  void (*sum_line)(const T* line, std::int64_t rows, T* sums);
  /// sums[i] += sum of line[row][i] * factor[row][i] over the rows, for the first `count` elements.
  void (*sum_line_products)(const T* line, Rows<const T> factor, std::int64_t rows, std::int64_t count, T* sums);
};

template <class T>
struct RecurrentKernels {
  int vector_width;                            ///< units of one vector
  RecurrentForwardKernel<T> gru;               ///< reset after the product
  RecurrentForwardKernel<T> gru_update_reset;  ///< reset before the product: gates z and r
  RecurrentForwardKernel<T> gru_output;        ///< then o and h
  RecurrentForwardKernel<T> lstm;
  RecurrentForwardKernel<T> single_gate;
  RecurrentGradientKernels<T> gradients;
};

}  // namespace mpsgraph_native::cpu
