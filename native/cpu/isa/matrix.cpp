#include "cpu/isa/matrix.hpp"

#include "cpu/isa/families.hpp"
#include "cpu/isa/indices.hpp"
#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

struct FetchNothing {
  static constexpr std::int64_t steps = std::int64_t{1} << 62;
  void next() {}
};

/// A line every so many steps, which takes no time from the products.
template <int Steps>
struct FetchLines {
  static constexpr std::int64_t steps = Steps;
  Prefetch& prefetch;

  MPSGRAPH_INLINE void next() {
    MemoryRuns& runs = prefetch.first.count ? prefetch.first : prefetch.second;
    if (!runs.count) return;
    __builtin_prefetch(runs.run + runs.position, 0, 2);
    runs.position += 64;
    if (runs.position < runs.bytes) return;
    runs.position = 0;
    runs.run += runs.stride;
    --runs.count;
  }
};

/// acc[c][v] += a[k][v] * column c at k, for compile-time numbers of vectors and columns so that all accumulators stay
/// in registers.
template <class T, int V, int Columns, class Fetch>
MPSGRAPH_INLINE void multiply_tile(std::int64_t depth, const T* a, const std::int32_t* offsets, const T* const* columns,
                                   T* c, std::int64_t c_stride, bool accumulate, Fetch fetch) {
  Vec<T> acc[Columns][V] = {};
  const T* column[Columns];
#pragma GCC unroll 8
  for (int i = 0; i < Columns; ++i) column[i] = columns[i];
  // The previous partial sums come from the outer cache; asking now hides their latency behind the products.
  if (accumulate) {
#pragma GCC unroll 8
    for (int i = 0; i < Columns; ++i)
#pragma GCC unroll 4
      for (int line = 0; line < V * vector_bytes; line += 64)
        __builtin_prefetch(c + i * c_stride + line / static_cast<int>(sizeof(T)), 1, 3);
  }
  for (std::int64_t k = 0; k < depth;) {
    fetch.next();
    const std::int64_t end = depth - k > Fetch::steps ? k + Fetch::steps : depth;
    for (; k < end; ++k) {
      const std::int64_t offset = offsets[k];
      Vec<T> row[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) row[v] = load(a + v * lanes<T>);
#pragma GCC unroll 8
      for (int i = 0; i < Columns; ++i) {
        const Vec<T> b = broadcast<T>(column[i][offset]);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) acc[i][v] = multiply_add(row[v], b, acc[i][v]);
      }
      a += V * lanes<T>;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Columns; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      T* out = c + i * c_stride + v * lanes<T>;
      store(out, accumulate ? acc[i][v] + load(out) : acc[i][v]);
    }
}

template <class T, int V, int Columns, class Fetch>
MPSGRAPH_INLINE void multiply_remainder(int count, std::int64_t depth, const T* a, const std::int32_t* offsets,
                                        const T* const* columns, T* c, std::int64_t c_stride, bool accumulate,
                                        Fetch fetch) {
  if constexpr (Columns > 0) {
    if (count == Columns)
      multiply_tile<T, V, Columns>(depth, a, offsets, columns, c, c_stride, accumulate, fetch);
    else
      multiply_remainder<T, V, Columns - 1>(count, depth, a, offsets, columns, c, c_stride, accumulate, fetch);
  }
}

template <class T, int V, class Fetch>
MPSGRAPH_INLINE void multiply_columns(std::int64_t depth, const T* a, const std::int32_t* offsets,
                                      const T* const* columns, std::int64_t column_count, T* c, std::int64_t c_stride,
                                      bool accumulate, Fetch fetch) {
  std::int64_t i = 0;
  for (; i + tile_columns <= column_count; i += tile_columns)
    multiply_tile<T, V, tile_columns>(depth, a, offsets, columns + i, c + i * c_stride, c_stride, accumulate, fetch);
  multiply_remainder<T, V, tile_columns - 1>(static_cast<int>(column_count - i), depth, a, offsets, columns + i,
                                             c + i * c_stride, c_stride, accumulate, fetch);
}

template <class T, int V>
void multiply(std::int64_t depth, const T* a, const std::int32_t* offsets, const T* const* columns,
              std::int64_t column_count, T* c, bool accumulate) {
  multiply_columns<T, V>(depth, a, offsets, columns, column_count, c, V * lanes<T>, accumulate, FetchNothing());
}

