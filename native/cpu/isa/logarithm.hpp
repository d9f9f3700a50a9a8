#pragma once

// The natural logarithm and the square root of whole vectors, beside the exponentials of math.hpp.

#include "cpu/isa/math.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

template <class T>
struct LogarithmConstants;

// log((1 + s) / (1 - s)) = 2s + s·R(s²), minimax on the s of mantissas in [sqrt(1/2), sqrt(2)], highest power first.
template <>
struct LogarithmConstants<float> {
  typedef std::int32_t Bits __attribute__((vector_size(vector_bytes)));
  static constexpr std::int32_t square_root_of_half = 0x3f3504f3, one = 0x3f800000, mantissa = 0x007fffff;
  static constexpr float smallest_normal = 1.17549435e-38f, subnormal_scale = 8388608.0f, subnormal_exponent = 23;
  static constexpr float polynomial[] = {0.24279078841f, 0.28498786688f, 0.40000972152f, 0.66666662693f};
};
template <>
struct LogarithmConstants<double> {
  typedef std::int64_t Bits __attribute__((vector_size(vector_bytes)));
  static constexpr std::int64_t square_root_of_half = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000,
                                mantissa = 0x000fffffffffffff;
  static constexpr double smallest_normal = 2.2250738585072014e-308, subnormal_scale = 4503599627370496.0,
                          subnormal_exponent = 52;
  static constexpr double polynomial[] = {1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                                          2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                                          6.666666666666735130e-01};
};

template <class T>
MPSGRAPH_INLINE Vec<T> logarithm(Vec<T> x) {
  using C = LogarithmConstants<T>;
  using E = ExponentialConstants<T>;
  const auto subnormal = x < C::smallest_normal;
  const Vec<T> normal = subnormal ? x * C::subnormal_scale : x;
  // normal = 2**exponent · mantissa with the mantissa in [sqrt(1/2), sqrt(2)).
  const auto bits = reinterpret_cast<typename C::Bits>(normal) + (C::one - C::square_root_of_half);
  const Vec<T> exponent = __builtin_convertvector((bits >> E::mantissa_bits) - (C::one >> E::mantissa_bits), Vec<T>) -
                          (subnormal ? broadcast<T>(C::subnormal_exponent) : Vec<T>{});
  const Vec<T> f = reinterpret_cast<Vec<T>>((bits & C::mantissa) + C::square_root_of_half) - T(1);
  const Vec<T> s = f / (f + T(2)), z = s * s, half_square = T(0.5) * f * f;
  Vec<T> p = broadcast<T>(C::polynomial[0]);
#pragma GCC unroll 8
  for (unsigned i = 1; i < sizeof C::polynomial / sizeof C::polynomial[0]; ++i)
    p = multiply_add(p, z, broadcast<T>(C::polynomial[i]));
  // Smallest terms first.
  const Vec<T> tail = multiply_add(exponent, broadcast<T>(E::ln2_low), s * multiply_add(p, z, half_square));
  const Vec<T> result = multiply_add(exponent, broadcast<T>(E::ln2_high), f - (half_square - tail));
  const Vec<T> infinity = broadcast<T>(T(__builtin_inf()));
  const Vec<T> special = x == T(0) ? -infinity : x < T(0) ? broadcast<T>(T(__builtin_nan(""))) : x;
  return ((x > T(0)) & (x < infinity)) ? result : special;
}

template <class T>
MPSGRAPH_INLINE Vec<T> square_root(Vec<T> x) {
  constexpr bool single = sizeof(T) == 4;
#if defined(__AVX512F__)
  // GCC's header warns of the undefined operand that the forms without a mask pass.
  if constexpr (single)
    return _mm512_maskz_sqrt_ps(0xffff, x);
  else
    return _mm512_maskz_sqrt_pd(0xff, x);
#elif defined(__AVX2__)
  if constexpr (single)
    return _mm256_sqrt_ps(x);
  else
    return _mm256_sqrt_pd(x);
#elif defined(__SSE2__)
  if constexpr (single)
    return _mm_sqrt_ps(x);
  else
    return _mm_sqrt_pd(x);
#elif defined(__aarch64__)
  if constexpr (single)
    return vsqrtq_f32(x);
  else
    return vsqrtq_f64(x);
#else
  for (int i = 0; i < lanes<T>; ++i) x[i] = single ? __builtin_sqrtf(x[i]) : __builtin_sqrt(x[i]);
  return x;
#endif
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
