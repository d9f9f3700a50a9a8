#include "cpu/isa/flat_convolution.hpp"

#include "cpu/isa/families.hpp"
#include "cpu/isa/indices.hpp"
#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int correlation_vectors = 6;  // 24 accumulators, 6 of the source, 1 broadcast: 31 of 32 registers
constexpr int product_rows = 4;         // 16 accumulators and the operands: 24
#elif defined(__AVX2__)
constexpr int correlation_vectors = 3;  // 12 accumulators, 3 of the source, 1 broadcast: all 16 registers
constexpr int product_rows = 2;         // 8 accumulators and the operands: 14
#else
constexpr int correlation_vectors = 2;  // 8 accumulators, 2 of the source, 1 broadcast, products on their way
constexpr int product_rows = 2;
#endif
constexpr int correlation_rows = 4;
constexpr int product_columns = 4;

/// line(from, to) for every line. `copy` is a value: what is stored could alias what a reference names.
template <class T, class Line>
MPSGRAPH_INLINE void for_each_line(const LineCopy<T> copy, Line line) {
  for (std::int64_t plane = 0; plane < copy.planes; ++plane) {
    const T* from = copy.from + plane * copy.from_plane;
    T* to = copy.to + plane * copy.to_plane;
    for (std::int64_t i = 0; i < copy.lines; ++i, from += copy.from_line, to += copy.to_line) line(from, to);
  }
}

template <class T>
void copy_lines(const LineCopy<T>& copy) {
  constexpr int L = lanes<T>;
  const std::int64_t length = copy.length;
  if (length < L) {
    for_each_line<T>(copy, [count = static_cast<int>(length)](const T* from, T* to) {
#if defined(__AVX512F__)
      store_partial(to, count, load_partial(from, count));
#else
      for (int i = 0; i < count; ++i) to[i] = from[i];
#endif
    });
    return;
  }
  // The last vector of a line may overlap the one before.
  for_each_line<T>(copy, [length](const T* from, T* to) {
    for (std::int64_t i = 0; i < length - L; i += L) store(to + i, load(from + i));
    store(to + length - L, load(from + length - L));
  });
}

template <class T, int Rows, int V>
MPSGRAPH_INLINE void correlate_tile(const LineCorrelation<T>& task, std::int64_t row, std::int64_t first) {
  Vec<T> acc[Rows][V] = {};
  const T* weights[Rows];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) weights[r] = task.weights + (row + r) * task.weights_row;
  const T* source = task.source + first * lanes<T>;
  const std::int32_t* weights_offsets = task.weights_offsets;
  const std::int32_t* source_offsets = task.source_offsets;
  for (std::int64_t k = 0; k < task.depth; ++k) {
    const T* line = source + source_offsets[k];
    const std::int64_t offset = weights_offsets[k];
    Vec<T> values[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) values[v] = load(line + v * lanes<T>);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      const Vec<T> weight = broadcast<T>(weights[r][offset]);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) acc[r][v] = multiply_add(values[v], weight, acc[r][v]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) store(task.result + (row + r) * task.result_row + (first + v) * lanes<T>, acc[r][v]);
}

/// All rows of V vectors.
template <class T, int V>
void correlate_rows(const LineCorrelation<T>& task, std::int64_t first) {
  std::int64_t row = 0;
  for (; row + correlation_rows <= task.rows; row += correlation_rows)
    correlate_tile<T, correlation_rows, V>(task, row, first);
  for (; row + 2 <= task.rows; row += 2) correlate_tile<T, 2, V>(task, row, first);
  if (row < task.rows) correlate_tile<T, 1, V>(task, row, first);
}

template <class T, int V>
MPSGRAPH_INLINE void correlate_share(const LineCorrelation<T>& task, std::int64_t first, std::int64_t vectors) {
  if constexpr (V > 1)
    if (vectors < V) return correlate_share<T, V - 1>(task, first, vectors);
  correlate_rows<T, V>(task, first);
}

template <class T>
void correlate(const LineCorrelation<T>& task) {
  // Equal shares rather than full ones and a rest.
  const std::int64_t shares = (task.vectors + correlation_vectors - 1) / correlation_vectors;
  for (std::int64_t share = 0, first = 0; share < shares; ++share) {
    const std::int64_t last = task.vectors * (share + 1) / shares;
    correlate_share<T, correlation_vectors>(task, first, last - first);
    first = last;
  }
}

/// Lane j of the result: a[j] + a[j + Width] where j has no bit Width, b[j - Width] + b[j] where it has.
template <class V, int Width, int... J>
MPSGRAPH_INLINE V merge(V a, V b, Indices<J...>) {
  constexpr int L = sizeof...(J);
  return __builtin_shufflevector(a, b, ((J & Width) ? L + J - Width : J)...) +
         __builtin_shufflevector(a, b, ((J & Width) ? L + J : J + Width)...);
}

