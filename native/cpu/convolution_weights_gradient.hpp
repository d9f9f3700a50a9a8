#pragma once

#include <cstdint>
#include <vector>

#include "cpu/convolution_planes.hpp"
#include "cpu/kernel.hpp"
#include "cpu/panels.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {

struct WeightsGradientSizes {
  std::int64_t batch = 0, groups = 1;
  std::int64_t input_channels = 0, output_channels = 0;  ///< of one group
  ImageTensor source, incoming;
  CorrelationAxis y, x;
  bool output_last = false;  ///< HWIO
};

/// The weights gradient as a matrix product over pixels: panels of the incoming gradient's channels against columns
/// that are (channel, tap) pairs, sliding over the planes of the source.
template <class T>
class WeightsGradient {
 public:
  WeightsGradient(const WeightsGradientSizes& sizes, ScratchLayout& shared_scratch, ScratchLayout& thread_scratch);

  void run(const Invocation& invocation, const T* incoming, const T* source, T* result, int threads) const;

 private:
  /// A part of the accumulators of one group.
  struct Part {
    std::int64_t group;
    Range panels, channels;
  };

  std::int64_t panels() const { return (sizes_.output_channels + panel_.width - 1) / panel_.width; }
  std::int64_t columns() const { return sizes_.input_channels * taps_; }
  std::int64_t group_elements() const { return panels() * columns() * panel_.width; }
  std::int64_t panel_rows(std::int64_t panel) const;
  T* totals(const Invocation& invocation, std::int64_t chunk) const;
  T* sections(const Invocation& invocation, std::int64_t chunk) const;

  void accumulate(const Invocation& invocation, std::int64_t chunk, const T* incoming, const T* source,
                  const Part& part, Range blocks, T* totals, T* sections) const;
  void accumulate_block(const Invocation& invocation, std::int64_t chunk, const T* incoming, const T* source,
                        const Part& part, const PixelBlock& block, const PixelBlock& next, bool accumulate,
                        T* accumulators) const;
  /// The memory that `pack_incoming` reads. Empty where only parts of rows count.
  MemoryRuns incoming_panel(const T* incoming, std::int64_t group, std::int64_t panel, const PixelBlock& block) const;
  void pack_incoming(const T* incoming, std::int64_t group, std::int64_t panel, const PixelBlock& block,
                     T* packed) const;
  void split_pixels(const Invocation& invocation, const T* incoming, const T* source, std::int64_t chunks) const;
  void split_weights(const Invocation& invocation, const T* incoming, const T* source, std::int64_t threads) const;
  void write(const Invocation& invocation, std::int64_t copies, Range columns, T* result) const;

  const MatrixKernels<T>& kernels_;
  const PanelKernels<T>& panel_;
  WeightsGradientSizes sizes_;
  std::int64_t taps_;
  PixelBlocks blocks_;
  InputPlanes planes_;
  std::vector<std::int32_t> pixel_offsets_, tap_offsets_;
  std::int64_t panels_at_once_ = 1;
  bool totals_per_thread_ = false;
  Slot<T> totals_, sections_, incoming_slot_, plane_slot_;
  Slot<const T*> column_slot_;
};

}  // namespace mpsgraph_native::cpu
