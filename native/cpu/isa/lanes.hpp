#pragma once

// Loops whose body is written once for whole vectors and for the remainder: the tag says which lanes count.

#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

struct AllLanes {};
struct FirstLanes {
  int count;
};

template <class T>
struct LaneIndex {
  typedef std::int32_t type __attribute__((vector_size(vector_bytes)));
};
template <>
struct LaneIndex<double> {
  typedef std::int64_t type __attribute__((vector_size(vector_bytes)));
};
template <>
struct LaneIndex<std::int64_t> : LaneIndex<double> {};

/// Signed integers as wide as T, one per lane: the type of comparison masks too.
template <class T>
using IndexVec = typename LaneIndex<T>::type;

template <class T>
MPSGRAPH_INLINE IndexVec<T> lane_indices() {
  IndexVec<T> indices{};
#pragma GCC unroll 16
  for (int i = 0; i < lanes<T>; ++i) indices[i] = i;
  return indices;
}

template <class T>
constexpr bool floating = T(0.5) != T(0);

template <class T>
MPSGRAPH_INLINE IndexVec<T> is_nan([[maybe_unused]] Vec<T> x) {
  if constexpr (floating<T>)
    return x != x;
  else
    return IndexVec<T>{};
}

/// Lanes that do not count come out as `fill`.
template <class T>
MPSGRAPH_INLINE Vec<T> load(const T* p, AllLanes, Vec<T>) {
  return load(p);
}
template <class T>
MPSGRAPH_INLINE Vec<T> load(const T* p, FirstLanes tag, Vec<T> fill) {
  const IndexVec<T> counts = IndexVec<T>{} + static_cast<decltype(IndexVec<T>{}[0] + 0)>(tag.count);
  return lane_indices<T>() < counts ? load_partial(p, tag.count) : fill;
}
template <class T>
MPSGRAPH_INLINE void store(T* p, AllLanes, Vec<T> v) {
  store<T>(p, v);
}
template <class T>
MPSGRAPH_INLINE void store(T* p, FirstLanes tag, Vec<T> v) {
  store_partial<T>(p, tag.count, v);
}

/// body(i, tag) for i = 0, L, 2L, ... below count.
template <class T, class Body>
MPSGRAPH_INLINE void for_each_vector(std::int64_t count, Body body) {
  std::int64_t i = 0;
  for (; i + lanes<T> <= count; i += lanes<T>) body(i, AllLanes{});
  if (i < count) body(i, FirstLanes{static_cast<int>(count - i)});
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
