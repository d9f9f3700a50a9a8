#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cpu/convolution_planes.hpp"
#include "cpu/kernel.hpp"
#include "cpu/weights_panels.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {

/// The sizes of a forward convolution or a data gradient, both of which are sums of correlations:
/// result[n, r, o] = sum over channels c and taps t of input[n, c, o·stride + t·dilation + origin] · weights[r, c, t].
struct CorrelationSizes {
  std::int64_t batch = 0, groups = 1;
  std::int64_t channels = 0, rows = 0;  ///< of one group
  ImageTensor input, result;
  WeightsStrides weights;
};

/// The axes of the correlations that together give a result: one for each pair of a y axis and an x axis. All of one
/// list have the same result step.
struct CorrelationAxes {
  std::vector<CorrelationAxis> y, x;
};

/// The indirect matrix product over correlations: panels of weights against columns that are output pixels. The
/// correlations share the copies of their input, and write rows of the result together.
template <class T>
class Correlation {
 public:
  static constexpr std::string_view name = "indirect matrix product";

  /// Reserves its packed weights in the shared scratch, the rest in every thread's.
  Correlation(const CorrelationSizes& sizes, const CorrelationAxes& axes, ScratchLayout& shared_scratch,
              ScratchLayout& thread_scratch);

  void run(const Invocation& invocation, const T* input, const T* weights, T* result, int threads) const;

 private:
  struct Phase {
    WeightsPanels<T> panels;
    std::int64_t taps;
    std::vector<std::int32_t> tap_offsets;
    Slot<T> packed_weights;
  };

  void multiply(const Invocation& invocation, const T* input, T* result, std::int64_t chunk, Range units) const;
  void multiply_phase(const Phase& phase, std::int64_t depth, const T* a, const T* const* columns, std::int64_t pixels,
                      T* tile, std::int64_t tile_stride, bool accumulate, Prefetch& prefetch) const;
  MemoryRuns next_source(const T* input, std::int64_t next_unit) const;
  MemoryRuns destination(const T* result, const CorrelationAxis& y, const PixelBlock& block, std::int64_t first_channel,
                         std::int64_t channels) const;
  /// Where the kernel itself can write whole panels of a block, or null.
  T* in_order(T* result, const PixelBlock& block, std::int64_t first_channel, std::int64_t channels) const;
  /// Writes the rows of one y axis from a tile for each x axis.
  void write(const T* tiles, const CorrelationAxis& y, const PixelBlock& block, std::int64_t first_channel,
             std::int64_t channels, T* result) const;
  void write_planes(const T* tiles, std::int64_t columns, std::int64_t x, std::int64_t channels, T* row) const;
  std::int64_t panels() const { return phases_[0].panels.count(); }
  std::int64_t width() const { return phases_[0].panels.width(); }
  std::int64_t tile_elements() const { return blocks_.largest().pixels() * width(); }

  const MatrixKernels<T>& kernels_;
  CorrelationSizes sizes_;
  CorrelationAxes axes_;
  PixelBlocks blocks_;
  InputPlanes planes_;
  std::vector<std::int32_t> pixel_offsets_;
  std::vector<Phase> phases_;  ///< x axes innermost
  Slot<T> plane_slot_, tile_slot_;
  Slot<const T*> column_slot_;
};

}  // namespace mpsgraph_native::cpu
