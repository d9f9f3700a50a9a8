#include <atomic>
#include <bit>
#include <memory>
#include <optional>

#include "cpu/partition.hpp"
#include "cpu/pooling_gather.hpp"
#include "cpu/pooling_gradient.hpp"

namespace mpsgraph_native::cpu {
namespace {

/// Division of 31-bit numbers by a fixed divisor, as a multiplication.
class FixedDivisor {
 public:
  explicit FixedDivisor(std::int64_t divisor = 1)
      : divisor_(static_cast<std::uint64_t>(divisor)),
        shift_(31 + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(divisor - 1)))),
        factor_((std::uint64_t{1} << shift_) / divisor_ + 1) {}
  std::int64_t divide(std::int64_t& remainder) const {
    const std::uint64_t value = static_cast<std::uint64_t>(remainder), quotient = value * factor_ >> shift_;
    remainder = static_cast<std::int64_t>(value - quotient * divisor_);
    return static_cast<std::int64_t>(quotient);
  }

 private:
  std::uint64_t divisor_;
  int shift_;
  std::uint64_t factor_;
};

/// Turns indices of one slice into positions within it.
class IndexDecoder {
 public:
  IndexDecoder(const PoolingGeometry& geometry, PoolingPlan plan) : plan_(std::move(plan)) {
    const PoolingReturnIndicesMode mode = geometry.return_indices_mode;
    local_ = is_local(mode);
    bound_ = 1;
    for (int i = 4 - flattened_dimensions(mode); i < 4; ++i) {
      const WindowAxis& axis = geometry.axes[static_cast<std::size_t>(i)];
      bound_ *= local_ ? axis.kernel : axis.input;
    }
    for (std::size_t axis = 0; axis < 4; ++axis) {
      kernels_[axis] = FixedDivisor(plan_.axes[axis].kernel);
      if (!local_ && plan_.index_output_steps[axis] == 0 && plan_.axes[axis].stride > 1) by_window_ = true;
    }
    by_window_ = by_window_ || local_;
  }

  const PoolingPlan& plan() const { return plan_; }
  /// True when an index means something in connection with its window alone: a tap of it, or a position along the
  /// dimensions that the mode flattens while strides alone move along others. It then never leaves the slice.
  bool by_window() const { return by_window_; }
  /// Indices lie in [0, bound).
  std::int64_t bound() const { return bound_; }

  /// The position in the slice that an index below the bound means `inner` elements into a window; nothing if that is
  /// outside.
  std::optional<std::int64_t> position(std::int64_t index, const WindowPosition& window, std::int64_t inner) const {
    std::int64_t position = local_ ? inner : index;
    for (std::size_t axis = 4; axis-- > 0;) {
      const WindowAxis& a = plan_.axes[axis];
      std::int64_t at = window[axis] * a.stride - a.padding_before;
      if (local_) {
        std::int64_t j = index;
        index = kernels_[axis].divide(j);
        at += j * a.dilation;
      } else if (plan_.index_output_steps[axis] != 0) {
        continue;
      }
      if (at < 0 || at >= a.input) return std::nullopt;
      position += at * plan_.source_steps[axis];
    }
    return position;
  }

 private:
  PoolingPlan plan_;
  bool local_, by_window_ = false;
  std::int64_t bound_;
  std::array<FixedDivisor, 4> kernels_;
};

constexpr std::int64_t none = -1;

/// What a look at all indices found, before anything is written.
struct Findings {
  std::atomic<std::int64_t> first_bad{maximum_elements};
  /// Some index lies in the destination, but in another slice than its window.
  std::atomic<bool> leaves_slice{false};

  void report_bad(std::int64_t at) {
    std::int64_t known = first_bad.load();
    while (at < known && !first_bad.compare_exchange_weak(known, at)) {
    }
  }
};

/// Calls f(element, window) for every element of a slice's result.
template <class F>
void for_each_element(const PoolingPlan& plan, F&& f) {
  WindowPosition window(plan);
  std::int64_t element = 0;
  for (std::int64_t row = 0; row < plan.rows(); ++row) {
    window.set_row(row);
    for (std::int64_t column = 0; column < plan.outputs(3); ++column) {
      window.set_column(column);
      for (std::int64_t i = 0; i < plan.inner; ++i) f(element++, window);
    }
  }
}

template <class I>
void inspect_slice(const IndexDecoder& decoder, const I* indices, std::int64_t slice, Findings& findings) {
  const PoolingPlan& plan = decoder.plan();
  const std::int64_t count = plan.result_slice, first = slice * count;
  const I* slice_indices = indices + first;
  if (!decoder.by_window()) {
    using Unsigned = std::make_unsigned_t<I>;
    const Unsigned base = static_cast<Unsigned>(plan.slice_index(slice));
    const Unsigned size = static_cast<Unsigned>(plan.source_slice);
    bool outside = false;
    for (std::int64_t e = 0; e < count; ++e) outside |= static_cast<Unsigned>(slice_indices[e]) - base >= size;
    if (!outside) return;
  }
  bool bad = false;
  for_each_element(plan, [&](std::int64_t e, const WindowPosition& window) {
    const std::int64_t index = slice_indices[e];
    if (bad || (index == none && window.empty())) return;
    const bool in_bound = index >= 0 && index < decoder.bound();
    if (!in_bound || (decoder.by_window() && !decoder.position(index, window, e % plan.inner))) {
      findings.report_bad(first + e);
      bad = true;
    } else if (!decoder.by_window() &&
               (index < plan.slice_index(slice) || index >= plan.slice_index(slice) + plan.source_slice)) {
      findings.leaves_slice.store(true);
    }
  });
}

