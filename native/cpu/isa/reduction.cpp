#include "cpu/isa/reduction.hpp"

#include "cpu/isa/families.hpp"
#include "cpu/isa/lanes.hpp"
#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

template <class T>
struct Limits;
template <>
struct Limits<float> {
  static constexpr float lowest = -__builtin_inff(), highest = __builtin_inff();
};
template <>
struct Limits<double> {
  static constexpr double lowest = -__builtin_inf(), highest = __builtin_inf();
};
template <>
struct Limits<std::int32_t> {
  static constexpr std::int32_t lowest = INT32_MIN, highest = INT32_MAX;
};
template <>
struct Limits<std::int64_t> {
  static constexpr std::int64_t lowest = INT64_MIN, highest = INT64_MAX;
};

// Each combines scalars and vectors alike.
struct Sum {
  template <class T>
  static constexpr T identity = 0;
  template <class V>
  static MPSGRAPH_INLINE V combine(V a, V b) {
    return a + b;
  }
};
struct Product {
  template <class T>
  static constexpr T identity = 1;
  template <class V>
  static MPSGRAPH_INLINE V combine(V a, V b) {
    return a * b;
  }
};
// The value that a comparison with NaN keeps is the accumulator, which is never NaN.
struct Maximum {
  template <class T>
  static constexpr T identity = Limits<T>::lowest;
  template <class V>
  static MPSGRAPH_INLINE V combine(V accumulator, V value) {
    return value > accumulator ? value : accumulator;
  }
};
struct Minimum {
  template <class T>
  static constexpr T identity = Limits<T>::highest;
  template <class V>
  static MPSGRAPH_INLINE V combine(V accumulator, V value) {
    return value < accumulator ? value : accumulator;
  }
};

/// Neighbouring vectors that are reduced side by side, which hides the latency of the additions.
constexpr int strip_vectors = 8;
/// Rows that are reduced one after the other before halves are combined pairwise.
constexpr std::int64_t sequential_rows = 64;

/// Combines `rows` rows of Width vectors into `result`, which the caller holds: clang 19 and 22 lose vectors that a
/// recursive function returns by value.
template <class T, class F, int Width, class Lanes>
void reduce_strip(const T* source, std::int64_t row_stride, std::int64_t rows, Lanes tag, Vec<T>* result) {
  if (rows <= sequential_rows) {
    const Vec<T> identity = broadcast<T>(F::template identity<T>);
    Vec<T> strip[Width];
#pragma GCC unroll 8
    for (int w = 0; w < Width; ++w) strip[w] = identity;
    for (std::int64_t r = 0; r < rows; ++r, source += row_stride)
#pragma GCC unroll 8
      for (int w = 0; w < Width; ++w) strip[w] = F::combine(strip[w], load<T>(source + w * lanes<T>, tag, identity));
#pragma GCC unroll 8
    for (int w = 0; w < Width; ++w) result[w] = strip[w];
    return;
  }
  const std::int64_t half = (rows / 2 + sequential_rows - 1) / sequential_rows * sequential_rows;
  Vec<T> rest[Width];
  reduce_strip<T, F, Width>(source, row_stride, half, tag, result);
  reduce_strip<T, F, Width>(source + half * row_stride, row_stride, rows - half, tag, rest);
#pragma GCC unroll 8
  for (int w = 0; w < Width; ++w) result[w] = F::combine(result[w], rest[w]);
}

template <class T, class F>
T reduce_elements(const T* source, std::int64_t count) {
  constexpr int L = lanes<T>, width = strip_vectors * L;
  const std::int64_t rows = count / width;
  Vec<T> strip[strip_vectors];
  reduce_strip<T, F, strip_vectors>(source, width, rows, AllLanes{}, strip);
  int w = 0;
  for_each_vector<T>(count - rows * width, [&](std::int64_t i, auto tag) {
    const Vec<T> value = load<T>(source + rows * width + i, tag, broadcast<T>(F::template identity<T>));
    strip[w] = F::combine(strip[w], value);
    ++w;
  });
#pragma GCC unroll 3
  for (int half = strip_vectors / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) strip[i] = F::combine(strip[i], strip[i + half]);
  T parts[L];
  store<T>(parts, strip[0]);
  for (int half = L / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) parts[i] = F::combine(parts[i], parts[i + half]);
  return parts[0];
}

