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

  MPSGRAPH_INLINE Maximum(Vec<T> first, IndexVec<T> first_code) : value(first), code(first_code) {}

  /// That of another part, whose codes `more` is added to.
  template <bool WithCode>
  MPSGRAPH_INLINE void take(const Maximum& other, IndexVec<T> more) {
    take<WithCode>(other.value, other.code + more);
  }
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

// Where the comparison of ordered numbers alone pays: with masks as results.
#if defined(__AVX512F__)
constexpr bool expects_ordered = true;
#else
constexpr bool expects_ordered = false;
#endif

/// Keeps the first maximum likewise, of numbers alone: it takes half as many comparisons. Where some value was a NaN,
/// or infinities of both signs came, `all_ordered` may be false, and the maximum is to be found again.
template <class T>
struct OrderedMaximum {
  Vec<T> value;
  IndexVec<T> code;
  Vec<T> sum;

  MPSGRAPH_INLINE OrderedMaximum(Vec<T> first, IndexVec<T> first_code) : value(first), code(first_code), sum(first) {}

  template <bool WithCode>
  MPSGRAPH_INLINE void take(Vec<T> candidate, IndexVec<T> candidate_code) {
    replace<WithCode>(candidate, candidate_code);
    sum += candidate;
  }
  template <bool WithCode>
  MPSGRAPH_INLINE void take(const OrderedMaximum& other, IndexVec<T> more) {
    replace<WithCode>(other.value, other.code + more);
    sum += other.sum;
  }
  MPSGRAPH_INLINE bool all_ordered() const {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
      return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(sum), reinterpret_cast<__m512>(sum), _CMP_UNORD_Q) == 0;
    else
      return _mm512_cmp_pd_mask(reinterpret_cast<__m512d>(sum), reinterpret_cast<__m512d>(sum), _CMP_UNORD_Q) == 0;
#else
    for (int i = 0; i < lanes<T>; ++i)
      if (sum[i] != sum[i]) return false;
    return true;
#endif
  }

 private:
  template <bool WithCode>
  MPSGRAPH_INLINE void replace(Vec<T> candidate, IndexVec<T> candidate_code) {
    const auto larger = candidate > value;
    value = larger ? candidate : value;
    if constexpr (WithCode) code = larger ? candidate_code : code;
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
  __builtin_prefetch(p + 4096 / static_cast<std::int64_t>(sizeof(T)), 0, 2);
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
