#include <algorithm>
#include <memory>
#include <vector>

#if defined(__APPLE__)
#include "cpu/accelerate.hpp"
#endif
#include "cpu/dispatch.hpp"
#include "cpu/kernels.hpp"
#include "cpu/panels.hpp"
#include "graph/division.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {
namespace {

// Below about this many products a second thread costs more than it saves.
constexpr std::int64_t products_worth_threads = 1 << 20;
#if defined(__APPLE__)
// From here on the matrix coprocessor outweighs the cost of getting there.
constexpr std::int64_t products_worth_accelerate = 1 << 20;
#endif
// A group of packed panels stays in the outer cache while blocks of columns, which stay in the inner one, pass by.
constexpr std::int64_t depth_bytes = 2048;
constexpr std::int64_t group_bytes = 1 << 20;
constexpr std::int64_t columns_at_once = 96;

/// Element offsets of each operand's matrix for each matrix of the result.
struct MatrixOffsets {
  std::int64_t primary, secondary;
};

std::vector<MatrixOffsets> matrix_offsets(const Shape& primary, const Shape& secondary, const Shape& result) {
  const auto leading = [&](const Shape& shape, int axis) {
    const int own = axis - (result.rank() - shape.rank());
    return own < 0 ? 1 : shape[own];
  };
  std::int64_t count = 1;
  for (int axis = 0; axis < result.rank() - 2; ++axis) count *= result[axis];
  std::vector<MatrixOffsets> offsets(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, a = 0, b = 0;
    std::int64_t a_stride = primary[primary.rank() - 2] * primary[primary.rank() - 1];
    std::int64_t b_stride = secondary[secondary.rank() - 2] * secondary[secondary.rank() - 1];
    for (int axis = result.rank() - 3; axis >= 0; --axis) {
      const std::int64_t position = rest % result[axis];
      rest /= result[axis];
      if (leading(primary, axis) > 1) a += position * a_stride;
      if (leading(secondary, axis) > 1) b += position * b_stride;
      a_stride *= leading(primary, axis);
      b_stride *= leading(secondary, axis);
    }
    offsets[static_cast<std::size_t>(i)] = {a, b};
  }
  return offsets;
}

/// result [rows, columns] = primary [rows, depth] · secondary [depth, columns], for each pair of matrices. Panels run
/// over the result's columns; over its rows (`upright`) where that wastes fewer lanes.
template <class T>
class MatrixProduct {
 public:
  MatrixProduct(std::int64_t rows, std::int64_t depth, std::int64_t columns, std::vector<MatrixOffsets> offsets,
                ScratchLayout& thread_scratch)
      : kernels_(kernels<T>().matrix),
        rows_(rows),
        depth_(depth),
        columns_(columns),
        offsets_(std::move(offsets)),
        upright_(columns < kernels_.widths[0].width && columns < rows),
        panel_(panel_for_rows(kernels_, lanes())) {
    const std::int64_t most_depth = depth_bytes / static_cast<std::int64_t>(sizeof(T));
    depth_at_once_ = ceil_divide(depth, ceil_divide(depth, most_depth));
    const std::int64_t panel_elements = depth_at_once_ * panel_.width;
    panels_at_once_ =
        std::clamp<std::int64_t>(group_bytes / static_cast<std::int64_t>(sizeof(T)) / panel_elements, 1, panels());
    for (std::int64_t k = 0; k < depth_at_once_; ++k)
      steps_.push_back(static_cast<std::int32_t>(k * (upright_ ? columns : 1)));
    packed_ = thread_scratch.reserve<T>(panels_at_once_ * panel_elements);
    tile_ = thread_scratch.reserve<T>(columns_at_once * panel_.width);
    column_slot_ = thread_scratch.reserve<const T*>(columns_at_once);
  }

  void run(const Invocation& invocation, int threads) const {
    const std::int64_t matrices = static_cast<std::int64_t>(offsets_.size());
    // Splitting the panels shares the packing; the other direction serves when there are few panels.
    const std::int64_t wanted = ceil_divide(threads, matrices);
    const std::int64_t panel_parts = std::min(wanted, panels());
    const std::int64_t line_parts = std::min(ceil_divide(wanted, panel_parts), lines());
    const std::int64_t parts = matrices * panel_parts * line_parts;
    const std::int64_t chunks = std::min<std::int64_t>(threads, parts);
    parallel_for(chunks, [&](std::int64_t chunk) {
      const Range range = split_range(parts, chunk, chunks);
      for (std::int64_t i = range.begin; i < range.end; ++i)
        multiply(invocation, chunk, i / (panel_parts * line_parts),
                 split_range(panels(), i / line_parts % panel_parts, panel_parts),
                 split_range(lines(), i % line_parts, line_parts));
    });
  }

 private:
  /// Rows or columns of the result that lie in panels, and those that lie across.
  std::int64_t lanes() const { return upright_ ? rows_ : columns_; }
  std::int64_t lines() const { return upright_ ? columns_ : rows_; }
  std::int64_t panels() const { return ceil_divide(lanes(), panel_.width); }
  std::int64_t panel_lanes(std::int64_t panel) const {
    return std::min<std::int64_t>(panel_.width, lanes() - panel * panel_.width);
  }