template <class T, class F>
void reduce_wide_rows(const T* source, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, T* result) {
  constexpr int L = lanes<T>, width = strip_vectors * L;
  std::int64_t c = 0;
  for (; c + width <= columns; c += width) {
    Vec<T> strip[strip_vectors];
    reduce_strip<T, F, strip_vectors>(source + c, row_stride, rows, AllLanes{}, strip);
#pragma GCC unroll 8
    for (int w = 0; w < strip_vectors; ++w) store<T>(result + c + w * L, strip[w]);
  }
  for_each_vector<T>(columns - c, [&](std::int64_t i, auto tag) {
    Vec<T> strip;
    reduce_strip<T, F, 1>(source + c + i, row_stride, rows, tag, &strip);
    store<T>(result + c + i, tag, strip);
  });
}

template <class T, class F>
void reduce_rows(const T* source, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, T* result) {
  constexpr std::int64_t L = lanes<T>, narrow = 2 * L;
  if (columns >= narrow || row_stride != columns || rows < 2 * L) {
    reduce_wide_rows<T, F>(source, row_stride, rows, columns, result);
    return;
  }
  // L adjacent narrow rows are `columns` whole vectors; what is left of that has fewer than 2L rows.
  T folded[2 * L * narrow];
  const std::int64_t groups = rows / L, rest = rows % L;
  reduce_wide_rows<T, F>(source, L * columns, groups, L * columns, folded);
  __builtin_memcpy(folded + L * columns, source + groups * L * columns,
                   static_cast<std::size_t>(rest * columns) * sizeof(T));
  reduce_wide_rows<T, F>(folded, columns, L + rest, columns, result);
}

template <class T, class F>
std::int64_t find_extremum(const T* source, std::int64_t count) {
  // NaN equals nothing, so an array of NaN is searched in vain.
  const T extremum = reduce_elements<T, F>(source, count);
  constexpr int block = 1024;
  std::int64_t i = 0;
  for (; i + block <= count; i += block) {
    IndexVec<T> found{};
    for (int k = 0; k < block; k += lanes<T>) found |= load(source + i + k) == extremum;
    bool any = false;
    for (int k = 0; k < lanes<T>; ++k) any |= found[k] != 0;
    if (any) break;
  }
  for (; i < count; ++i)
    if (source[i] == extremum) return i;
  return -1;
}

template <class T, class F>
void find_extrema(const T* source, std::int64_t row_stride, std::int64_t rows, std::int64_t columns,
                  std::int32_t* result) {
  for_each_vector<T>(columns, [&](std::int64_t c, auto tag) {
    Vec<T> best = broadcast<T>(F::template identity<T>);
    IndexVec<T> index = IndexVec<T>{} - 1;
    const T* row = source + c;
    for (IndexVec<T> r{}; r[0] < rows; r += 1, row += row_stride) {
      const Vec<T> value = load<T>(row, tag, best);
      // The identity itself may be the first number of a line.
      const IndexVec<T> better = (F::combine(best, value) != best) | ((index < 0) & ~is_nan<T>(value));
      best = better ? value : best;
      index = better ? r : index;
    }
    for (int i = 0; i < lanes<T> && c + i < columns; ++i) result[c + i] = static_cast<std::int32_t>(index[i]);
  });
}

}  // namespace

template <class T>
ReductionKernels<T> reduction_kernels() {
  return {
      {reduce_elements<T, Sum>, reduce_elements<T, Product>, reduce_elements<T, Maximum>, reduce_elements<T, Minimum>},
      {reduce_rows<T, Sum>, reduce_rows<T, Product>, reduce_rows<T, Maximum>, reduce_rows<T, Minimum>}};
}
template <class T>
ArgReductionKernels<T> arg_reduction_kernels() {
  return {{find_extremum<T, Maximum>, find_extremum<T, Minimum>}, {find_extrema<T, Maximum>, find_extrema<T, Minimum>}};
}
template ReductionKernels<float> reduction_kernels<float>();
template ReductionKernels<double> reduction_kernels<double>();
template ReductionKernels<std::int32_t> reduction_kernels<std::int32_t>();
template ReductionKernels<std::int64_t> reduction_kernels<std::int64_t>();
template ArgReductionKernels<float> arg_reduction_kernels<float>();
template ArgReductionKernels<double> arg_reduction_kernels<double>();
template ArgReductionKernels<std::int32_t> arg_reduction_kernels<std::int32_t>();
template ArgReductionKernels<std::int64_t> arg_reduction_kernels<std::int64_t>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
