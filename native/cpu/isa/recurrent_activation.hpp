#pragma once

#include "cpu/isa/math.hpp"
#include "cpu/isa/recurrent.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

// Always inlined: where the kind is a constant, one case is left.

template <class T>
MPSGRAPH_INLINE Vec<T> activate(RNNActivation kind, Vec<T> x) {
  switch (kind) {
    case RNNActivation::None: return x;
    case RNNActivation::Relu: return clamp_below<T>(x, 0);
    case RNNActivation::Tanh: return hyperbolic_tangent<T>(x);
    case RNNActivation::Sigmoid: return sigmoid<T>(x);
    case RNNActivation::HardSigmoid:
      return clamp_above<T>(clamp_below<T>(multiply_add(x, broadcast<T>(T(0.2)), broadcast<T>(T(0.5))), 0), 1);
  }
  return x;
}

/// gradient * f'(x), expressed by y = f(x).
template <class T>
MPSGRAPH_INLINE Vec<T> activation_gradient(RNNActivation kind, Vec<T> y, Vec<T> gradient) {
  const Vec<T> zero = {};
  switch (kind) {
    case RNNActivation::None: return gradient;
    case RNNActivation::Relu: return y > zero ? gradient : zero;
    case RNNActivation::Tanh: return gradient * (T(1) - y * y);
    case RNNActivation::Sigmoid: return gradient * (y * (T(1) - y));
    case RNNActivation::HardSigmoid: return y > zero ? (y < broadcast<T>(1) ? gradient * T(0.2) : zero) : zero;
  }
  return gradient;
}

/// The vector at (row, unit), `count` units of which exist.
template <class T>
MPSGRAPH_INLINE Vec<T> load_units(const T* p, int count) {
  return count == lanes<T> ? load(p) : load_partial(p, count);
}
template <class T>
MPSGRAPH_INLINE void store_units(T* p, int count, Vec<T> v) {
  if (count == lanes<T>)
    store(p, v);
  else
    store_partial(p, count, v);
}
template <class T>
MPSGRAPH_INLINE Vec<T> load_or_zero(const Rows<const T>& rows, std::int64_t row, std::int64_t unit, int count) {
  return rows ? load_units(rows.at(row, unit), count) : Vec<T>{};
}

/// How many of the vector's units exist, beginning with `unit`.
template <class T>
MPSGRAPH_INLINE int units_in_vector(std::int64_t units, std::int64_t unit) {
  const std::int64_t left = units - unit;
  return static_cast<int>(left < 0 ? 0 : left < lanes<T> ? left : lanes<T>);
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