template <class T, int V>
void multiply_and_fetch(std::int64_t depth, const T* a, const std::int32_t* offsets, const T* const* columns,
                        std::int64_t column_count, T* c, std::int64_t c_stride, bool accumulate, Prefetch& prefetch) {
  multiply_columns<T, V>(depth, a, offsets, columns, column_count, c, c_stride, accumulate, FetchLines<8>{prefetch});
}

/// acc[row][v] += b[k][row] * columns[offsets[k]][v].
template <class T, int Rows, int V>
MPSGRAPH_INLINE void multiply_narrow_tile(std::int64_t depth, const T* b, const T* columns, const std::int32_t* offsets,
                                          T* c, std::int64_t c_stride, bool accumulate, Prefetch& prefetch) {
  FetchLines<4> fetch{prefetch};
  Vec<T> acc[Rows][V] = {};
  for (std::int64_t k = 0; k < depth;) {
    fetch.next();
    const std::int64_t end = depth - k > fetch.steps ? k + fetch.steps : depth;
    for (; k < end; ++k, b += Rows) {
      const T* column = columns + offsets[k];
      Vec<T> weight[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) weight[r] = broadcast<T>(b[r]);
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v) {
        const Vec<T> values = in_register(load(column + v * lanes<T>));
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) acc[r][v] = multiply_add(values, weight[r], acc[r][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) {
      T* out = c + r * c_stride + v * lanes<T>;
      store(out, accumulate ? acc[r][v] + load(out) : acc[r][v]);
    }
}

template <class T, int Rows, int V>
MPSGRAPH_INLINE void multiply_narrow_rows(std::int64_t depth, const T* b, const T* columns, const std::int32_t* offsets,
                                          std::int64_t vectors, T* c, std::int64_t c_stride, bool accumulate,
                                          Prefetch& prefetch) {
  for (; vectors >= V; vectors -= V, columns += V * lanes<T>, c += V * lanes<T>)
    multiply_narrow_tile<T, Rows, V>(depth, b, columns, offsets, c, c_stride, accumulate, prefetch);
  if constexpr (V > 1)
    if (vectors > 0)
      multiply_narrow_rows<T, Rows, V / 2>(depth, b, columns, offsets, vectors, c, c_stride, accumulate, prefetch);
}

template <class T>
void multiply_narrow(std::int64_t rows, std::int64_t depth, const T* b, const T* columns, const std::int32_t* offsets,
                     std::int64_t count, T* c, std::int64_t c_stride, bool accumulate, Prefetch& prefetch) {
  // As many accumulators as the panels have, and a register for the weight of every row.
  constexpr int most = panel_vectors * tile_columns;
  const std::int64_t vectors = (count + lanes<T> - 1) / lanes<T>;
  switch (rows) {
    case 1:
      return multiply_narrow_rows<T, 1, 12>(depth, b, columns, offsets, vectors, c, c_stride, accumulate, prefetch);
    case 2:
      return multiply_narrow_rows<T, 2, most / 2>(depth, b, columns, offsets, vectors, c, c_stride, accumulate,
                                                  prefetch);
    case 3:
      return multiply_narrow_rows<T, 3, most / 3>(depth, b, columns, offsets, vectors, c, c_stride, accumulate,
                                                  prefetch);
    default:
      return multiply_narrow_rows<T, 4, most / 4 - (most < 24)>(depth, b, columns, offsets, vectors, c, c_stride,
                                                                accumulate, prefetch);
  }
}

/// Exchanges the off-diagonal squares of side Width between two rows of a square of registers.
template <int L, int Width, class V, int... J>
MPSGRAPH_INLINE void exchange(V& upper, V& lower, Indices<J...>) {
  const V a = upper;
  const V b = lower;
  upper = __builtin_shufflevector(a, b, ((J & Width) ? L + J - Width : J)...);
  lower = __builtin_shufflevector(a, b, ((J & Width) ? L + J : J + Width)...);
}

template <int L, int Width, class V>
MPSGRAPH_INLINE void transpose_square(V* rows) {
  if constexpr (Width < L) {
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i)
      if (!(i & Width)) exchange<L, Width>(rows[i], rows[i + Width], typename IndicesBelow<L>::type());
    transpose_square<L, 2 * Width>(rows);
  }
}

/// One square of registers, or the part of one that `height` and `width` leave.
template <class T>
MPSGRAPH_INLINE void transpose_block(const T* from, std::int64_t source_stride, int height, int width, T* to,
                                     std::int64_t destination_stride) {
  constexpr int L = lanes<T>;
  Vec<T> rows[L];
  if (height == L && width == L) {
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i) rows[i] = load(from + i * source_stride);
    transpose_square<L, 1>(rows);
#pragma GCC unroll 16
    for (int j = 0; j < L; ++j) store(to + j * destination_stride, rows[j]);
    return;
  }
#if defined(__AVX512F__)
#pragma GCC unroll 16
  for (int i = 0; i < L; ++i) rows[i] = i < height ? load_partial(from + i * source_stride, width) : Vec<T>{};
  transpose_square<L, 1>(rows);
#pragma GCC unroll 16
  for (int j = 0; j < L; ++j)
    if (j < width) store_partial(to + j * destination_stride, height, rows[j]);
#else
  for (int j = 0; j < width; ++j)
    for (int i = 0; i < height; ++i) to[j * destination_stride + i] = from[i * source_stride + j];
#endif
}

