#include "cpu/reduction.hpp"

#include "cpu/dispatch.hpp"
#include "cpu/kernels.hpp"
#include "cpu/lines.hpp"

namespace mpsgraph_native::cpu {
namespace {

/// Results up to which each thread may keep partial results of its own.
constexpr std::int64_t largest_partial = 4096;

/// The passes that reduce one group of adjacent axes each, the innermost group first: each is a plain reduction of
/// [outer, length, inner] along its middle.
std::vector<AxisView> plan_passes(const Shape& shape, const AxisSet& reduced) {
  std::vector<AxisView> passes;
  std::int64_t inner = 1;
  for (int axis = shape.rank() - 1; axis >= 0;) {
    if (!reduced[static_cast<std::size_t>(axis)]) {
      inner *= shape[axis--];
      continue;
    }
    std::int64_t length = 1;
    for (; axis >= 0 && reduced[static_cast<std::size_t>(axis)]; --axis) length *= shape[axis];
    std::int64_t outer = 1;
    for (int i = 0; i <= axis; ++i) outer *= shape[i];
    passes.push_back({outer, length, inner});
  }
  if (passes.empty()) passes.push_back({1, 1, shape.elements()});
  return passes;
}

/// Lines up to this length are too short to fill vectors: they are reduced across, many at once.
constexpr std::int64_t short_line = 32;

/// Reduces `count` contiguous lines of at most short_line elements: turned by tiles, a line becomes a column.
template <class T>
void reduce_short_lines(std::size_t function, const T* source, std::int64_t length, std::int64_t count, T* result) {
  // Only bits are moved, so integers may pass as floating values of their width.
  using Moved = std::conditional_t<sizeof(T) == 4, float, double>;
  constexpr std::int64_t tile = 64;
  alignas(64) T columns[short_line * tile];
  for (std::int64_t line = 0; line < count; line += tile) {
    const std::int64_t width = std::min(tile, count - line);
    kernels<Moved>().matrix.transpose(reinterpret_cast<const Moved*>(source + line * length), length, width, length,
                                      reinterpret_cast<Moved*>(columns), tile);
    kernels<T>().reduction.rows[function](columns, tile, length, width, result + line);
  }
}

template <class T>
struct ReductionPass {
  AxisView view;
  bool splits_length;  ///< few enough results that threads can share the work along the reduced axis
  Slot<T> partials;    ///< per thread

  void run(const Invocation& invocation, ReductionFunction function, const T* source, T* result) const;

