#pragma once

#include <cstdint>

namespace mpsgraph_native::cpu {

/// Winograd's minimal filtering F(4 x 4, 3 x 3): a tile of 6 x 6 source pixels and its 4 x 4 results meet in 36
/// products instead of 144 (Lavin and Gray, 2016).
inline constexpr int winograd_results = 4, winograd_side = 6, winograd_points = winograd_side * winograd_side;

/// Tiles side by side, each a square of pixels with one vector of channels per pixel, and their transforms.
struct WinogradRun {
  std::int64_t tiles;
  std::int64_t row_step, column_step, tile_step;  ///< of the pixels, in elements; tile_step to the next tile's first
  std::int64_t point_step, point_tile_step;       ///< from point to point of a tile, and from tile to tile
};

/// The transforms, named by what they read or write as pixels. All take one vector of channels; float32 alone, for
/// other types are not after speed.
struct WinogradKernels {
  /// 6 x 6 source pixels to points.
  void (*transform_source)(const WinogradRun& run, const float* pixels, float* points);
  /// 4 x 4 pixels of the incoming gradient to points, for the weights gradient.
  void (*transform_gradient)(const WinogradRun& run, const float* pixels, float* points);
  /// 3 x 3 weights to points.
  void (*transform_weights)(const WinogradRun& run, const float* weights, float* points);
  /// Sums of products to 4 x 4 results. False where a result is not finite.
  bool (*gather_results)(const WinogradRun& run, const float* points, float* pixels);
  /// Sums of products to the gradient of 3 x 3 weights. False where one is not finite.
  bool (*gather_weights)(const WinogradRun& run, const float* points, float* weights);
};

}  // namespace mpsgraph_native::cpu
