#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cpu/convolution_correlation.hpp"

namespace mpsgraph_native::cpu {

/// Correlations with few result channels, such as the data gradient of a network's first layer: the lanes run over
/// neighbouring pixels. A block is one long line of its planes, so that pixels between its rows are computed in vain.
template <class T>
class NarrowCorrelation {
 public:
  static constexpr std::string_view name = "products along lines of pixels";

  /// Whether this computes such correlations, and without computing much in vain.
  static bool fits(const CorrelationSizes& sizes, const CorrelationAxes& axes);

  /// Reserves its packed weights in the shared scratch, the rest in every thread's.
  NarrowCorrelation(const CorrelationSizes& sizes, const CorrelationAxes& axes, ScratchLayout& shared_scratch,
                    ScratchLayout& thread_scratch);

  void run(const Invocation& invocation, const T* input, const T* weights, T* result, int threads) const;

 private:
  struct Phase {
    std::vector<std::int64_t> kernel_offsets;
    std::vector<std::int32_t> tap_offsets;
    Slot<T> packed_weights;
  };

  void pack(const T* weights, const Phase& phase, std::int64_t group, T* packed) const;
  void multiply(const Invocation& invocation, const T* input, T* result, std::int64_t chunk, Range units) const;
  /// What the planes of a unit are copied from, beginning with channel c of its group.
  MemoryRuns source(const T* input, std::int64_t unit, std::int64_t c) const;
  void write(const T* tiles, const PixelBlock& block, std::int64_t image, std::int64_t group, T* result) const;
  /// Pixels of the line that a block of one image is, up to its last.
  std::int64_t line_pixels(const PixelBlock& block) const {
    return (block.rows - 1) * planes_.row_offset() + block.columns;
  }

  const MatrixKernels<T>& kernels_;
  CorrelationSizes sizes_;
  CorrelationAxes axes_;
  PixelBlocks blocks_;
  InputPlanes planes_;
  std::vector<Phase> phases_;  ///< x axes innermost
  std::int64_t line_ = 0;      ///< from one row of a tile to the next
  std::int64_t tile_ = 0;      ///< from the tile of one phase to the next
  Slot<T> plane_slot_, tile_slot_;
};

}  // namespace mpsgraph_native::cpu
