#include "cpu/isa/matrix.hpp"

#include "cpu/isa/families.hpp"
#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

/// acc[c][v] += a[k][v] * column c at k, for a compile-time number of columns so that all accumulators stay in
/// registers.
template <class T, int Columns>
MPSGRAPH_INLINE void multiply_tile(std::int64_t depth, const T* a, const std::int32_t* offsets,
                                   const T* const* columns, T* c, bool accumulate) {
  constexpr int V = panel_vectors;
  Vec<T> acc[Columns][V] = {};
  const T* column[Columns];
#pragma GCC unroll 8
  for (int i = 0; i < Columns; ++i) column[i] = columns[i];
  // The previous partial sums come from the outer cache; asking now hides their latency behind the products.
  if (accumulate) {
#pragma GCC unroll 32
    for (int i = 0; i < Columns * V * vector_bytes / 64; ++i) __builtin_prefetch(c + i * (64 / sizeof(T)), 1, 3);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
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
#pragma GCC unroll 8
  for (int i = 0; i < Columns; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      T* out = c + (i * V + v) * lanes<T>;
      store(out, accumulate ? acc[i][v] + load(out) : acc[i][v]);
    }
}

template <class T, int Columns>
MPSGRAPH_INLINE void multiply_remainder(int count, std::int64_t depth, const T* a, const std::int32_t* offsets,
                                        const T* const* columns, T* c, bool accumulate) {
  if constexpr (Columns > 0) {
    if (count == Columns)
      multiply_tile<T, Columns>(depth, a, offsets, columns, c, accumulate);
    else
      multiply_remainder<T, Columns - 1>(count, depth, a, offsets, columns, c, accumulate);
  }
}

template <class T>
void multiply_panel(std::int64_t depth, const T* a, const std::int32_t* offsets, const T* const* columns,
                    std::int64_t column_count, T* c, bool accumulate) {
  std::int64_t i = 0;
  for (; i + tile_columns <= column_count; i += tile_columns)
    multiply_tile<T, tile_columns>(depth, a, offsets, columns + i, c + i * panel_width<T>, accumulate);
  multiply_remainder<T, tile_columns - 1>(static_cast<int>(column_count - i), depth, a, offsets, columns + i,
                                          c + i * panel_width<T>, accumulate);
}

/// Square tiles of one vector's width: rows are read and columns written whole, the turn happens in L1.
template <class T>
void transpose(const T* source, std::int64_t source_stride, std::int64_t rows, std::int64_t columns, T* destination,
               std::int64_t destination_stride) {
  constexpr int L = lanes<T>;
  for (std::int64_t r = 0; r < rows; r += L) {
    const int height = static_cast<int>(rows - r < L ? rows - r : L);
    for (std::int64_t c = 0; c < columns; c += L) {
      const int width = static_cast<int>(columns - c < L ? columns - c : L);
      const T* from = source + r * source_stride + c;
      T* to = destination + c * destination_stride + r;
      if (height == L && width == L) {
        alignas(vector_bytes) T block[L][L];
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i) store(block[i], load(from + i * source_stride));
        for (int j = 0; j < L; ++j) {
          Vec<T> column;
#pragma GCC unroll 16
          for (int i = 0; i < L; ++i) column[i] = block[i][j];
          store(to + j * destination_stride, column);
        }
      } else {
        for (int j = 0; j < width; ++j)
          for (int i = 0; i < height; ++i) to[j * destination_stride + i] = from[i * source_stride + j];
      }
    }
  }
}

template <class T>
void pack_rows(const T* source, std::int64_t row_stride, std::int64_t rows, std::int64_t depth, T* panel) {
  constexpr int P = panel_width<T>;
  transpose(source, row_stride, rows, depth, panel, P);
  if (rows < P)
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t r = rows; r < P; ++r) panel[k * P + r] = T(0);
}

template <class T>
void pack_columns(const T* source, std::int64_t k_stride, std::int64_t rows, std::int64_t depth, T* panel) {
  constexpr int P = panel_width<T>;
  if (rows == P) {
    for (std::int64_t k = 0; k < depth; ++k)
#pragma GCC unroll 4
      for (int v = 0; v < P; v += lanes<T>) store(panel + k * P + v, load(source + k * k_stride + v));
    return;
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    std::int64_t r = 0;
    for (; r < rows; ++r) panel[k * P + r] = source[k * k_stride + r];
    for (; r < P; ++r) panel[k * P + r] = T(0);
  }
}

template <class T>
void add(const T* source, std::int64_t count, T* destination) {
  std::int64_t i = 0;
  for (; i + lanes<T> <= count; i += lanes<T>) store(destination + i, load(destination + i) + load(source + i));
  for (; i < count; ++i) destination[i] += source[i];
}

}  // namespace

template <class T>
MatrixKernels<T> matrix_kernels() {
  return {panel_width<T>, tile_columns, multiply_panel<T>, transpose<T>, pack_rows<T>, pack_columns<T>, add<T>};
}
template MatrixKernels<float> matrix_kernels<float>();
template MatrixKernels<double> matrix_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
