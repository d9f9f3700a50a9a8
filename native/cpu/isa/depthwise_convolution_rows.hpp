#pragma once

#include "cpu/isa/depthwise_convolution.hpp"
#include "cpu/isa/fetch_ahead.hpp"
#include "cpu/isa/row_window.hpp"

// Several rows of outputs by one vector of columns: each source vector is loaded once for all rows that it reaches, and
// the weights of one tap along the row stay in registers meanwhile. With a vector per row and 9 weights 8 rows took
// 0.65 of the time of 4 rows that load the taps for every row.

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

/// The loads of a block of outputs at one tap along the row; with a stride of 2 at that tap and the next, which share
/// them. Lanes at or behind `end`, and before position 0, come out as zero; a block inside has none.
template <bool Inside, int Stride, class T>
class TapLoads {
 public:
  MPSGRAPH_INLINE TapLoads([[maybe_unused]] std::int64_t position, [[maybe_unused]] std::int64_t end) {
    if constexpr (!Inside)
#pragma GCC unroll 2
      for (int part = 0; part < Stride; ++part) ranges_[part] = LaneRange<T>(position + part * lanes<T>, end);
  }

  MPSGRAPH_INLINE void load(const T* p, Vec<T> (&values)[Stride]) const {
    if constexpr (Stride == 1) {
      values[0] = in_register(part(p, 0));
    } else {
      const Vec<T> low = part(p, 0), high = part(p + lanes<T>, 1);
      values[0] = even_lanes<T>(low, high);
      values[1] = odd_lanes<T>(low, high);
    }
  }

 private:
  MPSGRAPH_INLINE Vec<T> part(const T* p, [[maybe_unused]] int part) const {
    if constexpr (Inside)
      return cpu::MPSGRAPH_ISA::load(p);
    else
      return load_range<T>(p, ranges_[part], Vec<T>{});
  }

  LaneRange<T> ranges_[Inside ? 1 : Stride];
};

/// The most taps along a row that a strip takes.
constexpr std::int64_t strip_taps = 16;

/// Correlates `Rows` rows of outputs, `Step` source rows apart, with `Taps` neighbouring kernel rows. Along the row
/// there is one phase of outputs, `Stride` apart, or the two phases of a data gradient with stride 2, whose outputs
/// alternate and share the loads of source positions.
template <int Rows, int Taps, int Step, int Stride, int Phases, class T>
class Strip {
 public:
  /// `y` is one of the correlation's; source and weights are those of the plane, whose sums are added to what the
  /// output holds where `accumulate` says so.
  Strip(const PlaneCorrelation<T>& p, const TapPhase& y, std::int64_t plane)
      : p_(p), y_(y), source_(p.source + plane * p.source_plane_stride), accumulate_(plane > 0) {
    first_source_ = p.x[0].first_source;
    if (Phases == 2 && p.x[1].first_source < first_source_) first_source_ = p.x[1].first_source;
    for (int phase = 0; phase < Phases; ++phase) {
      const TapPhase& x = p.x[phase];
      const std::int64_t first = x.first_source - first_source_;
      const T* weights = p.weights + plane * p.weights_plane_stride;
      for (std::int64_t tx = 0; tx < x.taps; ++tx) {
        reached_[first + tx][phase] = true;
        for (std::int64_t ty = 0; ty < Taps; ++ty)
          weights_[first + tx][phase][ty] = weights[(y.first_weight + ty * y.weight_step) * p.weights_row_stride +
                                                    (x.first_weight + tx * x.weight_step) * p.weights_column_stride];
      }
      if (first + x.taps > taps_) taps_ = first + x.taps;
    }
  }

  /// The rows from row q of the phase on, as far as there are any.
  MPSGRAPH_INLINE void rows(std::int64_t q) const {
    const std::int64_t first = y_.first_source + q * Step, row_step = y_.output_step * p_.output_columns;
    const bool rows_inside = first >= 0 && first + source_rows <= p_.source_rows && q + Rows <= y_.outputs;
    // The groups of two phases share rows of memory: each asks for a part of them.
    FetchAhead<true> ahead(source_ + first * p_.source_columns,
                           p_.output + (q * y_.output_step + y_.first_output * Rows) * p_.output_columns);
    Block block{source_ + first * p_.source_columns + first_source_,
                p_.source_columns,
                -first,
                p_.source_rows - first,
                first_source_,
                Phases == 1 && p_.x->taps > 1 ? p_.x->tap_step : 1,
                taps_,
                p_.output + y_.first_output * p_.output_columns + q * row_step,
                row_step,
                y_.outputs - q,
                p_.output_columns,
                accumulate_};
    const std::int64_t last = (taps_ - 1) * block.tap_step + Stride * lanes<T>;
    for (std::int64_t columns = p_.x->outputs; columns > 0; columns -= lanes<T>) {
      if (rows_inside && block.position >= 0 && block.position + last <= block.source_columns)
        sum<true>(block);
      else
        sum<false>(block);
      if (p_.fetch_ahead) ahead.step<Rows * Step * Stride, Rows * Phases>();
      block.source += Stride * lanes<T>;
      block.position += Stride * lanes<T>;
      block.output += Phases * lanes<T>;
      block.left -= Phases * lanes<T>;
    }
  }

