#pragma once

#include "cpu/isa/indices.hpp"
#include "cpu/isa/vector.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

// Loads of one vector of neighbouring outputs from a row that a window slides over: lane i reads position + i * stride,
// and lanes outside the row read a given value instead of memory.

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

template <class T>
struct IndexOf {
  using type = std::int32_t;
};
template <>
struct IndexOf<double> {
  using type = std::int64_t;
};
/// The integer as wide as T, and the vector of them that comparisons of Vec<T> give.
template <class T>
using Index = typename IndexOf<T>::type;
template <class T>
using IndexVec = Vec<Index<T>>;

template <class T>
MPSGRAPH_INLINE IndexVec<T> lane_numbers() {
  IndexVec<T> v{};
  for (int i = 0; i < lanes<T>; ++i) v[i] = i;
  return v;
}

template <class T>
MPSGRAPH_INLINE Vec<T> select(IndexVec<T> mask, Vec<T> a, Vec<T> b) {
  return mask ? a : b;
}

/// The lanes [first, last) of a vector.
template <class T>
struct LaneRange {
#if defined(__AVX512F__)
  std::uint32_t mask;
#elif defined(__AVX2__)
  IndexVec<T> mask;
#else
  int first, last;
#endif

  LaneRange() = default;
  /// The lanes that fall into a row of `width` when lane 0 stands at `position`.
  MPSGRAPH_INLINE LaneRange(std::int64_t position, std::int64_t width) {
    constexpr std::int64_t L = lanes<T>;
    const std::int64_t before = -position, after = width - position;
    const int begin = static_cast<int>(before < 0 ? 0 : before > L ? L : before);
    const int end = static_cast<int>(after < 0 ? 0 : after > L ? L : after);
#if defined(__AVX512F__)
    mask = ((1u << end) - 1) & ~((1u << begin) - 1);
#elif defined(__AVX2__)
    const IndexVec<T> lane = lane_numbers<T>();
    mask = (lane >= static_cast<Index<T>>(begin)) & (lane < static_cast<Index<T>>(end));
#else
    first = begin;
    last = end;
#endif
  }
};

/// The lanes of the range from p + lane, the others from `outside`.
template <class T>
MPSGRAPH_INLINE Vec<T> load_range(const T* p, const LaneRange<T>& range, Vec<T> outside) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<Vec<T>>(
        _mm512_mask_loadu_ps(reinterpret_cast<__m512>(outside), static_cast<__mmask16>(range.mask), p));
  else
    return reinterpret_cast<Vec<T>>(
        _mm512_mask_loadu_pd(reinterpret_cast<__m512d>(outside), static_cast<__mmask8>(range.mask), p));
#elif defined(__AVX2__)
  const __m256i mask = reinterpret_cast<__m256i>(range.mask);
  if constexpr (sizeof(T) == 4)
    return select<T>(range.mask, reinterpret_cast<Vec<T>>(_mm256_maskload_ps(p, mask)), outside);
  else
    return select<T>(range.mask, reinterpret_cast<Vec<T>>(_mm256_maskload_pd(p, mask)), outside);
#else
  for (int i = range.first; i < range.last; ++i) outside[i] = p[i];
  return outside;
#endif
}

/// Stores the lanes of the range to p + lane.
template <class T>
MPSGRAPH_INLINE void store_range(T* p, const LaneRange<T>& range, Vec<T> v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>(range.mask), reinterpret_cast<__m512>(v));
  else
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>(range.mask), reinterpret_cast<__m512d>(v));
#elif defined(__AVX2__)
  const __m256i mask = reinterpret_cast<__m256i>(range.mask);
  if constexpr (sizeof(T) == 4)
    _mm256_maskstore_ps(p, mask, reinterpret_cast<__m256>(v));
  else
    _mm256_maskstore_pd(p, mask, reinterpret_cast<__m256d>(v));
#else
  for (int i = range.first; i < range.last; ++i) p[i] = v[i];
#endif
}

template <int Offset, class V, int... I>
MPSGRAPH_INLINE V every_second_lane(V a, V b, Indices<I...>) {
  return __builtin_shufflevector(a, b, (2 * I + Offset)...);
}
template <int Offset, class V, int... I>
MPSGRAPH_INLINE V interleaved_half(V a, V b, Indices<I...>) {
  constexpr int count = sizeof...(I);
  return __builtin_shufflevector(a, b, (Offset + I / 2 + (I % 2) * count)...);
}

