#pragma once

#include "cpu/isa/row_window.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

template <class T>
constexpr T infinity = static_cast<T>(__builtin_inff());

/// Keeps the first maximum in the order of the calls; a NaN beats every number, and the first NaN stays.
template <class T>
struct Maximum {
  Vec<T> value;
  IndexVec<T> code;

  template <bool WithCode>
  MPSGRAPH_INLINE void take(Vec<T> candidate, IndexVec<T> candidate_code) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) {
      const __m512 c = reinterpret_cast<__m512>(candidate), v = reinterpret_cast<__m512>(value);
      const __mmask16 ordered = _mm512_cmp_ps_mask(v, v, _CMP_ORD_Q);
      const __mmask16 larger = _mm512_mask_cmp_ps_mask(ordered, c, v, _CMP_NLE_UQ);
      value = reinterpret_cast<Vec<T>>(_mm512_mask_mov_ps(v, larger, c));
      if constexpr (WithCode)
        code = reinterpret_cast<IndexVec<T>>(
            _mm512_mask_mov_epi32(reinterpret_cast<__m512i>(code), larger, reinterpret_cast<__m512i>(candidate_code)));
    } else {
      const __m512d c = reinterpret_cast<__m512d>(candidate), v = reinterpret_cast<__m512d>(value);
      const __mmask8 ordered = _mm512_cmp_pd_mask(v, v, _CMP_ORD_Q);
      const __mmask8 larger = _mm512_mask_cmp_pd_mask(ordered, c, v, _CMP_NLE_UQ);
      value = reinterpret_cast<Vec<T>>(_mm512_mask_mov_pd(v, larger, c));
      if constexpr (WithCode)
        code = reinterpret_cast<IndexVec<T>>(
            _mm512_mask_mov_epi64(reinterpret_cast<__m512i>(code), larger, reinterpret_cast<__m512i>(candidate_code)));
    }
#else
    const IndexVec<T> larger = ~(candidate <= value) & (value == value);
    value = larger ? candidate : value;
    if constexpr (WithCode) code = larger ? candidate_code : code;
#endif
  }
};

template <class T>
MPSGRAPH_INLINE IndexVec<T> broadcast_index(std::int64_t value) {
  return IndexVec<T>{} + static_cast<Index<T>>(value);
}

template <class T>
MPSGRAPH_INLINE void store_indices(std::int32_t* p, std::int64_t count, IndexVec<T> indices) {
  if constexpr (sizeof(T) == 4) {
    store_lanes<std::int32_t>(p, count, indices);
  } else {
    for (int i = 0; i < lanes<T> && i < count; ++i) p[i] = static_cast<std::int32_t>(indices[i]);
  }
}

// Small windows take so little time that memory is the limit, and the processor does not fetch the lines to be written,
// nor enough of those to be read. Rows and images follow each other, so a fixed distance ahead is what comes next.
template <class T>
MPSGRAPH_INLINE void fetch_for_writing(T* p) {
  __builtin_prefetch(p + 2048 / static_cast<std::int64_t>(sizeof(T)), 1, 2);
}
template <class T>
MPSGRAPH_INLINE void fetch_for_reading(const T* p) {
  __builtin_prefetch(p + 4096 / static_cast<std::int64_t>(sizeof(T)), 0, 3);
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
