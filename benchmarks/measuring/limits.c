// What one core can do at most: multiply-adds on registers, and the triad of STREAM. Compiled on the machine itself.
#include <stdint.h>

#if defined(__AVX512F__)
enum { vector_bytes = 64, chains = 24 };
#elif defined(__AVX__)
enum { vector_bytes = 32, chains = 12 };
#elif defined(__aarch64__)
enum { vector_bytes = 16, chains = 24 };
#else
enum { vector_bytes = 16, chains = 12 };
#endif
typedef float vector __attribute__((vector_size(vector_bytes)));
typedef float line __attribute__((vector_size(16)));
enum { lanes = vector_bytes / 4 };

/// Runs `steps` rounds of independent multiply-adds and gives the number of operations, two per lane and multiply-add.
int64_t multiply_add(int64_t steps, float factor, float term, float* result) {
  vector a = {0}, b = {0}, sums[chains];
  a += factor;
  b += term;
#pragma GCC unroll 24
  for (int i = 0; i < chains; ++i) sums[i] = b * (float)i;
  for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 24
    for (int i = 0; i < chains; ++i) sums[i] = sums[i] * a + b;
  }
  vector total = {0};
#pragma GCC unroll 24
  for (int i = 0; i < chains; ++i) total += sums[i];
  *result = total[0];
  return steps * chains * lanes * 2;
}

/// a = b + factor · c.
void triad(int64_t count, float* restrict a, const float* restrict b, const float* restrict c, float factor) {
  for (int64_t i = 0; i < count; ++i) a[i] = b[i] + factor * c[i];
}

/// The same past the caches, whose lines are not read before they are written. All pointers are aligned to 64 bytes.
void triad_streaming(int64_t count, float* restrict a, const float* restrict b, const float* restrict c, float factor) {
#if defined(__SSE__)
  for (int64_t i = 0; i < count; i += 4) {
    const line sum = *(const line*)(b + i) + factor * *(const line*)(c + i);
    __builtin_ia32_movntps(a + i, sum);
  }
  __builtin_ia32_sfence();
#else
  triad(count, a, b, c, factor);
#endif
}