/// Sums of the lanes of Count vectors, a power of two not above the lanes: lane j of the first becomes that of vector
/// j.
template <class T, int Count, int Width = 1>
MPSGRAPH_INLINE void sum_lanes(Vec<T>* vectors) {
  constexpr int L = lanes<T>;
  if constexpr (Width < L) {
    using Lanes = typename IndicesBelow<L>::type;
    if constexpr (Width < Count) {
#pragma GCC unroll 16
      for (int i = 0; i < Count; i += 2 * Width)
        vectors[i] = merge<Vec<T>, Width>(vectors[i], vectors[i + Width], Lanes());
    } else {
      vectors[0] = merge<Vec<T>, Width>(vectors[0], vectors[0], Lanes());
    }
    sum_lanes<T, Count, 2 * Width>(vectors);
  }
}

/// Sums products of Rows rows with product_columns columns, of which `columns` are stored. Returns x - x of every
/// sum x, added up: NaN where one is not finite.
template <class T, int Rows>
MPSGRAPH_INLINE Vec<T> multiply_tile(const LineProducts<T>& task, std::int64_t row, std::int64_t column,
                                     std::int64_t columns) {
  constexpr int L = lanes<T>;
  constexpr int Count = Rows * product_columns;
  const bool rows_follow = task.result_row == 1;
  Vec<T> acc[Rows][product_columns] = {};
  const T* source[product_columns];
  for (std::int64_t image = 0; image < task.images; ++image) {
    const T* incoming = task.incoming + image * task.incoming_image + row * task.incoming_row;
    for (int c = 0; c < product_columns; ++c)
      source[c] =
          task.source + image * task.source_image + task.source_offsets[column + (c < columns ? c : columns - 1)];
    for (std::int64_t p = 0; p < task.vectors * L; p += L) {
      Vec<T> gradient[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) gradient[r] = load(incoming + r * task.incoming_row + p);
#pragma GCC unroll 4
      for (int c = 0; c < product_columns; ++c) {
        const Vec<T> values = load(source[c] + p);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) acc[r][c] = multiply_add(gradient[r], values, acc[r][c]);
      }
    }
  }
  // In the order of the result, so that neighbours are stored together.
  Vec<T> ordered[Count];
#pragma GCC unroll 16
  for (int i = 0; i < Count; ++i) ordered[i] = acc[i / product_columns][i % product_columns];
  if (rows_follow) {
#pragma GCC unroll 16
    for (int i = 0; i < Count; ++i) ordered[i] = acc[i % Rows][i / Rows];
  }
  constexpr int step = Count < L ? Count : L;
  T sums[Count < L ? L : Count];
  Vec<T> check{};
#pragma GCC unroll 16
  for (int i = 0; i < Count; i += step) {
    sum_lanes<T, step>(ordered + i);
    store(sums + i, ordered[i]);
    check += ordered[i] - ordered[i];
  }
  T* result = task.result + row * task.result_row + column * task.result_column;
  if (rows_follow) {
    for (std::int64_t c = 0; c < columns; ++c)
      __builtin_memcpy(result + c * task.result_column, sums + c * Rows, Rows * sizeof(T));
  } else if (columns == product_columns) {
    for (int r = 0; r < Rows; ++r)
      __builtin_memcpy(result + r * task.result_row, sums + r * product_columns, product_columns * sizeof(T));
  } else {
    for (int r = 0; r < Rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) result[r * task.result_row + c] = sums[r * product_columns + c];
  }
  return check;
}

template <class T, int Rows>
Vec<T> multiply_rows(const LineProducts<T>& task, std::int64_t row) {
  Vec<T> check{};
  for (std::int64_t column = 0; column < task.columns; column += product_columns) {
    const std::int64_t left = task.columns - column;
    check += multiply_tile<T, Rows>(task, row, column, left < product_columns ? left : product_columns);
  }
  return check;
}

template <class T>
bool multiply(const LineProducts<T>& task) {
  Vec<T> check{};
  std::int64_t row = 0;
  for (; row + product_rows <= task.rows; row += product_rows) check += multiply_rows<T, product_rows>(task, row);
  if constexpr (product_rows > 2)
    for (; row + 2 <= task.rows; row += 2) check += multiply_rows<T, 2>(task, row);
  if (row < task.rows) check += multiply_rows<T, 1>(task, row);
  return horizontal_sum<T>(check) == T(0);
}

}  // namespace

template <class T>
FlatConvolutionKernels<T> flat_convolution_kernels() {
  return {lanes<T>, copy_lines<T>, correlate<T>, multiply<T>};
}
template FlatConvolutionKernels<float> flat_convolution_kernels<float>();
template FlatConvolutionKernels<double> flat_convolution_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
