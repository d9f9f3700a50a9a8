#include "cpu/isa/winograd.hpp"

#include "cpu/isa/families.hpp"
#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

// Interpolation at 0, ±a, ±b and infinity. The error of the usual a = 1, b = 2 is 4.5 times that of a plain sum; with
// these it is 2.0 times for results and 1.2 times for weights gradients, and all constants of the source's transform
// are exact.
constexpr double a = 0.75, b = 1.5, aa = a * a, bb = b * b;
// 1 / (product of a point's distances from the other finite points)
constexpr double scale_0 = 1 / (aa * bb), scale_a = 1 / (2 * aa * (aa - bb)), scale_b = 1 / (2 * bb * (bb - aa));

MPSGRAPH_INLINE Vec<float> constant(double value) { return broadcast(static_cast<float>(value)); }

// The same for two taps, at 0, ±a, b and infinity: the error of results is 1.3 times that of a plain sum.
constexpr double pair_0 = 1 / (aa * b), pair_a = 1 / (2 * aa * (a - b)), pair_minus_a = -1 / (2 * aa * (a + b)),
                 pair_b = 1 / (b * (bb - aa));

/// A transform along one axis: `in` values to `out` values.
struct SourceTransform {
  static constexpr int in = 6, out = 6;
  static MPSGRAPH_INLINE void apply(const Vec<float>* d, Vec<float>* o) {
    const Vec<float> even_a = d[4] - constant(bb) * d[2], odd_a = constant(a) * (d[3] - constant(bb) * d[1]);
    const Vec<float> even_b = d[4] - constant(aa) * d[2], odd_b = constant(b) * (d[3] - constant(aa) * d[1]);
    o[0] = constant(aa * bb) * d[0] + (d[4] - constant(aa + bb) * d[2]);
    o[1] = even_a + odd_a;
    o[2] = even_a - odd_a;
    o[3] = even_b + odd_b;
    o[4] = even_b - odd_b;
    o[5] = constant(aa * bb) * d[1] + (d[5] - constant(aa + bb) * d[3]);
  }
};

/// The values of the polynomial with these coefficients at the points, scaled.
struct WeightsTransform {
  static constexpr int in = 3, out = 6;
  static MPSGRAPH_INLINE void apply(const Vec<float>* w, Vec<float>* o) {
    const Vec<float> even_a = constant(scale_a) * w[0] + constant(scale_a * aa) * w[2];
    const Vec<float> even_b = constant(scale_b) * w[0] + constant(scale_b * bb) * w[2];
    o[0] = constant(scale_0) * w[0];
    o[1] = even_a + constant(scale_a * a) * w[1];
    o[2] = even_a - constant(scale_a * a) * w[1];
    o[3] = even_b + constant(scale_b * b) * w[1];
    o[4] = even_b - constant(scale_b * b) * w[1];
    o[5] = w[2];
  }
};

struct GradientTransform {
  static constexpr int in = 4, out = 6;
  static MPSGRAPH_INLINE void apply(const Vec<float>* g, Vec<float>* o) {
    const Vec<float> even_a = constant(scale_a) * g[0] + constant(scale_a * aa) * g[2];
    const Vec<float> odd_a = constant(scale_a * a) * g[1] + constant(scale_a * a * aa) * g[3];
    const Vec<float> even_b = constant(scale_b) * g[0] + constant(scale_b * bb) * g[2];
    const Vec<float> odd_b = constant(scale_b * b) * g[1] + constant(scale_b * b * bb) * g[3];
    o[0] = constant(scale_0) * g[0];
    o[1] = even_a + odd_a;
    o[2] = even_a - odd_a;
    o[3] = even_b + odd_b;
    o[4] = even_b - odd_b;
    o[5] = g[3];
  }
};

