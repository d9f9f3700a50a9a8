#pragma once

#include <cstdint>

namespace mpsgraph_native::cpu {

/// How the outputs of one residue class along an axis read their taps: output first_output + q·output_step takes as its
/// t-th tap source position first_source + q·source_step + t·tap_step with weight first_weight + t·weight_step.
/// A correlation has one such phase, its data gradient one for every residue modulo the stride.
struct TapPhase {
  std::int64_t outputs;
  std::int64_t first_output, output_step;
  std::int64_t first_source, source_step;
  std::int64_t taps, tap_step;
  std::int64_t first_weight, weight_step;
};

/// Planes of contiguous rows: output plane = sum over `planes` of source plane correlated with its weights.
template <class T>
struct PlaneCorrelation {
  const TapPhase* y;
  std::int64_t y_phases;
  const TapPhase* x;
  std::int64_t x_phases;
  std::int64_t planes;
  const T* source;
  std::int64_t source_plane_stride, source_rows, source_columns;
  const T* weights;
  std::int64_t weights_plane_stride, weights_row_stride, weights_column_stride;
  const T* zeros;  ///< source_columns of them
  T* output;
  std::int64_t output_columns;
  bool fetch_ahead;  ///< the operands are no longer in the caches
};

/// Weights gradient of one plane.
template <class T>
struct PlaneWeightsGradient {
  TapPhase y, x;  ///< the forward ones
  const T* source;
  std::int64_t source_rows, source_columns;
  const T* gradient;
  const T* zeros;    ///< source_columns of them
  T* accumulators;   ///< one vector per tap, added to
  bool fetch_ahead;  ///< the operands are no longer in the caches
};

/// The taps along a row that one output pixel has inside the image: where the first one's source and weights stand.
struct PixelColumn {
  std::int64_t source, weights, taps;
};

/// Rows of output pixels with contiguous channels. Tap t of output row i reads source row i * step + t, counted from
/// `source`. Source rows outside [begin, end) are outside the image.
template <class T>
struct PixelRows {
  std::int64_t rows, taps, step;  ///< more than one row only with a step of 1 or 2
  const T* source;
  std::int64_t source_row_stride, begin, end;
  const PixelColumn* columns;  ///< one for each pixel of a row
  std::int64_t pixels, channels;
  std::int64_t tap_source_stride, tap_weights_stride;  ///< from one tap along the row to the next
  std::int64_t weights_row_stride;                     ///< from one tap to the next source row's
  std::int64_t row_stride;                             ///< of the outputs, or of the incoming gradient
};

/// The most rows of pixels that profit from being given at once, for a step of 1 or 2.
constexpr std::int64_t pixel_row_group(std::int64_t step) { return 8 / step; }

template <class T>
struct DepthwiseConvolutionKernels {
  int lanes;
  void (*correlate_plane)(const PlaneCorrelation<T>& correlation);
  void (*weights_gradient_plane)(const PlaneWeightsGradient<T>& plane);
  /// destination[i] = sum of the lanes of accumulator i.
  void (*sum_accumulators)(const T* accumulators, std::int64_t count, T* destination);

  /// The channels of `weights`, and of the accumulators below, come in whole vectors.
  void (*correlate_pixels)(const PixelRows<T>& rows, const T* weights, T* output);
  /// accumulators[tap][channel] += sum over pixels of source * gradient.
  void (*weights_gradient_pixels)(const PixelRows<T>& rows, const T* gradient, T* accumulators);
};

}  // namespace mpsgraph_native::cpu
