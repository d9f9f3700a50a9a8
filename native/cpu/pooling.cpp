#include <memory>

#include "cpu/kernels.hpp"
#include "cpu/partition.hpp"
#include "cpu/pooling_gradient.hpp"
#include "cpu/pooling_planes.hpp"
#include "cpu/pooling_slice.hpp"

namespace mpsgraph_native::cpu {
namespace {

/// Slices one by one: rows of all slices are spread over the threads.
template <class T>
Kernel make_direct_pooling(PoolingPlan plan, PoolingVectors vectors, PoolingReduction reduction, bool with_indices) {
  const bool along_row = vectors == PoolingVectors::Row;
  ScratchLayout layout;
  const TapScratch scratch = TapScratch::reserve(layout, plan);
  const std::int64_t operations = plan.outputs(3) * plan.inner * plan.maximum_taps();
  std::vector<T> divisors = last_axis_divisors<T>(plan);
  Kernel kernel;
  kernel.scratch_per_thread = layout.bytes();
  kernel.run = [=, plan = std::make_shared<const PoolingPlan>(std::move(plan)),
                divisors = std::move(divisors)](const Invocation& invocation) {
    const std::int64_t rows = plan->rows(), items = plan->outer * rows;
    const std::int64_t chunks = item_chunk_count(invocation, items, operations);
    parallel_for(chunks, [&](std::int64_t chunk) {
      WindowPosition position(*plan);
      WindowTaps taps = scratch.taps(*plan, along_row ? 3 : 4, invocation, chunk);
      const Range range = split_range(items, chunk, chunks);
      for (std::int64_t item = range.begin; item < range.end; ++item) {
        const std::int64_t slice = item / rows, row = item % rows;
        SlicePooling<T> pooling{
            *plan,
            reduction,
            invocation.input<T>(0) + slice * plan->source_slice,
            invocation.output<T>(0) + slice * plan->result_slice,
            with_indices ? invocation.output<std::int32_t>(1) + slice * plan->result_slice : nullptr,
            plan->slice_index(slice),
            0,
            plan->inner};
        if (along_row)
          pooling.row(row, position, taps, divisors.data());
        else
          pooling.pixels(row, position, taps);
      }
    });
  };
  return kernel;
}

/// Maxima of rows of planes, spread over the threads likewise.
template <class T>
Kernel make_plane_pooling(const PoolingPlan& plan, bool with_indices) {
  const std::int64_t operations = plan.outputs(3) * plan.maximum_taps();
  Kernel kernel;
  kernel.run = [=, planes = std::make_shared<const PoolingPlanes>(plan),
                plan = std::make_shared<const PoolingPlan>(plan)](const Invocation& invocation) {
    const std::int64_t rows = planes->rows(), items = plan->outer * rows;
    const std::int64_t chunks = item_chunk_count(invocation, items, operations);
    parallel_for(chunks, [&](std::int64_t chunk) {
      const Range range = split_range(items, chunk, chunks);
      for (std::int64_t item = range.begin; item < range.end;) {
        const std::int64_t slice = item / rows, first = item % rows;
        const std::int64_t last = std::min(rows, first + range.end - item);
        std::int32_t* indices =
            with_indices ? invocation.output<std::int32_t>(1) + slice * plan->result_slice : nullptr;
        planes->maximum(invocation.input<T>(0) + slice * plan->source_slice, {first, last}, plan->slice_index(slice),
                        invocation.output<T>(0) + slice * plan->result_slice, indices);
        item += last - first;
      }
    });
  };
  return kernel;
}

/// Groups of slices interleaved in the scratch, so that vectors run across slices.
template <class T>
Kernel make_grouped_pooling(const PoolingGeometry& geometry, const PoolingPlan& single, PoolingReduction reduction,
                            bool with_indices) {
  const std::int64_t group = slice_group(single, kernels<T>().pooling.lanes);
  PoolingPlan plan = make_pooling_plan(geometry, with_indices ? IndexMap::Mode : IndexMap::None, group);
  ScratchLayout layout;
  const TapScratch scratch = TapScratch::reserve(layout, plan);
  const Slot<T> source_slot = layout.reserve<T>(plan.source_slice);
  const Slot<T> values_slot = layout.reserve<T>(plan.result_slice);
  const Slot<std::int32_t> indices_slot = layout.reserve<std::int32_t>(with_indices ? plan.result_slice : 0);
  const std::int64_t operations = plan.result_slice * plan.maximum_taps();
  Kernel kernel;
  kernel.scratch_per_thread = layout.bytes();
  kernel.run = [=, plan = std::make_shared<const PoolingPlan>(std::move(plan)),
                single = std::make_shared<const PoolingPlan>(single)](const Invocation& invocation) {
    const std::int64_t groups = (plan->outer + group - 1) / group;
    const std::int64_t chunks = item_chunk_count(invocation, groups, operations);
    parallel_for(chunks, [&](std::int64_t chunk) {
      WindowPosition position(*plan);
      WindowTaps taps = scratch.taps(*plan, 4, invocation, chunk);
      T* source = per_thread(invocation, chunk, source_slot);
      T* values = per_thread(invocation, chunk, values_slot);
      std::int32_t* indices = per_thread(invocation, chunk, indices_slot);
      const Range range = split_range(groups, chunk, chunks);
      for (std::int64_t item = range.begin; item < range.end; ++item) {
        const std::int64_t first = item * group, count = std::min(group, plan->outer - first);
        interleave_slices(invocation.input<T>(0) + first * single->source_slice, single->source_slice, count, group,
                          source);
        SlicePooling<T> pooling{*plan, reduction, source, values, with_indices ? indices : nullptr, 0, 0, plan->inner};
        for (std::int64_t row = 0; row < plan->rows(); ++row) pooling.pixels(row, position, taps);
        separate_slices(values, single->result_slice, count, group,
                        invocation.output<T>(0) + first * single->result_slice);
        if (!with_indices) continue;
        std::int32_t* destination = invocation.output<std::int32_t>(1) + first * single->result_slice;
        // A transposition moves bits: the one of float serves int32.
        separate_slices(reinterpret_cast<const float*>(indices), single->result_slice, count, group,
                        reinterpret_cast<float*>(destination));
        if ((single->index_inner_step == 0 || single->inner == 1) && single->named_outer == 1) continue;
        for (std::int64_t slice = 0; slice < count; ++slice) {
          const std::int64_t base = single->slice_index(first + slice);
          for (std::int64_t pixel = 0; pixel < single->result_slice; pixel += single->inner)
            for (std::int64_t i = 0; i < single->inner; ++i) {
              std::int32_t& index = destination[slice * single->result_slice + pixel + i];
              if (index >= 0) index += static_cast<std::int32_t>(base + i * single->index_inner_step);
            }
        }
      }
    });
  };
  return kernel;
}

/// A source without elements has a result without elements.
bool has_nothing_to_do(const PoolingGeometry& geometry) { return geometry.source.elements() == 0; }
Kernel make_nothing() {
  return {0, 0, [](const Invocation&) {}};
}

Kernel make_forward(const PoolingGeometry& geometry, PoolingReduction reduction, const KernelRequest& request) {
  if (has_nothing_to_do(geometry)) return make_nothing();
  const bool with_indices = request.outputs.size() == 2;
  return for_floating(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    PoolingPlan plan = make_pooling_plan(geometry, with_indices ? IndexMap::Mode : IndexMap::None);
    const PoolingVectors vectors = choose_vectors(plan, kernels<T>().pooling.lanes, true);
    if (vectors == PoolingVectors::Grouped) return make_grouped_pooling<T>(geometry, plan, reduction, with_indices);
    // Windows of 2 or 3 taps at stride 2 are most of max pooling: known when compiled, they took 0.35 to 0.5 of the
    // time.
    if (vectors == PoolingVectors::Row && reduction == PoolingReduction::Maximum && PoolingPlanes::fits(plan))
      return make_plane_pooling<T>(plan, with_indices);
    return make_direct_pooling<T>(std::move(plan), vectors, reduction, with_indices);
  });
}

template <class Attributes>
Kernel forward(const Attributes& attributes, PoolingReduction reduction, const KernelRequest& request) {
  return make_forward(pooling_geometry(attributes.name, attributes.descriptor, request.input(0).shape), reduction,
                      request);
}

template <class Attributes>
Kernel gradient(const Attributes& attributes, PoolingReduction reduction, const KernelRequest& request) {
  const PoolingGeometry geometry = pooling_geometry(attributes.name, attributes.descriptor, request.input(1).shape);
  if (has_nothing_to_do(geometry)) return make_nothing();
  return make_pooling_gradient(geometry, reduction, request);
}

template <class Attributes>
Kernel maximum_gradient(const Attributes& attributes, const KernelRequest& request) {
  const PoolingGeometry geometry = pooling_geometry(attributes.name, attributes.descriptor,
                                                    request.has(1) ? request.input(1).shape : attributes.output_shape);
  if (has_nothing_to_do(geometry)) return make_nothing();
  return request.has(1) ? make_maximum_pooling_gradient(geometry, request)
                        : make_maximum_pooling_gradient_from_indices(attributes.name, geometry, request);
}

}  // namespace

