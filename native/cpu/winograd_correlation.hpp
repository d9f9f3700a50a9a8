#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cpu/convolution_correlation.hpp"
#include "cpu/winograd_scheme.hpp"
#include "cpu/winograd_tiles.hpp"

namespace mpsgraph_native::cpu {

/// A correlation with 3 x 3 taps by Winograd's minimal filtering: per point of the transform, one matrix product of
/// the transformed weights and the transformed tiles of the input.
class WinogradCorrelation {
 public:
  /// For axes of the scheme's kind.
  WinogradCorrelation(const CorrelationSizes& sizes, const WinogradScheme& scheme, const WinogradAxis& y,
                      const WinogradAxis& x, ScratchLayout& shared_scratch, ScratchLayout& thread_scratch);

  std::string_view name() const { return scheme_.name; }
  /// False where a result is not finite. Then the results are not those of a correlation: the transforms mix a tile's
  /// pixels, so that an infinity becomes NaN and spreads, and they can overflow on their own.
  bool run(const Invocation& invocation, const float* input, const float* weights, float* result, int threads) const;

 private:
  /// Panels of one block.
  struct Unit {
    std::int64_t group;
    PixelBlock block;
    Range panels;
  };

  void transform_weights(const Invocation& invocation, const float* weights, int threads) const;
  void transform_input(const Invocation& invocation, std::int64_t chunk, const float* input, const Unit& unit) const;
  void multiply(const Invocation& invocation, std::int64_t chunk, const Unit& unit) const;
  bool write(const Invocation& invocation, std::int64_t chunk, const Unit& unit, std::int64_t panel,
             float* result) const;

  const MatrixKernels<float>& kernels_;
  WinogradScheme scheme_;
  std::array<WinogradScheme::Members, winograd_weights_points> members_;
  CorrelationSizes sizes_;
  WeightsPanels<float> panels_;
  PixelBlocks blocks_;
  WinogradTiles tiles_;
  std::vector<std::int32_t> channel_offsets_;
  std::int64_t weights_point_ = 0, input_point_ = 0, product_point_ = 0;  ///< from one point to the next
  std::int64_t product_panel_ = 0;
  Slot<float> weights_slot_, packed_slot_, strip_slot_, input_slot_, product_slot_, result_slot_;
  Slot<const float*> column_slot_;
};

}  // namespace mpsgraph_native::cpu