template <class T, class I>
void scatter_slice(const IndexDecoder& decoder, const I* indices, const T* gradient, std::int64_t slice, T* result) {
  const PoolingPlan& plan = decoder.plan();
  indices += slice * plan.result_slice;
  gradient += slice * plan.result_slice;
  result += slice * plan.source_slice;
  std::memset(result, 0, static_cast<std::size_t>(plan.source_slice) * sizeof(T));
  if (decoder.by_window()) {
    for_each_element(plan, [&](std::int64_t e, const WindowPosition& window) {
      const std::int64_t index = indices[e];
      if (index != none) result[*decoder.position(index, window, e % plan.inner)] += gradient[e];
    });
    return;
  }
  const std::int64_t base = plan.slice_index(slice);
  for (std::int64_t e = 0; e < plan.result_slice; ++e)
    if (indices[e] != none) result[indices[e] - base] += gradient[e];
}

/// Indices that point into other slices: one thread adds them in order.
template <class T, class I>
void scatter_anywhere(const IndexDecoder& decoder, const I* indices, const T* gradient, T* result) {
  const PoolingPlan& plan = decoder.plan();
  std::memset(result, 0, static_cast<std::size_t>(plan.outer * plan.source_slice) * sizeof(T));
  for (std::int64_t slice = 0; slice < plan.outer; ++slice) {
    T* destination = result + slice * plan.source_slice - plan.slice_index(slice);
    for (std::int64_t e = slice * plan.result_slice; e < (slice + 1) * plan.result_slice; ++e)
      if (indices[e] != none) destination[indices[e]] += gradient[e];
  }
}

Shape coordinates(std::int64_t element, const Shape& shape) {
  Shape at = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    at[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return at;
}

template <class T, class I>
Kernel make_scatter(std::string_view operation, const PoolingGeometry& geometry) {
  auto decoder = std::make_shared<const IndexDecoder>(geometry, make_pooling_plan(geometry, IndexMap::Mode));
  const PoolingPlan& plan = decoder->plan();
  const std::int64_t operations = plan.result_slice + plan.source_slice;
  // Gathering compares vectors of indices with the few positions of their windows; one core adds to scattered places
  // element by element, and clears them first.
  std::optional<PoolingGather> gather;
  ScratchLayout thread_scratch;
  if constexpr (std::is_same_v<T, float> && std::is_same_v<I, std::int32_t>)
    gather = PoolingGather::make(plan, decoder->by_window(), thread_scratch);
  Kernel kernel;
  kernel.scratch_per_thread = thread_scratch.bytes();
  kernel.run = [=, result_shape = geometry.result](const Invocation& invocation) {
    const T* gradient = invocation.input<T>(0);
    const I* indices = invocation.input<I>(2);
    T* result = invocation.output<T>(0);
    const std::int64_t slices = decoder->plan().outer;
    Findings findings;
    std::atomic<bool> gathers{gather.has_value()};
    for_each_item(invocation, slices, slices * operations, [&](std::int64_t slice, std::int64_t chunk) {
      if constexpr (std::is_same_v<I, std::int32_t>)
        if (gather && gather->holds(invocation, chunk, indices, slice)) return;
      gathers.store(false);
      inspect_slice(*decoder, indices, slice, findings);
    });
    const std::int64_t bad = findings.first_bad.load();
    if (bad != maximum_elements)
      fail<ShapeError>(operation, "indices", "must lie inside the destination and, under ",
                       name_of(geometry.return_indices_mode), ", in [0, ", decoder->bound(), "), got ", indices[bad],
                       " at ", coordinates(bad, result_shape));
    if constexpr (std::is_same_v<T, float> && std::is_same_v<I, std::int32_t>) {
      if (gathers.load()) {
        for_each_item(invocation, slices, slices * operations, [&](std::int64_t slice, std::int64_t chunk) {
          gather->run(invocation, chunk, indices, gradient, slice, result);
        });
        return;
      }
    }
    if (findings.leaves_slice.load()) {
      scatter_anywhere(*decoder, indices, gradient, result);
      return;
    }
    for_each_item(invocation, slices, slices * operations,
                  [&](std::int64_t slice, std::int64_t) { scatter_slice(*decoder, indices, gradient, slice, result); });
  };
  return kernel;
}

}  // namespace

Kernel make_maximum_pooling_gradient_from_indices(std::string_view operation, const PoolingGeometry& geometry,
                                                  const KernelRequest& request) {
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return request.input(2).dtype == DataType::Int64 ? make_scatter<T, std::int64_t>(operation, geometry)
                                                     : make_scatter<T, std::int32_t>(operation, geometry);
  });
}

}  // namespace mpsgraph_native::cpu
