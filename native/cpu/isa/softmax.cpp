#include "cpu/isa/softmax.hpp"

#include "cpu/isa/families.hpp"
#include "cpu/isa/lanes.hpp"
#include "cpu/isa/logarithm.hpp"
#include "cpu/isa/math.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

// Every operation below is written once, over "the vectors of a line": along one contiguous line, where a sum ends with
// a fold over the lanes, or across lines that lie side by side, where each lane is a line of its own.

template <class T>
struct AlongLine {
  std::int64_t length;

  template <class Body>
  MPSGRAPH_INLINE void for_each(Body body) const {
    for_each_vector<T>(length, body);
  }
  MPSGRAPH_INLINE Vec<T> sum(Vec<T> v) const { return broadcast<T>(horizontal_sum<T>(v)); }
  MPSGRAPH_INLINE Vec<T> largest(Vec<T> v) const {
    T parts[lanes<T>];
    store<T>(parts, v);
    for (int width = lanes<T> / 2; width > 0; width /= 2)
      for (int i = 0; i < width; ++i) parts[i] = parts[i] > parts[i + width] ? parts[i] : parts[i + width];
    return broadcast<T>(parts[0]);
  }
  MPSGRAPH_INLINE Vec<T> load_value(const T* values) const { return broadcast<T>(*values); }
  MPSGRAPH_INLINE void store_value(T* values, Vec<T> v) const { *values = v[0]; }
};

template <class T, class Lanes>
struct AcrossLines {
  std::int64_t length, stride;
  Lanes tag;

  template <class Body>
  MPSGRAPH_INLINE void for_each(Body body) const {
    for (std::int64_t r = 0; r < length; ++r) body(r * stride, tag);
  }
  MPSGRAPH_INLINE Vec<T> sum(Vec<T> v) const { return v; }
  MPSGRAPH_INLINE Vec<T> largest(Vec<T> v) const { return v; }
  MPSGRAPH_INLINE Vec<T> load_value(const T* values) const { return load<T>(values, tag, Vec<T>{}); }
  MPSGRAPH_INLINE void store_value(T* values, Vec<T> v) const { store<T>(values, tag, v); }
};

/// body(vectors of a line, offset of its first element, index of the line).
template <class T, class Body>
MPSGRAPH_INLINE void for_each_line(const Lines& lines, Body body) {
  if (lines.stride == 1) {
    for (std::int64_t k = 0; k < lines.count; ++k) body(AlongLine<T>{lines.length}, k * lines.length, k);
  } else {
    for_each_vector<T>(lines.count, [&](std::int64_t c, auto tag) {
      body(AcrossLines<T, decltype(tag)>{lines.length, lines.stride, tag}, c, c);
    });
  }
}

/// A sum whose error does not grow with the length of the line: partial sums of a bounded number of terms.
template <class T>
class BlockedSum {
 public:
  MPSGRAPH_INLINE void add(Vec<T> v) {
    partial_ += v;
    if (++terms_ == 128) {
      total_ += partial_;
      partial_ = Vec<T>{};
      terms_ = 0;
    }
  }
  MPSGRAPH_INLINE Vec<T> value() const { return total_ + partial_; }

 private:
  Vec<T> total_{}, partial_{};
  int terms_ = 0;
};

template <class T>
constexpr T infinity = T(__builtin_inf());

/// The largest number of the line; lanes that do not count read as -infinity, whose exponential is 0.
template <class T, class Line>
MPSGRAPH_INLINE Vec<T> line_maximum(const Line& line, const T* source) {
  Vec<T> largest = broadcast<T>(-infinity<T>);
  line.for_each([&](std::int64_t i, auto tag) {
    const Vec<T> x = load<T>(source + i, tag, broadcast<T>(-infinity<T>));
    largest = x > largest ? x : largest;
  });
  return line.largest(largest);
}

/// Writes exp(source - largest) to result and gives its sum.
template <class T, class Line>
MPSGRAPH_INLINE Vec<T> store_exponentials(const Line& line, const T* source, Vec<T> largest, T* result) {
  BlockedSum<T> sum;
  line.for_each([&](std::int64_t i, auto tag) {
    const Vec<T> e = exponential<T>(load<T>(source + i, tag, broadcast<T>(-infinity<T>)) - largest);
    store<T>(result + i, tag, e);
    sum.add(e);
  });
  return line.sum(sum.value());
}

