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
};

/// Weights gradient of one plane.
template <class T>
struct PlaneWeightsGradient {
  TapPhase y, x;  ///< the forward ones
  const T* source;
  std::int64_t source_rows, source_columns;
  const T* gradient;
  const T* zeros;   ///< source_columns of them
  T* accumulators;  ///< one vector per tap, added to
};

/// Runs of pixels with contiguous channels which share their list of taps.
template <class T>
struct PixelTaps {
  std::int64_t pixels, channels;
  std::int64_t taps;
  const std::int64_t* source_offsets;   ///< from the source of the pixel, one per tap
  const std::int64_t* weights_offsets;  ///< one per tap
  const T* source;
  std::int64_t source_step;  ///< from one pixel to the next
};

template <class T>
struct DepthwiseConvolutionKernels {
  int lanes;
  void (*correlate_plane)(const PlaneCorrelation<T>& correlation);
  void (*weights_gradient_plane)(const PlaneWeightsGradient<T>& plane);
  /// destination[i] = sum of the lanes of accumulator i.
  void (*sum_accumulators)(const T* accumulators, std::int64_t count, T* destination);

  /// output[pixel][channel] = sum over taps of source · weights.
  void (*correlate_pixels)(const PixelTaps<T>& taps, const T* weights, T* output, std::int64_t output_step);
  /// accumulators[tap][channel] += sum over pixels of source · gradient.
  void (*weights_gradient_pixels)(const PixelTaps<T>& taps, const T* gradient, std::int64_t gradient_step,
                                  T* accumulators);
};

}  // namespace mpsgraph_native::cpu