Kernel make_kernel(const MaxPooling2D& attributes, const KernelRequest& request) {
  return forward(attributes, PoolingReduction::Maximum, request);
}
Kernel make_kernel(const MaxPooling4D& attributes, const KernelRequest& request) {
  return forward(attributes, PoolingReduction::Maximum, request);
}
Kernel make_kernel(const MaxPooling2DReturnIndices& attributes, const KernelRequest& request) {
  return forward(attributes, PoolingReduction::Maximum, request);
}
Kernel make_kernel(const MaxPooling4DReturnIndices& attributes, const KernelRequest& request) {
  return forward(attributes, PoolingReduction::Maximum, request);
}
Kernel make_kernel(const AvgPooling2D& attributes, const KernelRequest& request) {
  return forward(attributes, PoolingReduction::Average, request);
}
Kernel make_kernel(const AvgPooling4D& attributes, const KernelRequest& request) {
  return forward(attributes, PoolingReduction::Average, request);
}
Kernel make_kernel(const L2NormPooling4D& attributes, const KernelRequest& request) {
  return forward(attributes, PoolingReduction::L2Norm, request);
}
Kernel make_kernel(const AvgPooling2DGradient& attributes, const KernelRequest& request) {
  return gradient(attributes, PoolingReduction::Average, request);
}
Kernel make_kernel(const AvgPooling4DGradient& attributes, const KernelRequest& request) {
  return gradient(attributes, PoolingReduction::Average, request);
}
Kernel make_kernel(const L2NormPooling4DGradient& attributes, const KernelRequest& request) {
  return gradient(attributes, PoolingReduction::L2Norm, request);
}
Kernel make_kernel(const MaxPooling2DGradient& attributes, const KernelRequest& request) {
  return maximum_gradient(attributes, request);
}
Kernel make_kernel(const MaxPooling4DGradient& attributes, const KernelRequest& request) {
  return maximum_gradient(attributes, request);
}

}  // namespace mpsgraph_native::cpu