struct ResultsGather {
  static constexpr int in = 6, out = 4;
  static MPSGRAPH_INLINE void apply(const Vec<float>* p, Vec<float>* o) {
    const Vec<float> even_a = p[1] + p[2], odd_a = p[1] - p[2], even_b = p[3] + p[4], odd_b = p[3] - p[4];
    o[0] = p[0] + even_a + even_b;
    o[1] = constant(a) * odd_a + constant(b) * odd_b;
    o[2] = constant(aa) * even_a + constant(bb) * even_b;
    o[3] = constant(a * aa) * odd_a + constant(b * bb) * odd_b + p[5];
  }
};

struct WeightsGather {
  static constexpr int in = 6, out = 3;
  static MPSGRAPH_INLINE void apply(const Vec<float>* p, Vec<float>* o) {
    const Vec<float> even_a = p[1] + p[2], odd_a = p[1] - p[2], even_b = p[3] + p[4], odd_b = p[3] - p[4];
    o[0] = p[0] + even_a + even_b;
    o[1] = constant(a) * odd_a + constant(b) * odd_b;
    o[2] = constant(aa) * even_a + constant(bb) * even_b + p[5];
  }
};

/// Five positions that two taps meet, four times, to points.
MPSGRAPH_INLINE void transform_pairs(const Vec<float>* d, Vec<float>* o) {
  const Vec<float> odd = constant(a * b) * d[1];
  o[0] = constant(aa * b) * d[0] - constant(aa) * d[1] + (d[3] - constant(b) * d[2]);
  o[1] = constant(a - b) * d[2] - odd + d[3];
  o[2] = odd - constant(a + b) * d[2] + d[3];
  o[3] = d[3] - constant(aa) * d[1];
  o[4] = constant(aa * b) * d[1] - constant(aa) * d[2] + (d[4] - constant(b) * d[3]);
}

/// The values at the points of the polynomial with the coefficients c, not scaled.
template <int Count>
MPSGRAPH_INLINE void evaluate_pairs(const Vec<float>* c, Vec<float>* o) {
  Vec<float> even = c[0], odd = constant(a) * c[1], at_b = c[0] + constant(b) * c[1];
  if constexpr (Count == 4) {
    even += constant(aa) * c[2];
    odd += constant(a * aa) * c[3];
    at_b += constant(bb) * c[2] + constant(b * bb) * c[3];
  }
  o[0] = constant(pair_0) * c[0];
  o[1] = constant(pair_a) * (even + odd);
  o[2] = constant(pair_minus_a) * (even - odd);
  o[3] = constant(pair_b) * at_b;
  o[4] = c[Count - 1];
}

/// The transposed values: sums of the points' powers.
template <int Count>
MPSGRAPH_INLINE void gather_pairs(const Vec<float>* p, Vec<float>* o) {
  const Vec<float> even = p[1] + p[2], odd = p[1] - p[2];
  o[0] = p[0] + even + p[3];
  o[1] = constant(a) * odd + constant(b) * p[3];
  if constexpr (Count == 4) {
    o[2] = constant(aa) * even + constant(bb) * p[3];
    o[3] = constant(a * aa) * odd + constant(b * bb) * p[3];
  }
  o[Count - 1] += p[4];
}

struct StridedSourceTransform {
  static constexpr int in = 9, out = 9;
  static MPSGRAPH_INLINE void apply(const Vec<float>* d, Vec<float>* o) {
    const Vec<float> even[5] = {d[0], d[2], d[4], d[6], d[8]};
    transform_pairs(even, o);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) o[5 + i] = d[1 + 2 * i];
  }
};

struct StridedWeightsTransform {
  static constexpr int in = 3, out = 6;
  static MPSGRAPH_INLINE void apply(const Vec<float>* w, Vec<float>* o) {
    const Vec<float> pair[2] = {w[0], w[2]};
    evaluate_pairs<2>(pair, o);
    o[5] = w[1];
  }
};

struct StridedGradientTransform {
  static constexpr int in = 4, out = 9;
  static MPSGRAPH_INLINE void apply(const Vec<float>* g, Vec<float>* o) {
    evaluate_pairs<4>(g, o);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) o[5 + i] = g[i];
  }
};

struct StridedResultsGather {
  static constexpr int in = 9, out = 4;
  static MPSGRAPH_INLINE void apply(const Vec<float>* p, Vec<float>* o) {
    gather_pairs<4>(p, o);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) o[i] += p[5 + i];
  }
};

