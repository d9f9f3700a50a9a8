#pragma once

// Included by the sources of cpu/isa/ alone, which are compiled once per instruction set with MPSGRAPH_ISA naming the
// namespace. Everything here has internal linkage, so that the linker can never pick, say, the AVX-512 copy of an
// inline function for code that runs on a machine without it. For the same reason those sources use no function
// templates of the standard library.

#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#ifndef MPSGRAPH_ISA
#error "MPSGRAPH_ISA must name the namespace of the instruction set"
#endif

#define MPSGRAPH_INLINE inline __attribute__((always_inline))

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
constexpr int panel_vectors = 4;  // 24 accumulators, 4 of A, 1 broadcast: 29 of 32 registers
constexpr int tile_columns = 6;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
constexpr int panel_vectors = 2;  // 12 accumulators, 2 of A, 1 broadcast: 15 of 16 registers
constexpr int tile_columns = 6;
#elif defined(__aarch64__)
constexpr int vector_bytes = 16;
constexpr int panel_vectors = 4;  // 24 accumulators, 4 of A, 1 broadcast: 29 of 32 registers
constexpr int tile_columns = 6;
#else
constexpr int vector_bytes = 16;
constexpr int panel_vectors = 2;
constexpr int tile_columns = 6;
#endif

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(vector_bytes)));
  // Of the same width, unaligned in memory and free to alias.
  typedef T unaligned __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));
};
template <class T>
using Vec = typename VectorOf<T>::type;

template <class T>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));

/// Elements of one packed panel of the matrix kernel.
template <class T>
constexpr int panel_width = panel_vectors * lanes<T>;

template <class T>
MPSGRAPH_INLINE Vec<T> load(const T* p) {
  return *reinterpret_cast<const typename VectorOf<T>::unaligned*>(p);
}
template <class T>
MPSGRAPH_INLINE void store(T* p, Vec<T> v) {
  *reinterpret_cast<typename VectorOf<T>::unaligned*>(p) = v;
}
template <class T>
MPSGRAPH_INLINE Vec<T> broadcast(T value) {
  return value - Vec<T>{};  // unlike a sum with zero, a plain broadcast: the sign of zero stays
}
/// The first `count` lanes from memory, the others zero; reads nothing beyond them.
template <class T>
MPSGRAPH_INLINE Vec<T> load_partial(const T* p, int count) {
  Vec<T> v{};
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    const __mmask16 mask = static_cast<__mmask16>((1u << count) - 1);
    __m512i bits = _mm512_maskz_loadu_epi32(mask, p);
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
  } else if constexpr (sizeof(T) == 8) {
    const __mmask8 mask = static_cast<__mmask8>((1u << count) - 1);
    __m512i bits = _mm512_maskz_loadu_epi64(mask, p);
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
  }
#endif
  for (int i = 0; i < count; ++i) v[i] = p[i];
  return v;
}
template <class T>
MPSGRAPH_INLINE void store_partial(T* p, int count, Vec<T> v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    __m512i bits;
    __builtin_memcpy(&bits, &v, sizeof v);
    _mm512_mask_storeu_epi32(p, static_cast<__mmask16>((1u << count) - 1), bits);
    return;
  } else if constexpr (sizeof(T) == 8) {
    __m512i bits;
    __builtin_memcpy(&bits, &v, sizeof v);
    _mm512_mask_storeu_epi64(p, static_cast<__mmask8>((1u << count) - 1), bits);
    return;
  }
#endif
  for (int i = 0; i < count; ++i) p[i] = v[i];
}
/// a·b + c, contracted to one rounding where the instruction set can.
template <class V>
MPSGRAPH_INLINE V multiply_add(V a, V b, V c) {
  return a * b + c;
}
template <class V>
MPSGRAPH_INLINE V maximum(V a, V b) {
  return a > b ? a : b;
}
template <class V>
MPSGRAPH_INLINE V minimum(V a, V b) {
  return a < b ? a : b;
}
/// Has a value in a register, for uses that come soon. GCC takes one that was loaded for as good as its place in
/// memory, and may read that again for every use, which costs twice where it crosses a cache line.
template <class V>
MPSGRAPH_INLINE V in_register(V value) {
#if defined(__AVX512F__)
  asm("" : "+v"(value));
#elif defined(__SSE__)
  asm("" : "+x"(value));
#elif defined(__aarch64__)
  asm("" : "+w"(value));
#endif
  return value;
}
/// Sum of the lanes, pairwise.
template <class T>
MPSGRAPH_INLINE T horizontal_sum(Vec<T> v) {
  T parts[lanes<T>];
  __builtin_memcpy(parts, &v, sizeof v);
  for (int width = lanes<T> / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) parts[i] += parts[i + width];
  return parts[0];
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
