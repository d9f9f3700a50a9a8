#pragma once

// Elementary functions of whole vectors, within about two units in the last place over the whole range: infinities,
// NaN, signed zeros and subnormal results come out as the scalar functions of the C library give them.

#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

template <class T>
struct ExponentialConstants;

template <>
struct ExponentialConstants<float> {
  typedef std::uint32_t Bits __attribute__((vector_size(vector_bytes)));
  static constexpr std::uint32_t sign = 0x80000000u;
  static constexpr int mantissa_bits = 23;
  static constexpr float bias = 127;
  // Adding it leaves an integer of either sign in the low mantissa bits.
  static constexpr float rounding = 12582912.0f;
  // Beyond these, exp is 0 or infinity.
  static constexpr float lowest = -105.0f, highest = 89.0f;
  // Below this, expm1 is -1; 2**n stays normal.
  static constexpr float lowest_expm1 = -80.0f;
  static constexpr float log2_e = 1.44269504088896341f;
  // ln 2 in two parts; the first times any exponent is exact.
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  // (exp(r) - 1 - r) / r² on |r| <= ln(2) / 2, minimax, highest power first.
  static constexpr float polynomial[] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                         4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
};

template <>
struct ExponentialConstants<double> {
  typedef std::uint64_t Bits __attribute__((vector_size(vector_bytes)));
  static constexpr std::uint64_t sign = 0x8000000000000000u;
  static constexpr int mantissa_bits = 52;
  static constexpr double bias = 1023;
  static constexpr double rounding = 6755399441055744.0;
  static constexpr double lowest = -746.0, highest = 710.0;
  static constexpr double lowest_expm1 = -700.0;
  static constexpr double log2_e = 1.4426950408889634074;
  static constexpr double ln2_high = 6.93145751953125e-1, ln2_low = 1.42860682030941723212e-6;
  // The Taylor series, 1 / k! from k = 13 down to 2: its remainder is below 1e-17.
  static constexpr double polynomial[] = {1.6059043836821614600e-10, 2.0876756987868098979e-9, 2.5052108385441718775e-8,
                                          2.7557319223985890653e-7,  2.7557319223985890653e-6, 2.4801587301587301587e-5,
                                          1.9841269841269841270e-4,  1.3888888888888888889e-3, 8.3333333333333333333e-3,
                                          4.1666666666666666667e-2,  1.6666666666666666667e-1, 0.5};
};

template <class T>
MPSGRAPH_INLINE Vec<T> sign_bits(Vec<T> x) {
  using C = ExponentialConstants<T>;
  return reinterpret_cast<Vec<T>>(reinterpret_cast<typename C::Bits>(x) & C::sign);
}
template <class T>
MPSGRAPH_INLINE Vec<T> flip_sign(Vec<T> x, Vec<T> signs) {
  using C = ExponentialConstants<T>;
  return reinterpret_cast<Vec<T>>(reinterpret_cast<typename C::Bits>(x) ^ reinterpret_cast<typename C::Bits>(signs));
}
template <class T>
MPSGRAPH_INLINE Vec<T> absolute(Vec<T> x) {
  return flip_sign<T>(x, sign_bits<T>(x));
}

/// 2**n for integral n whose power is a normal number.
template <class T>
MPSGRAPH_INLINE Vec<T> power_of_two(Vec<T> n) {
  using C = ExponentialConstants<T>;
  return reinterpret_cast<Vec<T>>(reinterpret_cast<typename C::Bits>(n + (C::rounding + C::bias)) << C::mantissa_bits);
}

/// value * 2**n with one rounding, for n a little beyond the exponent range too.
template <class T>
MPSGRAPH_INLINE Vec<T> scale(Vec<T> value, Vec<T> n) {
#if defined(__AVX512F__)
  // The plain intrinsics read an undefined register in GCC's headers, which then warns.
  if constexpr (sizeof(T) == 4)
    return _mm512_maskz_scalef_ps(0xffff, value, n);
  else
    return _mm512_maskz_scalef_pd(0xff, value, n);
#else
  const Vec<T> rounding = broadcast<T>(ExponentialConstants<T>::rounding);
  const Vec<T> half = (n * T(0.5) + rounding) - rounding;
  return value * power_of_two<T>(half) * power_of_two<T>(n - half);
#endif
}

/// exp(x) - 1 as 2**n * (1 + fraction) - 1; x must be clamped already.
template <class T>
struct ReducedExponential {
  Vec<T> n, fraction;
};
template <class T>
MPSGRAPH_INLINE ReducedExponential<T> reduce_exponential(Vec<T> x) {
  using C = ExponentialConstants<T>;
  const Vec<T> rounding = broadcast<T>(C::rounding);
  const Vec<T> n = multiply_add(x, broadcast<T>(C::log2_e), rounding) - rounding;
  const Vec<T> r = multiply_add(n, broadcast<T>(-C::ln2_low), multiply_add(n, broadcast<T>(-C::ln2_high), x));
  Vec<T> p = broadcast<T>(C::polynomial[0]);
#pragma GCC unroll 16
  for (unsigned i = 1; i < sizeof C::polynomial / sizeof C::polynomial[0]; ++i)
    p = multiply_add(p, r, broadcast<T>(C::polynomial[i]));
  return {n, multiply_add(p, r * r, r)};
}

/// The comparisons keep NaN.
template <class T>
MPSGRAPH_INLINE Vec<T> clamp_below(Vec<T> x, T lowest) {
  return x < broadcast<T>(lowest) ? broadcast<T>(lowest) : x;
}
template <class T>
MPSGRAPH_INLINE Vec<T> clamp_above(Vec<T> x, T highest) {
  return x > broadcast<T>(highest) ? broadcast<T>(highest) : x;
}

template <class T>
MPSGRAPH_INLINE Vec<T> exponential(Vec<T> x) {
  using C = ExponentialConstants<T>;
  const auto [n, fraction] = reduce_exponential<T>(clamp_above<T>(clamp_below<T>(x, C::lowest), C::highest));
  return scale<T>(fraction + T(1), n);
}

/// 1 / (1 + exp(-x)), through exp(-|x|) so that the left tail keeps its precision down to the subnormals.
template <class T>
MPSGRAPH_INLINE Vec<T> sigmoid(Vec<T> x) {
  using C = ExponentialConstants<T>;
  const Vec<T> one = broadcast<T>(1);
  const auto [n, fraction] = reduce_exponential<T>(clamp_below<T>(-absolute<T>(x), C::lowest));
  const Vec<T> e = scale<T>(fraction + one, n);
  return (x < T(0) ? e : one) / (one + e);
}

/// With e = exp(-2|x|) and m = e - 1: -m / (2 + m) near zero, where 1 - e would cancel, and 1 - 2e / (2 + m) beyond.
template <class T>
MPSGRAPH_INLINE Vec<T> hyperbolic_tangent(Vec<T> x) {
  using C = ExponentialConstants<T>;
  const Vec<T> one = broadcast<T>(1);
  const Vec<T> magnitude = absolute<T>(x);
  const auto [n, fraction] = reduce_exponential<T>(clamp_below<T>(magnitude * T(-2), C::lowest_expm1));
  const Vec<T> power = power_of_two<T>(n);
  const Vec<T> m = multiply_add(power, fraction, power - one);
  const Vec<T> twice_e = multiply_add(power, fraction, power) * T(2);
  const Vec<T> quotient = (magnitude < T(0.55) ? m : twice_e) / (m + T(2));
  return flip_sign<T>(magnitude < T(0.55) ? absolute<T>(quotient) : one - quotient, sign_bits<T>(x));
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
