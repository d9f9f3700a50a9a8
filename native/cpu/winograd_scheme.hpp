#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "cpu/convolution_correlation.hpp"
#include "cpu/dispatch.hpp"

namespace mpsgraph_native::cpu {

/// How Winograd's minimal filtering cuts one kind of convolution with 3 x 3 weights into tiles, and with which
/// transforms. Sides and steps are those of one axis; both axes are alike.
struct WinogradScheme {
  std::string_view name;
  std::int64_t input_side, input_step;  ///< pixels of one tile, and from one tile to the next
  std::int64_t results;                 ///< of one tile
  std::int64_t side;                    ///< points of one tile
  WinogradTransform transform_input, transform_weights;
  WinogradGather gather_results;
  WinogradTransform transform_gradient = nullptr;  ///< of the results, for the weights gradient
  WinogradGather gather_weights = nullptr;

  std::int64_t points() const { return side * side; }
  /// Points of a tile that one transformed weight meets.
  using Members = std::vector<std::int64_t>;
  std::array<Members, winograd_weights_points> members() const;
};

/// The axis of a correlation by a scheme. Tile t begins at position origin + t·step of the input, its results at the
/// position of the same number in the result.
struct WinogradAxis {
  enum class Kind { Plain, Strided, TwoTapsFirst, OneTapFirst };

  Kind kind;
  std::int64_t origin;
  CorrelationAxis weights;  ///< its three taps in the order that the transform takes them
};

/// None where no scheme fits the axes, which are all those of one direction.
std::optional<WinogradAxis> winograd_axis(const std::vector<CorrelationAxis>& axes);

WinogradScheme winograd_scheme(WinogradAxis::Kind kind);

}  // namespace mpsgraph_native::cpu
