#pragma once

#include <cstdint>
#include <vector>

#include "cpu/convolution_weights_gradient.hpp"
#include "cpu/winograd_scheme.hpp"
#include "cpu/winograd_tiles.hpp"

namespace mpsgraph_native::cpu {

/// The weights gradient of 3 x 3 kernels by Winograd's minimal filtering: per point of the transform, one matrix
/// product over tiles of the transformed incoming gradient and the transformed source.
class WinogradWeightsGradient {
 public:
  /// For axes of the scheme's kind.
  WinogradWeightsGradient(const WeightsGradientSizes& sizes, const WinogradScheme& scheme,
                          ScratchLayout& shared_scratch, ScratchLayout& thread_scratch);

  std::string_view name() const { return scheme_.name; }

  /// False where a result is not finite. Then the results are not those of the sum: see WinogradCorrelation::run.
  bool run(const Invocation& invocation, const float* incoming, const float* source, float* result, int threads) const;

 private:
  std::int64_t panels() const { return (sizes_.output_channels + panel_.width - 1) / panel_.width; }
  std::int64_t panel_rows(std::int64_t panel) const;
  std::int64_t source_vectors() const;
  std::int64_t gradient_vectors() const;
  float* area(const Invocation& invocation, std::int64_t chunk, Slot<float> slot) const;

  void transform(const Invocation& invocation, std::int64_t chunk, const float* incoming, const float* source,
                 std::int64_t group, const PixelBlock& block, Range vectors) const;
  void multiply(const Invocation& invocation, std::int64_t chunk, std::int64_t group, const PixelBlock& block,
                Range products, bool accumulate) const;
  void split_blocks(const Invocation& invocation, const float* incoming, const float* source,
                    std::int64_t chunks) const;
  void split_products(const Invocation& invocation, const float* incoming, const float* source, int threads) const;
  bool write(const Invocation& invocation, std::int64_t chunk, std::int64_t copies, Range items, float* result) const;

  const MatrixKernels<float>& kernels_;
  WinogradScheme scheme_;
  std::array<WinogradScheme::Members, winograd_weights_points> members_;
  const PanelKernels<float>& panel_;
  WeightsGradientSizes sizes_;
  bool sums_per_thread_ = false;  ///< threads split the blocks, else the products of one block at a time
  PixelBlocks blocks_;
  WinogradTiles source_tiles_, gradient_tiles_;
  std::vector<std::int32_t> tile_offsets_;
  std::int64_t source_point_ = 0, gradient_point_ = 0, sum_point_ = 0;  ///< from one point to the next
  Slot<float> sum_slot_, source_slot_, gradient_slot_, strip_slot_, weights_slot_;
  Slot<const float*> column_slot_;
};

}  // namespace mpsgraph_native::cpu
