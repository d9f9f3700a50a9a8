#include "cpu/isa/conversion.hpp"

#include "cpu/isa/families.hpp"
#include "cpu/isa/vector.hpp"

#if defined(__AVX2__) && defined(__F16C__)
#include <immintrin.h>
#endif

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

MPSGRAPH_INLINE std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
MPSGRAPH_INLINE float float_of(std::uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

MPSGRAPH_INLINE float widen_float16(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00) return float_of(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400) return float_of(sign | ((magnitude << 13) + (112u << 23)));
  // Subnormals are magnitude·2^-24, which float32 holds exactly.
  const float value = static_cast<float>(magnitude) * 5.9604644775390625e-8f;
  return float_of(sign | bits_of(value));
}

MPSGRAPH_INLINE std::uint16_t narrow_float16(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);  // 65520 and beyond round to infinity
  if (magnitude < 0x38800000) {
    // Adding 0.5 aligns the last kept bit of a float16 subnormal with the last bit of the sum, which rounds it.
    const std::uint32_t rounded = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
    return static_cast<std::uint16_t>(sign | rounded);
  }
  const std::uint32_t odd = (magnitude >> 13) & 1;
  return static_cast<std::uint16_t>(sign | ((magnitude - (112u << 23) + 0xfff + odd) >> 13));
}

MPSGRAPH_INLINE std::uint16_t narrow_bfloat16(float value) {
  const std::uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

void float16_to_float32(const std::uint16_t* source, std::int64_t count, float* destination) {
  std::int64_t i = 0;
#if defined(__AVX2__) && defined(__F16C__)
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(destination + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i))));
#endif
  for (; i < count; ++i) destination[i] = widen_float16(source[i]);
}

void float32_to_float16(const float* source, std::int64_t count, std::uint16_t* destination) {
  std::int64_t i = 0;
#if defined(__AVX2__) && defined(__F16C__)
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(destination + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(source + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < count; ++i) destination[i] = narrow_float16(source[i]);
}

// Both loops have no branch that a vector cannot take, so compilers widen them.
void bfloat16_to_float32(const std::uint16_t* source, std::int64_t count, float* destination) {
  for (std::int64_t i = 0; i < count; ++i) destination[i] = float_of(static_cast<std::uint32_t>(source[i]) << 16);
}

void float32_to_bfloat16(const float* source, std::int64_t count, std::uint16_t* destination) {
  for (std::int64_t i = 0; i < count; ++i) destination[i] = narrow_bfloat16(source[i]);
}

}  // namespace

ConversionKernels conversion_kernels() {
  return {float16_to_float32, float32_to_float16, bfloat16_to_float32, float32_to_bfloat16};
}

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
