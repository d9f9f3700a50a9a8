#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cpu/convolution_correlation.hpp"
#include "graph/division.hpp"

namespace mpsgraph_native::cpu {

/// Correlations of a single tap between planes, which are products of matrices: the weights by all pixels of the batch,
/// those of one image after those of another. Panels hold pixels, so that what the kernel computes lies as in the
/// result.
template <class T>
class PointwiseCorrelation {
 public:
  static constexpr std::string_view name = "matrix product along pixels";

  /// Whether this computes such correlations.
  static bool fits(const CorrelationSizes& sizes, const CorrelationAxes& axes);

  /// Reserves weights in the order of the kernel in the shared scratch, the rest in every thread's.
  PointwiseCorrelation(const CorrelationSizes& sizes, const CorrelationAxes& axes, ScratchLayout& shared_scratch,
                       ScratchLayout& thread_scratch);

  void run(const Invocation& invocation, const T* input, const T* weights, T* result, int threads) const;

 private:
  /// Neighbouring pixels of one image.
  struct Piece {
    std::int64_t image, pixel, count;
  };
  /// The first of the batch's pixels [begin, end), as many as lie in one image.
  Piece piece(std::int64_t begin, std::int64_t end) const;
  /// Pixels that will be packed next, and are still to be fetched.
  struct Ahead {
    std::int64_t begin = 0, end = 0;
    Range channels{0, 0};
  };

  /// The weights with the channels of every row next to each other.
  const T* ordered_weights(const Invocation& invocation, const T* weights, int threads) const;
  void multiply(const Invocation& invocation, const T* input, const T* weights, T* result, std::int64_t chunk,
                Range panels, Range rows) const;
  /// One panel by some rows of weights, the first of which gives `first_channel` of the result.
  void multiply_panel(const T* packed, const T* const* columns, std::int64_t depth, std::int64_t panel,
                      std::int64_t first_channel, std::int64_t rows, bool accumulate, T* tile, T* result,
                      Prefetch& prefetch) const;
  void pack(const T* input, std::int64_t panel, Range channels, T* packed) const;
  /// The next piece of what is ahead.
  MemoryRuns next_source(const T* input, Ahead& ahead) const;

  std::int64_t pixels() const { return sizes_.batch * plane_; }
  /// Of one group.
  std::int64_t panels() const { return ceil_divide(pixels(), panel_.width); }
  /// The pixel after the last of a panel.
  std::int64_t panel_end(std::int64_t panel) const { return std::min((panel + 1) * panel_.width, pixels()); }
  /// The channels that are summed at once.
  Range part(std::int64_t index) const { return split_range(sizes_.channels, index, parts_); }

  const MatrixKernels<T>& kernels_;
  CorrelationSizes sizes_;
  std::int64_t plane_;
  const PanelKernels<T>& panel_;
  bool weights_in_order_;
  std::int64_t parts_ = 1, panels_at_once_ = 1, rows_at_once_ = 1;
  std::vector<std::int32_t> steps_;
  Slot<T> weights_slot_, packed_slot_, tile_slot_;
  Slot<const T*> column_slot_;
};

}  // namespace mpsgraph_native::cpu
