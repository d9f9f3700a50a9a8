#pragma once

#include <cstdint>
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

/// The indirect matrix product over one correlation: panels of weights against columns that are output pixels.
template <class T>
class Correlation {
 public:
  /// Reserves its packed weights in the shared scratch, the rest in every thread's.
  Correlation(const CorrelationSizes& sizes, const CorrelationAxis& y, const CorrelationAxis& x,
              ScratchLayout& shared_scratch, ScratchLayout& thread_scratch);

  void run(const Invocation& invocation, const T* input, const T* weights, T* result, int threads) const;

 private:
  void multiply(const Invocation& invocation, const T* input, T* result, std::int64_t chunk, Range units) const;
  void write(const T* tile, const PixelBlock& block, std::int64_t first_channel, std::int64_t channels,
             T* result) const;

  const MatrixKernels<T>& kernels_;
  CorrelationSizes sizes_;
  WeightsPanels<T> panels_;
  CorrelationAxis y_, x_;
  std::int64_t taps_, depth_;
  PixelBlocks blocks_;
  InputPlanes planes_;
  std::vector<std::int32_t> pixel_offsets_, tap_offsets_;
  Slot<T> packed_weights_, plane_slot_, tile_slot_;
  Slot<const T*> column_slot_;
};

}  // namespace mpsgraph_native::cpu
