#pragma once

#include "support.hpp"

namespace stand_in {

inline Value at(const Values& values, std::int64_t i) { return values[static_cast<std::size_t>(i)]; }
inline Value& at(Values& values, std::int64_t i) { return values[static_cast<std::size_t>(i)]; }

Value activated(MPSGraphRNNActivation activation, Value a);
/// The derivative, from the activated value.
Value activation_slope(MPSGraphRNNActivation activation, Value y);

/// What the recurrent operations share: T steps, N batches, I inputs, H units, gates of H rows, one or two directions.
struct Recurrence {
  std::int64_t steps = 0, batch = 0, inputs = 0, units = 0, gates = 1, directions = 1;
  bool reverse = false;

  Dims output_shape() const { return {steps, batch, directions * units}; }
  Dims gates_shape() const { return {steps, batch, directions * gates * units}; }
  Dims state_shape() const { return {batch, directions * units}; }

  /// Element of a sequence of `width` channels per direction.
  std::size_t at(std::int64_t t, std::int64_t n, std::int64_t direction, std::int64_t width,
                 std::int64_t channel) const {
    return static_cast<std::size_t>(((t * batch + n) * directions + direction) * width + channel);
  }
  /// Element of a state.
  std::size_t state(std::int64_t n, std::int64_t direction, std::int64_t unit) const {
    return static_cast<std::size_t>((n * directions + direction) * units + unit);
  }
  std::size_t recurrent(std::int64_t direction, std::int64_t row, std::int64_t unit) const {
    return static_cast<std::size_t>((direction * gates * units + row) * units + unit);
  }
  std::size_t input(std::int64_t direction, std::int64_t row, std::int64_t channel) const {
    return static_cast<std::size_t>((direction * gates * units + row) * inputs + channel);
  }
  std::size_t row(std::int64_t direction, std::int64_t row) const {
    return static_cast<std::size_t>(direction * gates * units + row);
  }
  /// The k-th step that a direction processes.
  std::int64_t step(std::int64_t direction, std::int64_t k) const {
    const bool backward = directions == 2 ? direction == 1 : reverse;
    return backward ? steps - 1 - k : k;
  }
};

/// The operands of one recurrent call; nil: absent.
struct RecurrentTensors {
  MPSGraphTensor *source = nil, *recurrent_weight = nil, *input_weight = nil, *bias = nil, *init_state = nil,
                 *mask = nil;
};

/// Checks the operands and gives the sizes.
Recurrence recurrence_of(const Site& site, const RecurrentTensors& tensors, std::int64_t gates, bool bidirectional,
                         bool reverse);
/// An optional operand, if there, must have this shape.
void check_optional(const Site& site, MPSGraphTensor* tensor, const Dims& shape, const char* reason);

/// What reaches the gates of one step before the activations from outside the recurrence: x·Wᵀ + b, or x itself.
Value from_source(const Recurrence& r, const HostTensor& x, const HostTensor& w, const HostTensor& b, std::int64_t t,
                  std::int64_t n, std::int64_t direction, std::int64_t row);
/// h·Rᵀ for one row.
Value from_state(const Recurrence& r, const HostTensor& weight, const Values& h, std::int64_t direction,
                 std::int64_t row);

/// The gradients that all recurrent operations have, accumulated step by step.
struct RecurrentGradients {
  Values source, recurrent_weight, input_weight, bias;

  RecurrentGradients(const Recurrence& r, const HostTensor& w);
  /// Adds what the gradients of the pre-activations of one step give to source, input weight and bias.
  void add_step(const Recurrence& r, const HostTensor& x, const HostTensor& w, const Values& pre, std::int64_t t,
                std::int64_t n, std::int64_t direction);
};

/// A bias-like gradient comes back with dimensions of size 1 in front.
Dims gradient_shape_of_bias(MPSGraphTensor* bias);

bool valid(MPSGraphRNNActivation activation);

}  // namespace stand_in
