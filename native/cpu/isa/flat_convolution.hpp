#pragma once

#include <cstdint>

namespace mpsgraph_native::cpu {

/// Lines of several planes, copied between two layouts.
template <class T>
struct LineCopy {
  std::int64_t planes, lines, length;
  const T* from;
  std::int64_t from_plane, from_line;  // strides
  T* to;
  std::int64_t to_plane, to_line;
};

/// result[row][p] = sum over k of weights[row · weights_row + weights_offsets[k]] · source[source_offsets[k] + p], for
/// whole vectors of p.
template <class T>
struct LineCorrelation {
  std::int64_t rows, depth, vectors;
  const T* weights;
  std::int64_t weights_row;
  const std::int32_t* weights_offsets;
  const T* source;
  const std::int32_t* source_offsets;
  T* result;
  std::int64_t result_row;
};

/// result[row · result_row + column · result_column] = sum over images and p of
/// incoming[image][row][p] · source[image][source_offsets[column] + p], for whole vectors of p. One of the strides of
/// the result is 1.
template <class T>
struct LineProducts {
  std::int64_t rows, columns, images, vectors;
  const T* incoming;
  std::int64_t incoming_image, incoming_row;
  const T* source;
  std::int64_t source_image;
  const std::int32_t* source_offsets;
  T* result;
  std::int64_t result_row, result_column;
};

/// Convolutions of images that are one long line each, lanes running over neighbouring pixels.
template <class T>
struct FlatConvolutionKernels {
  int lanes;
  void (*copy_lines)(const LineCopy<T>& copy);
  void (*correlate)(const LineCorrelation<T>& correlation);
  /// Whether all sums are finite.
  bool (*multiply)(const LineProducts<T>& products);
};

}  // namespace mpsgraph_native::cpu
