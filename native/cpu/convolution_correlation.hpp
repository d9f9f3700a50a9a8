#pragma once

#include <cstdint>
#include <vector>

#include "cpu/convolution_planes.hpp"
#include "cpu/kernel.hpp"
#include "cpu/panels.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {

/// How a correlation walks the weights tensor: rows are the result's channels, the depth runs over the input's.
struct WeightsStrides {
  std::int64_t group = 0, row = 0, channel = 0, y = 0, x = 0;
};

/// The sizes of a forward convolution or a data gradient, both of which are sums of correlations:
/// result[n, r, o] = sum over channels c and taps t of input[n, c, o·stride + t·dilation + origin] · weights[r, c, t].
struct CorrelationSizes {
  std::int64_t batch = 0, groups = 1;
  std::int64_t channels = 0, rows = 0;  ///< of one group
  ImageTensor input, result;
  WeightsStrides weights;
};

/// The indirect matrix product over one correlation: panels of weights against columns that are output pixels.
template <class T>
class Correlation {
 public:
  /// Reserves its packed weights in the shared scratch, the rest in every thread's.
  Correlation(const CorrelationSizes& sizes, const CorrelationAxis& y, const CorrelationAxis& x,
              ScratchLayout& shared_scratch, ScratchLayout& thread_scratch);

  void run(const Invocation& invocation, const T* input, const T* weights, T* result, int threads) const;

 private:
  std::int64_t panels() const { return (sizes_.rows + panel_.width - 1) / panel_.width; }
  std::int64_t panel_rows(std::int64_t panel) const;
  void pack_panel(const T* weights, std::int64_t group, std::int64_t panel, T* packed) const;
  void multiply(const Invocation& invocation, const T* input, T* result, std::int64_t chunk, Range units) const;
  void write(const T* tile, const PixelBlock& block, std::int64_t first_channel, std::int64_t channels,
             T* result) const;

  const MatrixKernels<T>& kernels_;
  const PanelKernels<T>& panel_;
  CorrelationSizes sizes_;
  CorrelationAxis y_, x_;
  std::int64_t taps_, depth_;
  PixelBlocks blocks_;
  InputPlanes planes_;
  std::vector<std::int32_t> pixel_offsets_, tap_offsets_;
  std::vector<std::int64_t> kernel_offsets_;  ///< of each tap in the weights tensor
  Slot<T> packed_weights_, plane_slot_, tile_slot_;
  Slot<const T*> column_slot_;
};

}  // namespace mpsgraph_native::cpu
