#pragma once

#include <cstdint>

namespace mpsgraph_native::cpu {

/// Memory that will be read or written soon: runs of equal length, `stride` bytes apart.
struct MemoryRuns {
  const char* run = nullptr;
  std::int64_t bytes = 0, stride = 0, count = 0;
  std::int64_t position = 0;  ///< in the first run
};

/// What the product fetches into the caches beside its own work, a line every few steps, in this order.
struct Prefetch {
  MemoryRuns first, second;
};

/// The panel kernel for one panel width; see MatrixKernels.
template <class T>
struct PanelKernels {
  int width;
  int vectors;  ///< the width in vector registers, to which the cost of one step of the product is proportional

  /// c[column * width + row] (+)= sum over k of a[k * width + row] * columns[column][offsets[k]].
  void (*multiply)(std::int64_t depth, const T* a, const std::int32_t* offsets, const T* const* columns,
                   std::int64_t column_count, T* c, bool accumulate);
  /// The same with columns of c `c_stride` apart, fetching as well.
  void (*multiply_and_fetch)(std::int64_t depth, const T* a, const std::int32_t* offsets, const T* const* columns,
                             std::int64_t column_count, T* c, std::int64_t c_stride, bool accumulate,
                             Prefetch& prefetch);

  /// Packs one panel out of `rows` (at most width) rows of length `depth` that are contiguous along k.
  void (*pack_rows)(const T* source, std::int64_t row_stride, std::int64_t rows, std::int64_t depth, T* panel);

  /// Packs one panel whose rows (at most width) are contiguous in memory, k having the stride.
  void (*pack_columns)(const T* source, std::int64_t k_stride, std::int64_t rows, std::int64_t depth, T* panel);
};

/// The products that convolution, matrix multiplication and the recurrent operations stand on, and the packing that
/// feeds them, for one element type and one instruction set.
///
/// A panel holds `panel_width` rows of the left operand, k-major: a[k * panel_width + row], rows beyond the matrix
/// zero. The right operand is never packed: element k of column c is columns[c][offsets[k]], so that one kernel reads
/// matrices of any stride, sliding windows and gate blocks alike.
template <class T>
struct MatrixKernels {
  int panel_width;
  int tile_columns;  ///< column counts that are a multiple of this leave no remainder

  /// c[column * panel_width + row] (+)= sum over k of a[k][row] * columns[column][offsets[k]].
  void (*multiply_panel)(std::int64_t depth, const T* a, const std::int32_t* offsets, const T* const* columns,
                         std::int64_t column_count, T* c, bool accumulate);

  /// destination[c * destination_stride + r] = source[r * source_stride + c].
  void (*transpose)(const T* source, std::int64_t source_stride, std::int64_t rows, std::int64_t columns,
                    T* destination, std::int64_t destination_stride);

  /// Packs one panel out of `rows` (at most panel_width) rows of length `depth` that are contiguous along k.
  void (*pack_rows)(const T* source, std::int64_t row_stride, std::int64_t rows, std::int64_t depth, T* panel);

  /// Packs one panel whose rows (at most panel_width) are contiguous in memory, k having the stride.
  void (*pack_columns)(const T* source, std::int64_t k_stride, std::int64_t rows, std::int64_t depth, T* panel);

  /// The product for few rows (at most maximum_narrow_rows), whose lanes are neighbouring columns instead:
  /// c[row * c_stride + i] (+)= sum over k of b[k * rows + row] * columns[offsets[k] + i] for i below `count` rounded
  /// up to whole vectors, which all of the columns and of c must have room for. Fetches as well.
  void (*multiply_narrow)(std::int64_t rows, std::int64_t depth, const T* b, const T* columns,
                          const std::int32_t* offsets, std::int64_t count, T* c, std::int64_t c_stride, bool accumulate,
                          Prefetch& prefetch);
  static constexpr int maximum_narrow_rows = 4;
  int lanes;

  /// destination[i] += source[i].
  void (*add)(const T* source, std::int64_t count, T* destination);

  /// Every panel width that this instruction set has, narrowest first; the last is `panel_width`.
  static constexpr int maximum_widths = 4;
  PanelKernels<T> widths[maximum_widths];
  int width_count;
};

}  // namespace mpsgraph_native::cpu