struct StridedWeightsGather {
  static constexpr int in = 6, out = 3;
  static MPSGRAPH_INLINE void apply(const Vec<float>* p, Vec<float>* o) {
    Vec<float> pair[2];
    gather_pairs<2>(p, pair);
    o[0] = pair[0];
    o[1] = p[5];
    o[2] = pair[1];
  }
};

/// `First`: the position where one tap meets the gradient comes before that where two do.
template <bool First>
struct TransposedInputTransform {
  static constexpr int in = 5, out = 9;
  static MPSGRAPH_INLINE void apply(const Vec<float>* d, Vec<float>* o) {
    transform_pairs(d, o);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) o[5 + i] = d[First ? i : i + 1];
  }
};

template <bool First>
struct TransposedResultsGather {
  static constexpr int in = 9, out = 8;
  static MPSGRAPH_INLINE void apply(const Vec<float>* p, Vec<float>* o) {
    Vec<float> pairs[4];
    gather_pairs<4>(p, pairs);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      o[2 * i + First] = pairs[i];
      o[2 * i + !First] = p[5 + i];
    }
  }
};

/// Applies F to the columns, then to the rows of a square whose element (i, j) read(i, j) gives.
template <class F, class Read, class Write>
MPSGRAPH_INLINE void transform_square(Read read, Write write) {
  Vec<float> half[F::out][F::in];
#pragma GCC unroll 9
  for (int j = 0; j < F::in; ++j) {
    Vec<float> column[F::in], transformed[F::out];
#pragma GCC unroll 9
    for (int i = 0; i < F::in; ++i) column[i] = read(i, j);
    F::apply(column, transformed);
#pragma GCC unroll 9
    for (int i = 0; i < F::out; ++i) half[i][j] = transformed[i];
  }
#pragma GCC unroll 9
  for (int i = 0; i < F::out; ++i) {
    Vec<float> row[F::out];
    F::apply(half[i], row);
#pragma GCC unroll 9
    for (int j = 0; j < F::out; ++j) write(i, j, row[j]);
  }
}

template <class F>
void transform(const WinogradRun& run, const float* pixels, float* points) {
  for (std::int64_t tile = 0; tile < run.tiles; ++tile)
    transform_square<F>(
        [&](int i, int j) __attribute__((always_inline)) {
          return load(pixels + tile * run.tile_step + i * run.row_step + j * run.column_step);
        },
        [&](int i, int j, Vec<float> value) __attribute__((always_inline)) {
          store(points + tile * run.point_tile_step + (i * F::out + j) * run.point_step, value);
        });
}

template <class F>
bool gather(const WinogradRun& run, const float* points, float* pixels) {
  // Becomes NaN with the first value that is not finite.
  Vec<float> sentinel{};
  for (std::int64_t tile = 0; tile < run.tiles; ++tile)
    transform_square<F>(
        [&](int i, int j) __attribute__((always_inline)) {
          return load(points + tile * run.point_tile_step + (i * F::in + j) * run.point_step);
        },
        [&](int i, int j, Vec<float> value) __attribute__((always_inline)) {
          store(pixels + tile * run.tile_step + i * run.row_step + j * run.column_step, value);
          sentinel = multiply_add(value, Vec<float>{}, sentinel);
        });
  return horizontal_sum<float>(sentinel) == 0.0f;
}

}  // namespace

WinogradKernels winograd_kernels() {
  return {{transform<SourceTransform>, transform<GradientTransform>, transform<WeightsTransform>, gather<ResultsGather>,
           gather<WeightsGather>},
          {transform<StridedSourceTransform>, transform<StridedGradientTransform>, transform<StridedWeightsTransform>,
           gather<StridedResultsGather>, gather<StridedWeightsGather>},
          {transform<TransposedInputTransform<false>>, gather<TransposedResultsGather<false>>},
          {transform<TransposedInputTransform<true>>, gather<TransposedResultsGather<true>>}};
}

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