/// Lanes 0, 2, 4, ... of the pair (a, b), and lanes 1, 3, 5, ...
template <class T>
MPSGRAPH_INLINE Vec<T> even_lanes(Vec<T> a, Vec<T> b) {
  return every_second_lane<0>(a, b, typename IndicesBelow<lanes<T>>::type());
}
template <class T>
MPSGRAPH_INLINE Vec<T> odd_lanes(Vec<T> a, Vec<T> b) {
  return every_second_lane<1>(a, b, typename IndicesBelow<lanes<T>>::type());
}
/// a0, b0, a1, b1, ...: the first vector of that sequence, and the second.
template <class T>
MPSGRAPH_INLINE Vec<T> interleave_low(Vec<T> a, Vec<T> b) {
  return interleaved_half<0>(a, b, typename IndicesBelow<lanes<T>>::type());
}
template <class T>
MPSGRAPH_INLINE Vec<T> interleave_high(Vec<T> a, Vec<T> b) {
  return interleaved_half<lanes<T> / 2>(a, b, typename IndicesBelow<lanes<T>>::type());
}

/// The loads of one block of outputs for every tap along the row. Stride 0 stands for a stride known at run time.
template <class T, int Stride>
class RowBlock {
 public:
  /// `position` is where lane 0 reads for tap 0; tap t reads t * tap_step further on. A block that is not `whole`
  /// never counts as inside.
  MPSGRAPH_INLINE RowBlock(std::int64_t width, std::int64_t position, std::int64_t taps, std::int64_t tap_step,
                           std::int64_t stride, bool whole = true)
      : width_(width), position_(position), tap_step_(tap_step), stride_(stride) {
    const std::int64_t shift = (taps - 1) * tap_step;
    const std::int64_t lowest = position + (shift < 0 ? shift : 0), highest = position + (shift > 0 ? shift : 0);
    inside_ = whole && Stride != 0 && lowest >= 0 && highest + span <= width;
    if (inside_ || Stride == 0) return;
    for (std::int64_t t = 0; t < taps && t < cached_taps; ++t)
      for (int part = 0; part < parts; ++part) ranges_[t][part] = range(t, part);
  }

  /// True when no load of the block leaves the row.
  MPSGRAPH_INLINE bool inside() const { return inside_; }

  template <bool Inside>
  MPSGRAPH_INLINE Vec<T> load_tap(const T* row, std::int64_t tap, Vec<T> outside) const {
    if constexpr (Stride == 1) {
      return part<Inside>(row, tap, 0, outside);
    } else if constexpr (Stride == 2) {
      return even_lanes<T>(part<Inside>(row, tap, 0, outside), part<Inside>(row, tap, 1, outside));
    } else {
      const std::int64_t first = position_ + tap * tap_step_;
      for (int i = 0; i < lanes<T>; ++i) {
        const std::int64_t at = first + i * stride_;
        if (at >= 0 && at < width_) outside[i] = row[at];
      }
      return outside;
    }
  }

  /// Tap `tap` and the one after it, for stride 2 and a tap step of 1: they share their loads.
  template <bool Inside>
  MPSGRAPH_INLINE void load_tap_pair(const T* row, std::int64_t tap, Vec<T> outside, Vec<T>& first,
                                     Vec<T>& second) const {
    const Vec<T> low = part<Inside>(row, tap, 0, outside), high = part<Inside>(row, tap, 1, outside);
    first = even_lanes<T>(low, high);
    second = odd_lanes<T>(low, high);
  }

 private:
  static constexpr int parts = Stride == 2 ? 2 : 1;
  static constexpr std::int64_t span = parts * lanes<T>;
  static constexpr std::int64_t cached_taps = 8;

  MPSGRAPH_INLINE LaneRange<T> range(std::int64_t tap, int part) const {
    return LaneRange<T>(position_ + tap * tap_step_ + part * lanes<T>, width_);
  }
  template <bool Inside>
  MPSGRAPH_INLINE Vec<T> part(const T* row, std::int64_t tap, int part, Vec<T> outside) const {
    const T* p = row + (position_ + tap * tap_step_ + part * lanes<T>);
    if constexpr (Inside) return load(p);
    return load_range<T>(p, tap < cached_taps ? ranges_[tap][part] : range(tap, part), outside);
  }

  std::int64_t width_, position_, tap_step_, stride_;
  bool inside_;
  LaneRange<T> ranges_[cached_taps][parts];
};

/// The loads of one block of outputs for `Taps` neighbouring taps and a stride of 1 or 2, which are known when
/// compiled: all taps of a row are loaded at once, and the lanes of each stay in registers.
template <class T, int Taps, int Stride>
class TapBlock {
 public:
  /// True when the loads of a block stay inside the row and all of its lanes count.
  static MPSGRAPH_INLINE bool inside(std::int64_t width, std::int64_t position, std::int64_t outputs) {
    return outputs >= lanes<T> && position >= 0 && position + Taps - 1 + span <= width;
  }

