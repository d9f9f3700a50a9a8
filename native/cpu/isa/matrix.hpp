#pragma once

#include <cstdint>

namespace mpsgraph_native::cpu {

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

  /// destination[i] += source[i].
  void (*add)(const T* source, std::int64_t count, T* destination);
};

}  // namespace mpsgraph_native::cpu