 private:
  /// Reduces positions [begin, end) of the lines (outer, column...).
  static void reduce(ReductionFunction function, const AxisView& view, const T* source, Range range, std::int64_t outer,
                     std::int64_t column, std::int64_t columns, T* result) {
    const auto& reduction = kernels<T>().reduction;
    const T* from = source + (outer * view.length + range.begin) * view.inner + column;
    T* to = result + outer * view.inner + column;
    const auto index = static_cast<std::size_t>(function);
    if (view.inner == 1)
      *to = reduction.elements[index](from, range.end - range.begin);
    else
      reduction.rows[index](from, view.inner, range.end - range.begin, columns, to);
  }
};

template <class T>
void ReductionPass<T>::run(const Invocation& invocation, ReductionFunction function, const T* source, T* result) const {
  const std::int64_t chunks = chunk_count(invocation, view.elements());
  if (splits_length && view.outer * ((view.inner + 63) / 64) < chunks) {
    parallel_for(chunks, [&](std::int64_t chunk) {
      for (std::int64_t o = 0; o < view.outer; ++o)
        reduce(function, view, source, split_range(view.length, chunk, chunks), o, 0, view.inner,
               per_thread(invocation, chunk, partials));
    });
    kernels<T>().reduction.rows[static_cast<std::size_t>(function)](
        per_thread(invocation, 0, partials), static_cast<std::int64_t>(invocation.scratch_per_thread / sizeof(T)),
        chunks, view.lines(), result);
    return;
  }
  for_each_grid_part(chunks, view.outer, view.inner,
                     [&](std::int64_t first, std::int64_t count, std::int64_t column, std::int64_t columns) {
                       if (view.inner == 1 && view.length <= short_line) {
                         reduce_short_lines(static_cast<std::size_t>(function), source + first * view.length,
                                            view.length, count, result + first);
                         return;
                       }
                       for (std::int64_t o = first; o < first + count; ++o)
                         reduce(function, view, source, {0, view.length}, o, column, columns, result);
                     });
}

template <class T>
Kernel reduction_kernel(ReductionFunction function, const AxisSet& axes, bool mean, const Shape& shape) {
  std::vector<ReductionPass<T>> passes;
  std::vector<Slot<T>> intermediates;
  ScratchLayout shared_layout, thread_layout;
  for (const AxisView& view : plan_passes(shape, axes)) {
    const bool splits_length = view.lines() <= largest_partial;
    passes.push_back({view, splits_length, thread_layout.reserve<T>(splits_length ? view.lines() : 0)});
    intermediates.push_back(shared_layout.reserve<T>(view.lines()));
  }
  std::int64_t terms = 1;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (axes[static_cast<std::size_t>(axis)]) terms *= shape[axis];
  return {.shared_scratch = shared_layout.bytes(),
          .scratch_per_thread = thread_layout.bytes(),
          .run = [=](const Invocation& invocation) {
            const T* source = invocation.input<T>(0);
            T* result = nullptr;
            for (std::size_t i = 0; i < passes.size(); ++i) {
              result = i + 1 < passes.size() ? shared(invocation, intermediates[i]) : invocation.output<T>(0);
              passes[i].run(invocation, function, source, result);
              source = result;
            }
            if constexpr (std::is_floating_point_v<T>) {
              if (!mean) return;
              const T divisor = static_cast<T>(terms);
              const std::int64_t results = passes.back().view.lines();
              kernels<T>().elementwise.binary[static_cast<std::size_t>(BinaryFunction::Division)](
                  {1, results, results, {0, 0}, {1, 0}}, result, &divisor, result);
            }
          }};
}

/// First extremum along an axis; `extremum` is 0 for the maximum and 1 for the minimum, as in ArgReductionKernels.
Kernel make_arg_reduction_kernel(std::size_t extremum, std::int64_t axis, const KernelRequest& request) {
  return for_number(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    const AxisView view = view_axis(request.input(0).shape, axis);
    const bool splits_length = view.inner == 1 && view.outer <= largest_partial;
    ScratchLayout thread_layout;
    const auto partials = thread_layout.reserve<std::int64_t>(splits_length ? view.outer : 0);
    return Kernel{.scratch_per_thread = thread_layout.bytes(), .run = [=](const Invocation& invocation) {
                    const auto& arg_reduction = kernels<T>().arg_reduction;
                    const T* source = invocation.input<T>(0);
                    std::int32_t* result = invocation.output<std::int32_t>(0);
                    const std::int64_t chunks = chunk_count(invocation, view.elements());
                    if (!splits_length || view.outer >= chunks) {
                      for_each_lines(invocation, view, default_grain,
                                     [&](const Lines& lines, std::int64_t offset, std::int64_t first) {
                                       if (lines.stride > 1) {
                                         arg_reduction.rows[extremum](source + offset, lines.stride, lines.length,
                                                                      lines.count, result + first);
                                         return;
                                       }
                                       for (std::int64_t k = 0; k < lines.count; ++k)
                                         result[first + k] = static_cast<std::int32_t>(arg_reduction.elements[extremum](
                                             source + offset + k * lines.length, lines.length));
                                     });
                      return;
                    }
                    parallel_for(chunks, [&](std::int64_t chunk) {
                      const Range range = split_range(view.length, chunk, chunks);
                      for (std::int64_t o = 0; o < view.outer; ++o) {
                        const std::int64_t found = arg_reduction.elements[extremum](
                            source + o * view.length + range.begin, range.end - range.begin);
                        per_thread(invocation, chunk, partials)[o] = found < 0 ? -1 : found + range.begin;
                      }
                    });
                    for (std::int64_t o = 0; o < view.outer; ++o) {
                      const T* line = source + o * view.length;
                      std::int64_t best = -1;
                      for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
                        const std::int64_t found = per_thread(invocation, chunk, partials)[o];
                        if (found < 0) continue;
                        if (best < 0 || (extremum == 0 ? line[found] > line[best] : line[found] < line[best]))
                          best = found;
                      }
                      result[o] = static_cast<std::int32_t>(best);
                    }
                  }};
  });
}

template <class Attributes>
Kernel reduce_over_axes(ReductionFunction function, const Attributes& attributes, const KernelRequest& request) {
  const int rank = request.input(0).shape.rank();
  return make_reduction_kernel(function, resolve_axes({}, attributes.axes, attributes.all_axes, rank), false, request);
}

}  // namespace

Kernel make_reduction_kernel(ReductionFunction function, const AxisSet& axes, bool mean, const KernelRequest& request) {
  return for_number(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return reduction_kernel<T>(function, axes, mean, request.input(0).shape);
  });
}

Kernel make_kernel(const ReductionSum& attributes, const KernelRequest& request) {
  return reduce_over_axes(ReductionFunction::Sum, attributes, request);
}
Kernel make_kernel(const ReductionProduct& attributes, const KernelRequest& request) {
  return reduce_over_axes(ReductionFunction::Product, attributes, request);
}
Kernel make_kernel(const ReductionMaximum& attributes, const KernelRequest& request) {
  return reduce_over_axes(ReductionFunction::Maximum, attributes, request);
}
Kernel make_kernel(const ReductionMinimum& attributes, const KernelRequest& request) {
  return reduce_over_axes(ReductionFunction::Minimum, attributes, request);
}
Kernel make_kernel(const ReductionArgMaximum& attributes, const KernelRequest& request) {
  return make_arg_reduction_kernel(0, attributes.axis, request);
}
Kernel make_kernel(const ReductionArgMinimum& attributes, const KernelRequest& request) {
  return make_arg_reduction_kernel(1, attributes.axis, request);
}

}  // namespace mpsgraph_native::cpu