 private:
  static constexpr int source_rows = (Rows - 1) * Step + Taps;

  /// A vector of columns of the rows. Passed by value: what is stored could change it otherwise.
  struct Block {
    const T* source;  ///< where row 0, lane 0 reads tap 0
    std::int64_t source_columns;
    std::int64_t begin, end;  ///< of the source rows inside the plane, counted from row 0
    std::int64_t position, tap_step, taps;
    T* output;
    std::int64_t row_step, rows, left;  ///< of the outputs: from row to row, how many rows, columns of each
    bool accumulate;
  };

  template <bool Inside>
  MPSGRAPH_INLINE void sum(const Block block) const {
    Vec<T> sum[Phases][Rows] = {};
    for (std::int64_t tap = 0; tap < block.taps; tap += Stride) {
      // A weight of zero instead of a missing tap would make a NaN of an infinite source.
      if constexpr (Phases * Stride == 1) {
        add_tap<Inside, true, false>(block, tap, sum);
      } else {
        const bool* reached = reached_[tap];
        if (Stride == 2 ? tap + 1 < block.taps : reached[0] && reached[Phases - 1])
          add_tap<Inside, true, true>(block, tap, sum);
        else if (Stride == 2 || reached[0])
          add_tap<Inside, true, false>(block, tap, sum);
        else if constexpr (Stride == 1)
          add_tap<Inside, false, true>(block, tap, sum);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      if (!Inside && i >= block.rows) break;
      T* to = block.output + i * block.row_step;
      if constexpr (Phases == 1) {
        store(to, block.left, sum[0][i], block.accumulate);
      } else {
        // The first phase has at least as many outputs as the second; a lane beyond the second's end is not stored.
        store(to, block.left, interleave_low<T>(sum[0][i], sum[1][i]), block.accumulate);
        store(to + lanes<T>, block.left - lanes<T>, interleave_high<T>(sum[0][i], sum[1][i]), block.accumulate);
      }
    }
  }

  /// One tap; with a stride of 2 it and the next, with two phases that of one of them or both.
  template <bool Inside, bool One, bool Other>
  MPSGRAPH_INLINE void add_tap(const Block& block, std::int64_t tap, Vec<T> (&sum)[Phases][Rows]) const {
    Vec<T> one[Taps], other[Taps];
#pragma GCC unroll 8
    for (int t = 0; t < Taps; ++t) {
      if (One) one[t] = broadcast(weights_[tap][0][t]);
      if (Other) other[t] = broadcast(weights_[tap + Stride - 1][Phases - 1][t]);
    }
    const TapLoads<Inside, Stride, T> loads(block.position + tap * block.tap_step, block.source_columns);
    const T* source = block.source + tap * block.tap_step;
#pragma GCC unroll 16
    for (int r = 0; r < source_rows; ++r, source += block.source_columns) {
      if (!Inside && (r < block.begin || r >= block.end)) continue;
      Vec<T> values[Stride];
      loads.load(source, values);
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        const int t = r - i * Step;
        if (t < 0 || t >= Taps) continue;
        if (One) sum[0][i] = multiply_add(values[0], one[t], sum[0][i]);
        if (Other) sum[Phases - 1][i] = multiply_add(values[Stride - 1], other[t], sum[Phases - 1][i]);
      }
    }
  }

  static MPSGRAPH_INLINE void store(T* to, std::int64_t left, Vec<T> sum, bool accumulate) {
    if (left >= lanes<T>) {
      if (accumulate) sum += load(to);
      cpu::MPSGRAPH_ISA::store(to, sum);
      return;
    }
    const LaneRange<T> used(0, left);
    if (accumulate) sum += load_range<T>(to, used, Vec<T>{});
    store_range<T>(to, used, sum);
  }

  const PlaneCorrelation<T>& p_;
  const TapPhase& y_;
  const T* source_;
  bool accumulate_;
  std::int64_t first_source_, taps_ = 0;
  T weights_[strip_taps][Phases][Taps];
  bool reached_[strip_taps][Phases] = {};
};

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