template <class T>
void transpose(const T* source, std::int64_t source_stride, std::int64_t rows, std::int64_t columns, T* destination,
               std::int64_t destination_stride) {
  constexpr int L = lanes<T>;
  for (std::int64_t r = 0; r < rows; r += L) {
    const int height = static_cast<int>(rows - r < L ? rows - r : L);
    for (std::int64_t c = 0; c < columns; c += L) {
      const int width = static_cast<int>(columns - c < L ? columns - c : L);
      transpose_block(source + r * source_stride + c, source_stride, height, width,
                      destination + c * destination_stride + r, destination_stride);
    }
  }
}

template <class T, int V>
void pack_rows(const T* source, std::int64_t row_stride, std::int64_t rows, std::int64_t depth, T* panel) {
  constexpr int P = V * lanes<T>;
  if (rows < P)
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t r = rows; r < P; ++r) panel[k * P + r] = T(0);
  transpose(source, row_stride, rows, depth, panel, P);
}

template <class T, int V>
void pack_columns(const T* source, std::int64_t k_stride, std::int64_t rows, std::int64_t depth, T* panel) {
  constexpr int P = V * lanes<T>;
  const std::int64_t whole = rows / lanes<T> * lanes<T>;
  const int rest = static_cast<int>(rows - whole);
  for (std::int64_t k = 0; k < depth; ++k, source += k_stride, panel += P) {
    std::int64_t r = 0;
    for (; r < whole; r += lanes<T>) store(panel + r, load(source + r));
    if (rest) {
      store(panel + r, load_partial(source + r, rest));
      r += lanes<T>;
    }
    for (; r < P; r += lanes<T>) store(panel + r, Vec<T>{});
  }
}

template <class T>
void add(const T* source, std::int64_t count, T* destination) {
  std::int64_t i = 0;
  for (; i + lanes<T> <= count; i += lanes<T>) store(destination + i, load(destination + i) + load(source + i));
  for (; i < count; ++i) destination[i] += source[i];
}

template <class T, int V>
void append_widths(MatrixKernels<T>& kernels) {
  if constexpr (V > 1) append_widths<T, V - 1>(kernels);
  kernels.widths[kernels.width_count++] = {
      V * lanes<T>, V, multiply<T, V>, multiply_and_fetch<T, V>, pack_rows<T, V>, pack_columns<T, V>};
}

}  // namespace

template <class T>
MatrixKernels<T> matrix_kernels() {
  constexpr int V = panel_vectors;
  MatrixKernels<T> kernels = {panel_width<T>,
                              tile_columns,
                              multiply<T, V>,
                              transpose<T>,
                              pack_rows<T, V>,
                              pack_columns<T, V>,
                              multiply_narrow<T>,
                              lanes<T>,
                              add<T>,
                              {},
                              0};
  append_widths<T, V>(kernels);
  return kernels;
}
template MatrixKernels<float> matrix_kernels<float>();
template MatrixKernels<double> matrix_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