  TapBlock() = default;
  /// `position` is where lane 0 reads tap 0, `outputs` how many lanes count.
  MPSGRAPH_INLINE TapBlock(std::int64_t width, std::int64_t position, std::int64_t outputs) : used_(0, outputs) {
#pragma GCC unroll 8
    for (int t = 0; t < Taps; t += step)
#pragma GCC unroll 2
      for (int part = 0; part < Stride; ++part) {
        // A lane that does not count reads nothing either: an infinite source would make a NaN of its zero.
        const std::int64_t end = position + t + Stride * outputs, from = position + t + part * lanes<T>;
        ranges_[t / step][part] = LaneRange<T>(from, end < width ? end : width);
      }
  }

  /// `row` is where lane 0 reads tap 0.
  template <bool Inside>
  MPSGRAPH_INLINE void load(const T* row, Vec<T> outside, Vec<T> (&taps)[Taps]) const {
#pragma GCC unroll 8
    for (int t = 0; t < Taps; t += step) {
      if constexpr (Stride == 1) {
        taps[t] = part<Inside>(row, t, 0, outside);
      } else {
        const Vec<T> low = in_register(part<Inside>(row, t, 0, outside));
        const Vec<T> high = in_register(part<Inside>(row, t, 1, outside));
        taps[t] = even_lanes<T>(low, high);
        if (t + 1 < Taps) taps[t + 1] = odd_lanes<T>(low, high);
      }
    }
  }

  /// The lanes that count, of a row of outputs.
  template <bool Inside>
  MPSGRAPH_INLINE Vec<T> load_outputs(const T* p) const {
    if constexpr (Inside) return cpu::MPSGRAPH_ISA::load(p);
    return load_range<T>(p, used_, Vec<T>{});
  }
  template <bool Inside>
  MPSGRAPH_INLINE void store_outputs(T* p, Vec<T> v) const {
    if constexpr (Inside)
      store(p, v);
    else
      store_range<T>(p, used_, v);
  }

 private:
  static constexpr int step = Stride;  // taps t and t + 1 share their loads under stride 2
  static constexpr std::int64_t span = Stride * lanes<T>;

  template <bool Inside>
  MPSGRAPH_INLINE Vec<T> part(const T* row, int tap, int part, Vec<T> outside) const {
    const T* p = row + tap + part * lanes<T>;
    if constexpr (Inside) return cpu::MPSGRAPH_ISA::load(p);
    return load_range<T>(p, ranges_[tap / step][part], outside);
  }

  LaneRange<T> used_;
  LaneRange<T> ranges_[(Taps + step - 1) / step][Stride];
};

/// All blocks of a row of `outputs`, of which output 0 reads tap 0 at `position`. What makes the lanes of the last
/// block before those inside the row, and of the first one behind them, is computed once for all rows; others are rare.
template <class T, int Taps, int Stride>
class TapBlocks {
  using Block = TapBlock<T, Taps, Stride>;
  static constexpr std::int64_t L = lanes<T>;

 public:
  MPSGRAPH_INLINE TapBlocks(std::int64_t width, std::int64_t position, std::int64_t outputs)
      : width_(width), position_(position), outputs_(outputs), inside_(0) {
    while (inside_ < outputs && !is_inside(inside_)) inside_ += L;
    behind_ = inside_;
    while (behind_ < outputs && is_inside(behind_)) behind_ += L;
    if (inside_ > 0) before_block_ = block(inside_ - L);
    if (behind_ < outputs) behind_block_ = block(behind_);
  }

  /// body.template operator()<Inside>(block, begin, end): blocks inside the row come as one range.
  template <class Body>
  MPSGRAPH_INLINE void for_each(Body&& body) const {
    for (std::int64_t begin = 0; begin < outputs_;) {
      if (begin == inside_ && inside_ < behind_) {
        body.template operator()<true>(Block(), begin, behind_);
        begin = behind_;
        continue;
      }
      Block other;
      if (begin + L != inside_ && begin != behind_) other = block(begin);
      const Block& outside = begin + L == inside_ ? before_block_ : begin == behind_ ? behind_block_ : other;
      body.template operator()<false>(outside, begin, begin + L);
      begin += L;
    }
  }

 private:
  MPSGRAPH_INLINE bool is_inside(std::int64_t begin) const {
    return Block::inside(width_, position_ + begin * Stride, outputs_ - begin);
  }
  MPSGRAPH_INLINE Block block(std::int64_t begin) const {
    return Block(width_, position_ + begin * Stride, outputs_ - begin);
  }

  std::int64_t width_, position_, outputs_;
  std::int64_t inside_, behind_;  ///< the first block inside the row, and the first one behind those
  Block before_block_, behind_block_;
};

/// `values` may hold fewer lanes than a vector.
template <class T>
MPSGRAPH_INLINE void store_lanes(T* p, std::int64_t count, Vec<T> v) {
  if (count >= lanes<T>)
    store(p, v);
  else
    store_partial(p, static_cast<int>(count), v);
}
template <class T>
MPSGRAPH_INLINE Vec<T> load_lanes(const T* p, std::int64_t count) {
  return count >= lanes<T> ? load(p) : load_partial(p, static_cast<int>(count));
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