template <class T>
void softmax(const Lines& lines, const T* all_source, T* all_result) {
  for_each_line<T>(lines, [&](auto line, std::int64_t offset, std::int64_t) {
    const T* source = all_source + offset;
    T* result = all_result + offset;
    const Vec<T> scale = T(1) / store_exponentials<T>(line, source, line_maximum<T>(line, source), result);
    line.for_each(
        [&](std::int64_t i, auto tag) { store<T>(result + i, tag, load<T>(result + i, tag, Vec<T>{}) * scale); });
  });
}

template <class T>
void softmax_gradient(const Lines& lines, const T* all_gradient, const T* all_source, T* all_result) {
  for_each_line<T>(lines, [&](auto line, std::int64_t offset, std::int64_t) {
    const T* gradient = all_gradient + offset;
    const T* source = all_source + offset;
    T* result = all_result + offset;
    const Vec<T> largest = line_maximum<T>(line, source);
    BlockedSum<T> sums, products;
    line.for_each([&](std::int64_t i, auto tag) {
      const Vec<T> e = exponential<T>(load<T>(source + i, tag, broadcast<T>(-infinity<T>)) - largest);
      store<T>(result + i, tag, e);
      sums.add(e);
      products.add(e * load<T>(gradient + i, tag, Vec<T>{}));
    });
    const Vec<T> scale = T(1) / line.sum(sums.value());
    const Vec<T> mean = line.sum(products.value()) * scale;
    line.for_each([&](std::int64_t i, auto tag) {
      const Vec<T> y = load<T>(result + i, tag, Vec<T>{}) * scale;
      store<T>(result + i, tag, y * (load<T>(gradient + i, tag, Vec<T>{}) - mean));
    });
  });
}

template <class T>
void cross_entropy(const Lines& lines, const T* all_source, const T* all_labels, T* losses) {
  for_each_line<T>(lines, [&](auto line, std::int64_t offset, std::int64_t index) {
    const T* source = all_source + offset;
    const T* labels = all_labels + offset;
    const Vec<T> largest = line_maximum<T>(line, source);
    BlockedSum<T> sums, loss;
    line.for_each([&](std::int64_t i, auto tag) {
      sums.add(exponential<T>(load<T>(source + i, tag, broadcast<T>(-infinity<T>)) - largest));
    });
    const Vec<T> log_sum = logarithm<T>(line.sum(sums.value()));
    line.for_each([&](std::int64_t i, auto tag) {
      // Lanes that do not count must stay finite: their label is 0.
      const Vec<T> x = load<T>(source + i, tag, largest);
      const Vec<T> label = load<T>(labels + i, tag, Vec<T>{});
      loss.add(label * (log_sum - (x - largest)));
    });
    line.store_value(losses + index, line.sum(loss.value()));
  });
}

template <class T>
void cross_entropy_gradient(const Lines& lines, const T* gradients, std::int64_t gradient_stride, T factor,
                            const T* all_source, const T* all_labels, T* all_result) {
  for_each_line<T>(lines, [&](auto line, std::int64_t offset, std::int64_t index) {
    const T* source = all_source + offset;
    const T* labels = all_labels + offset;
    T* result = all_result + offset;
    const Vec<T> sum = store_exponentials<T>(line, source, line_maximum<T>(line, source), result);
    BlockedSum<T> label_sum;
    line.for_each([&](std::int64_t i, auto tag) { label_sum.add(load<T>(labels + i, tag, Vec<T>{})); });
    const Vec<T> scale = line.sum(label_sum.value()) / sum;
    const Vec<T> gradient = (gradient_stride ? line.load_value(gradients + index) : broadcast<T>(*gradients)) * factor;
    line.for_each([&](std::int64_t i, auto tag) {
      const Vec<T> e = load<T>(result + i, tag, Vec<T>{});
      store<T>(result + i, tag, gradient * (e * scale - load<T>(labels + i, tag, Vec<T>{})));
    });
  });
}

}  // namespace

template <class T>
SoftmaxKernels<T> softmax_kernels() {
  return {softmax<T>, softmax_gradient<T>, cross_entropy<T>, cross_entropy_gradient<T>};
}
template SoftmaxKernels<float> softmax_kernels<float>();
template SoftmaxKernels<double> softmax_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
