#pragma once

#include <cstdint>

namespace mpsgraph_native::cpu {

/// Winograd's minimal filtering F(4 x 4, 3 x 3): a tile of 6 x 6 source pixels and its 4 x 4 results meet in 36
/// products instead of 144 (Lavin and Gray, 2016). With stride 2, taps 0 and 2 of an axis meet even positions of the
/// source and tap 1 odd ones. The former are a filter F(4, 2) with 5 products instead of 8, the latter stay 4 plain
/// products, with one weight: 81 products of 36 transformed weights instead of 144.
inline constexpr int winograd_weights_side = 6, winograd_weights_points = winograd_weights_side * winograd_weights_side;

/// Tiles side by side, each a square of pixels with one vector of channels per pixel, and their transforms.
struct WinogradRun {
  std::int64_t tiles;
  std::int64_t row_step, column_step, tile_step;  ///< of the pixels, in elements; tile_step to the next tile's first
  std::int64_t point_step, point_tile_step;       ///< from point to point of a tile, and from tile to tile
};

/// Pixels, or weights, to points.
using WinogradTransform = void (*)(const WinogradRun& run, const float* pixels, float* points);
/// Sums of products to pixels, or to the gradient of weights. False where one is not finite.
using WinogradGather = bool (*)(const WinogradRun& run, const float* points, float* pixels);

/// The transforms of a convolution with 3 x 3 weights, by the sides of their squares.
struct WinogradFilter {
  WinogradTransform transform_source;    ///< 6 to 6; stride 2: 9 to 9
  WinogradTransform transform_gradient;  ///< 4 to 6; 4 to 9: the incoming gradient, for the weights gradient
  WinogradTransform transform_weights;   ///< 3 to 6
  WinogradGather gather_results;         ///< 6 to 4; 9 to 4
  WinogradGather gather_weights;         ///< 6 to 3
};

/// Those of the data gradient with stride 2, which beside the filter's weights has 5 x 5 pixels of the incoming
/// gradient and 8 x 8 results: at every second position of an axis two taps meet, at the others one.
struct WinogradTransposedFilter {
  WinogradTransform transform_input;  ///< 5 to 9
  WinogradGather gather_results;      ///< 9 to 8
};

/// All take one vector of channels; float32 alone, for other types are not after speed.
struct WinogradKernels {
  WinogradFilter plain, strided;
  WinogradTransposedFilter two_taps_first, one_tap_first;
};

}  // namespace mpsgraph_native::cpu