  void multiply(const Invocation& invocation, std::int64_t chunk, std::int64_t matrix, Range panels,
                Range lines) const {
    const MatrixOffsets& offset = offsets_[static_cast<std::size_t>(matrix)];
    const T* primary = invocation.input<T>(0) + offset.primary;
    const T* secondary = invocation.input<T>(1) + offset.secondary;
    T* result = invocation.output<T>(0) + matrix * rows_ * columns_;
    T* packed = per_thread(invocation, chunk, packed_);
    T* tile = per_thread(invocation, chunk, tile_);
    const T** column = per_thread(invocation, chunk, column_slot_);
    const std::int64_t width = panel_.width;

    for (std::int64_t first = panels.begin; first < panels.end; first += panels_at_once_) {
      const std::int64_t last = std::min(first + panels_at_once_, panels.end);
      for (std::int64_t k = 0; k < depth_; k += depth_at_once_) {
        const std::int64_t depth = std::min(depth_at_once_, depth_ - k);
        for (std::int64_t panel = first; panel < last; ++panel) {
          T* to = packed + (panel - first) * depth * width;
          if (upright_)
            panel_.pack_rows(primary + panel * width * depth_ + k, depth_, panel_lanes(panel), depth, to);
          else
            panel_.pack_columns(secondary + k * columns_ + panel * width, columns_, panel_lanes(panel), depth, to);
        }
        for (std::int64_t line = lines.begin; line < lines.end; line += columns_at_once) {
          const std::int64_t count = std::min(columns_at_once, lines.end - line);
          for (std::int64_t i = 0; i < count; ++i)
            column[i] = upright_ ? secondary + k * columns_ + line + i : primary + (line + i) * depth_ + k;
          for (std::int64_t panel = first; panel < last; ++panel) {
            panel_.multiply(depth, packed + (panel - first) * depth * width, steps_.data(), column, count, tile, false);
            write(tile, panel, line, count, k > 0, result);
          }
        }
      }
    }
  }

  void write(const T* tile, std::int64_t panel, std::int64_t line, std::int64_t count, bool accumulate,
             T* result) const {
    const std::int64_t lanes = panel_lanes(panel);
    for (std::int64_t i = 0; i < count; ++i, tile += panel_.width) {
      if (upright_) {
        T* to = result + panel * panel_.width * columns_ + line + i;
        for (std::int64_t r = 0; r < lanes; ++r, to += columns_) *to = accumulate ? *to + tile[r] : tile[r];
      } else {
        T* to = result + (line + i) * columns_ + panel * panel_.width;
        if (accumulate)
          kernels_.add(tile, lanes, to);
        else
          std::copy_n(tile, lanes, to);
      }
    }
  }

  const MatrixKernels<T>& kernels_;
  std::int64_t rows_, depth_, columns_;
  std::vector<MatrixOffsets> offsets_;
  bool upright_;
  const PanelKernels<T>& panel_;
  std::int64_t depth_at_once_ = 1, panels_at_once_ = 1;
  std::vector<std::int32_t> steps_;
  Slot<T> packed_, tile_;
  Slot<const T*> column_slot_;
};

}  // namespace

Kernel make_kernel(const MatrixMultiplication&, const KernelRequest& request) {
  const Shape& primary = request.input(0).shape;
  const Shape& secondary = request.input(1).shape;
  const Shape& result = request.outputs[0].shape;
  const std::int64_t rows = result[result.rank() - 2];
  const std::int64_t columns = result[result.rank() - 1];
  const std::int64_t depth = primary[primary.rank() - 1];
  const std::int64_t elements = result.elements();
  const double operations = 2.0 * static_cast<double>(elements) * static_cast<double>(depth);
  return for_floating(request.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if (elements == 0 || depth == 0)
      return Kernel{0, 0,
                    [elements](const Invocation& invocation) { std::fill_n(invocation.output<T>(0), elements, T(0)); }};
#if defined(__APPLE__)
    if (rows * columns * depth >= products_worth_accelerate)
      return Kernel{0, 0,
                    [=, offsets = matrix_offsets(primary, secondary, result)](const Invocation& invocation) {
                      T* to = invocation.output<T>(0);
                      for (const MatrixOffsets& offset : offsets) {
                        accelerate_product(rows, columns, depth, invocation.input<T>(0) + offset.primary,
                                           invocation.input<T>(1) + offset.secondary, to);
                        to += rows * columns;
                      }
                    },
                    "Accelerate", operations};
#endif
    ScratchLayout thread_scratch;
    auto plan = std::make_shared<const MatrixProduct<T>>(rows, depth, columns,
                                                         matrix_offsets(primary, secondary, result), thread_scratch);
    const bool worth_threads = elements * depth >= products_worth_threads;
    return Kernel{0, thread_scratch.bytes(),
                  [plan, worth_threads](const Invocation& invocation) {
                    plan->run(invocation, worth_threads ? invocation.threads : 1);
                  },
                  "indirect matrix product", operations};
  });
}

}  // namespace mpsgraph_native::cpu
