#include "cpu/pooling_gradient.hpp"

#include <memory>

#include "cpu/partition.hpp"

namespace mpsgraph_native::cpu {
namespace {

/// The slices of a plan, each split into blocks of whole vectors of its inner elements where there are fewer slices
/// than threads. No two items write the same element.
struct SliceBlocks {
  std::int64_t slices, blocks, inner, lanes;

  SliceBlocks(const PoolingPlan& plan, int lane_count, int threads, bool splittable)
      : slices(plan.outer), blocks(1), inner(plan.inner), lanes(lane_count) {
    if (splittable && slices < threads)
      blocks = std::max<std::int64_t>(1, std::min<std::int64_t>(threads, inner / lanes));
  }
  std::int64_t items() const { return slices * blocks; }
  std::int64_t slice(std::int64_t item) const { return item / blocks; }
  Range part(std::int64_t item) const {
    const Range vectors = split_range((inner + lanes - 1) / lanes, item % blocks, blocks);
    return {vectors.begin * lanes, std::min(inner, vectors.end * lanes)};
  }
};

template <class T>
void clear(T* slice, std::int64_t size, std::int64_t inner, Range part) {
  const std::size_t bytes = static_cast<std::size_t>(part.end - part.begin) * sizeof(T);
  if (part.end - part.begin == inner) {
    std::memset(slice, 0, static_cast<std::size_t>(size) * sizeof(T));
    return;
  }
  for (std::int64_t pixel = 0; pixel < size; pixel += inner) std::memset(slice + pixel + part.begin, 0, bytes);
}

/// Average or L2-norm gradient of one slice, for a part of its inner elements.
template <class T>
void spread_gradient(const PoolingPlan& plan, PoolingReduction reduction, const T* gradient, const T* source, T* result,
                     Range part, WindowTaps& taps) {
  const PoolingKernels<T>& isa = kernels<T>().pooling;
  clear(result, plan.source_slice, plan.inner, part);
  WindowPosition position(plan);
  for (std::int64_t row = 0; row < plan.rows(); ++row) {
    position.set_row(row);
    for (std::int64_t column = 0; column < plan.outputs(3); ++column) {
      position.set_column(column);
      taps.update(position);
      PoolingPixel<T> pixel{};
      pixel.source = source + part.begin;
      pixel.offsets = taps.offsets();
      pixel.taps = taps.count();
      pixel.inner = part.end - part.begin;
      const T* from = gradient + (row * plan.outputs(3) + column) * plan.inner + part.begin;
      if (reduction == PoolingReduction::Average)
        isa.average_gradient_pixel(pixel, from, static_cast<T>(position.divisor(4)), result + part.begin);
      else
        isa.l2_norm_gradient_pixel(pixel, from, result + part.begin);
    }
  }
}

template <class T>
Kernel make_direct_gradient(PoolingPlan plan, PoolingReduction reduction) {
  ScratchLayout layout;
  const TapScratch scratch = TapScratch::reserve(layout, plan);
  const std::int64_t operations = plan.result_slice * plan.maximum_taps() + plan.source_slice;
  Kernel kernel;
  kernel.scratch_per_thread = layout.bytes();
  kernel.run = [=, plan = std::make_shared<const PoolingPlan>(std::move(plan))](const Invocation& invocation) {
    const SliceBlocks blocks(*plan, kernels<T>().pooling.lanes, invocation.threads, true);
    for_each_item(invocation, blocks.items(), blocks.items() * (operations / blocks.blocks),
                  [&](std::int64_t item, std::int64_t chunk) {
                    const std::int64_t slice = blocks.slice(item);
                    WindowTaps taps = scratch.taps(*plan, 4, invocation, chunk);
                    spread_gradient(*plan, reduction, invocation.input<T>(0) + slice * plan->result_slice,
                                    invocation.input<T>(1) + slice * plan->source_slice,
                                    invocation.output<T>(0) + slice * plan->source_slice, blocks.part(item), taps);
                  });
  };
  return kernel;
}

template <class T>
Kernel make_grouped_gradient(const PoolingGeometry& geometry, const PoolingPlan& single, PoolingReduction reduction) {
  const std::int64_t group = slice_group(single, kernels<T>().pooling.lanes);
  PoolingPlan plan = make_pooling_plan(geometry, IndexMap::None, group);
  const bool with_source = reduction == PoolingReduction::L2Norm;
  ScratchLayout layout;
  const TapScratch scratch = TapScratch::reserve(layout, plan);
  const Slot<T> gradient_slot = layout.reserve<T>(plan.result_slice);
  const Slot<T> source_slot = layout.reserve<T>(with_source ? plan.source_slice : 0);
  const Slot<T> result_slot = layout.reserve<T>(plan.source_slice);
  const std::int64_t operations = plan.result_slice * plan.maximum_taps() + plan.source_slice;
  const std::int64_t source_slice = single.source_slice, result_slice = single.result_slice;
  Kernel kernel;
  kernel.scratch_per_thread = layout.bytes();
  kernel.run = [=, plan = std::make_shared<const PoolingPlan>(std::move(plan))](const Invocation& invocation) {
    const std::int64_t groups = (plan->outer + group - 1) / group;
    for_each_item(invocation, groups, groups * operations, [&](std::int64_t item, std::int64_t chunk) {
      const std::int64_t first = item * group, count = std::min(group, plan->outer - first);
      T* gradient = per_thread(invocation, chunk, gradient_slot);
      T* source = per_thread(invocation, chunk, source_slot);
      T* result = per_thread(invocation, chunk, result_slot);
      interleave_slices(invocation.input<T>(0) + first * result_slice, result_slice, count, group, gradient);
      if (with_source)
        interleave_slices(invocation.input<T>(1) + first * source_slice, source_slice, count, group, source);
      WindowTaps taps = scratch.taps(*plan, 4, invocation, chunk);
      spread_gradient(*plan, reduction, gradient, source, result, Range{0, plan->inner}, taps);
      separate_slices(result, source_slice, count, group, invocation.output<T>(0) + first * source_slice);
    });
  };
  return kernel;
}

/// Max-pooling gradient, slices one by one.
template <class T>
Kernel make_direct_maximum_gradient(PoolingPlan plan, PoolingVectors vectors) {
  const bool along_row = vectors == PoolingVectors::Row;
  ScratchLayout layout;
  const TapScratch scratch = TapScratch::reserve(layout, plan);
  const Slot<std::int32_t> positions_slot = layout.reserve<std::int32_t>(plan.result_slice);
  const std::int64_t operations = plan.result_slice * plan.maximum_taps() + plan.source_slice;
  Kernel kernel;
  kernel.scratch_per_thread = layout.bytes();
  kernel.run = [=, plan = std::make_shared<const PoolingPlan>(std::move(plan))](const Invocation& invocation) {
    const SliceBlocks blocks(*plan, kernels<T>().pooling.lanes, invocation.threads, !along_row);
    for_each_item(invocation, blocks.items(), blocks.items() * (operations / blocks.blocks),
                  [&](std::int64_t item, std::int64_t chunk) {
                    const std::int64_t slice = blocks.slice(item);
                    const Range part = blocks.part(item);
                    std::int32_t* positions = per_thread(invocation, chunk, positions_slot);
                    WindowPosition position(*plan);
                    WindowTaps taps = scratch.taps(*plan, along_row ? 3 : 4, invocation, chunk);
                    const SlicePooling<T> pooling{*plan,
                                                  PoolingReduction::Maximum,
                                                  invocation.input<T>(1) + slice * plan->source_slice,
                                                  nullptr,
                                                  positions,
                                                  0,
                                                  part.begin,
                                                  part.end - part.begin};
                    for (std::int64_t row = 0; row < plan->rows(); ++row) {
                      if (along_row)
                        pooling.row(row, position, taps, nullptr);
                      else
                        pooling.pixels(row, position, taps);
                    }
                    const T* gradient = invocation.input<T>(0) + slice * plan->result_slice;
                    T* result = invocation.output<T>(0) + slice * plan->source_slice;
                    clear(result, plan->source_slice, plan->inner, part);
                    for (std::int64_t pixel = 0; pixel < plan->result_slice; pixel += plan->inner)
                      for (std::int64_t i = pixel + part.begin; i < pixel + part.end; ++i)
                        if (positions[i] >= 0) result[positions[i]] += gradient[i];
                  });
  };
  return kernel;
}

template <class T>
Kernel make_grouped_maximum_gradient(const PoolingGeometry& geometry, const PoolingPlan& single) {
  const std::int64_t group = slice_group(single, kernels<T>().pooling.lanes);
  PoolingPlan plan = make_pooling_plan(geometry, IndexMap::Slice, group);
  ScratchLayout layout;
  const TapScratch scratch = TapScratch::reserve(layout, plan);
  const Slot<T> source_slot = layout.reserve<T>(plan.source_slice);
  const Slot<std::int32_t> positions_slot = layout.reserve<std::int32_t>(plan.result_slice);
  const std::int64_t operations = plan.result_slice * plan.maximum_taps() + plan.source_slice;
  const std::int64_t source_slice = single.source_slice, result_slice = single.result_slice, inner = single.inner;
  Kernel kernel;
  kernel.scratch_per_thread = layout.bytes();
  kernel.run = [=, plan = std::make_shared<const PoolingPlan>(std::move(plan))](const Invocation& invocation) {
    const std::int64_t groups = (plan->outer + group - 1) / group;
    for_each_item(invocation, groups, groups * operations, [&](std::int64_t item, std::int64_t chunk) {
      const std::int64_t first = item * group, count = std::min(group, plan->outer - first);
      T* source = per_thread(invocation, chunk, source_slot);
      std::int32_t* positions = per_thread(invocation, chunk, positions_slot);
      interleave_slices(invocation.input<T>(1) + first * source_slice, source_slice, count, group, source);
      WindowPosition position(*plan);
      WindowTaps taps = scratch.taps(*plan, 4, invocation, chunk);
      const SlicePooling<T> pooling{*plan, PoolingReduction::Maximum, source, nullptr, positions, 0, 0, plan->inner};
      for (std::int64_t row = 0; row < plan->rows(); ++row) pooling.pixels(row, position, taps);
      const T* gradient = invocation.input<T>(0) + first * result_slice;
      T* result = invocation.output<T>(0) + first * source_slice;
      std::memset(result, 0, static_cast<std::size_t>(count * source_slice) * sizeof(T));
      for (std::int64_t slice = 0; slice < count; ++slice)
        for (std::int64_t pixel = 0; pixel < result_slice; pixel += inner)
          for (std::int64_t i = 0; i < inner; ++i) {
            const std::int32_t at = positions[(pixel + i) * group + slice];
            if (at >= 0) result[slice * source_slice + at + i] += gradient[slice * result_slice + pixel + i];
          }
    });
  };
  return kernel;
}

}  // namespace

Kernel make_pooling_gradient(const PoolingGeometry& geometry, PoolingReduction reduction,
                             const KernelRequest& request) {
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    PoolingPlan plan = make_pooling_plan(geometry, IndexMap::None);
    if (choose_vectors(plan, kernels<T>().pooling.lanes, false) == PoolingVectors::Grouped)
      return make_grouped_gradient<T>(geometry, plan, reduction);
    return make_direct_gradient<T>(std::move(plan), reduction);
  });
}

Kernel make_maximum_pooling_gradient(const PoolingGeometry& geometry, const KernelRequest& request) {
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    PoolingPlan plan = make_pooling_plan(geometry, IndexMap::Slice);
    const PoolingVectors vectors = choose_vectors(plan, kernels<T>().pooling.lanes, true);
    if (vectors == PoolingVectors::Grouped) return make_grouped_maximum_gradient<T>(geometry, plan);
    return make_direct_maximum_gradient<T>(std::move(plan), vectors);
  });
}

}  // namespace mpsgraph_native::cpu
