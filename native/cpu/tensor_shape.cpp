#include <cstring>
#include <limits>

#include "cpu/kernels.hpp"
#include "cpu/partition.hpp"
#include "cpu/strided_copy.hpp"
#include "graph/axes.hpp"

namespace mpsgraph_native::cpu {
namespace {

Kernel copy_kernel(DataType dtype, const LoopNest<2>& nest, std::int64_t destination_offset,
                   std::int64_t source_offset) {
  const std::size_t size = byte_size(dtype);
  return {.run = [copy = StridedCopy(size, nest), from = static_cast<std::size_t>(source_offset) * size,
                  to = static_cast<std::size_t>(destination_offset) * size](const Invocation& invocation) {
    copy.run(invocation, invocation.input<std::byte>(0) + from, invocation.output<std::byte>(0) + to);
  }};
}

/// The loops over a slice, the contiguous array first and the sliced one second, and where the slice begins in it.
struct SliceLoops {
  LoopNest<2> nest;
  std::int64_t offset = 0;
};

template <class Attributes>
SliceLoops slice_loops(const Attributes& attributes, const Shape& sliced) {
  const auto axes = resolve_slice(Attributes::name, sliced, attributes.starts, attributes.ends, attributes.strides);
  const Shape strides = contiguous_strides(sliced);
  SliceLoops loops;
  std::int64_t contiguous = 1;
  for (int axis = sliced.rank() - 1; axis >= 0; --axis) {
    const SliceAxis& taken = axes[static_cast<std::size_t>(axis)];
    loops.nest.insert(loops.nest.begin(), {taken.count, {contiguous, strides[axis] * taken.stride}});
    loops.offset += taken.start * strides[axis];
    contiguous *= taken.count;
  }
  if (contiguous == 0) loops.offset = 0;  // the start may lie at the end, and nothing is touched
  return loops;
}

/// Floating to integer truncates toward zero and saturates, NaN gives 0; to bool, everything but 0 is true.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // The bounds are powers of two: exact in every floating type.
    constexpr From below = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From above = From(2) * static_cast<From>(To(1) << (std::numeric_limits<To>::digits - 1));
    // Selections in place of branches, so that the loop is widened.
    const To inside = static_cast<To>(value >= below && value < above ? value : From(0));
    return value >= above ? std::numeric_limits<To>::max() : value < below ? std::numeric_limits<To>::min() : inside;
  } else {
    return static_cast<To>(value);
  }
}

/// Calls f with the C++ type of the elements; half-precision ones arrive as float.
template <class F>
Kernel for_any_type(DataType dtype, F&& f) {
  switch (dtype) {
    case DataType::Float64: return f(std::type_identity<double>());
    case DataType::Int8: return f(std::type_identity<std::int8_t>());
    case DataType::Int16: return f(std::type_identity<std::int16_t>());
    case DataType::Int32: return f(std::type_identity<std::int32_t>());
    case DataType::Int64: return f(std::type_identity<std::int64_t>());
    case DataType::UInt8: return f(std::type_identity<std::uint8_t>());
    case DataType::UInt16: return f(std::type_identity<std::uint16_t>());
    case DataType::UInt32: return f(std::type_identity<std::uint32_t>());
    case DataType::UInt64: return f(std::type_identity<std::uint64_t>());
    case DataType::Bool: return f(std::type_identity<bool>());
    case DataType::Float16:
    case DataType::BFloat16:
    case DataType::Float32: break;
  }
  return f(std::type_identity<float>());
}

}  // namespace

Kernel make_kernel(const Reshape&, const KernelRequest& request) { return make_copy_kernel(request.input(0)); }

Kernel make_kernel(const Transpose& attributes, const KernelRequest& request) {
  const TensorType& source = request.input(0);
  const Shape source_strides = contiguous_strides(source.shape);
  const Shape destination_strides = contiguous_strides(request.outputs[0].shape);
  LoopNest<2> nest;
  for (int axis = 0; axis < source.shape.rank(); ++axis) {
    const int from = resolve_axis({}, "permutation", attributes.permutation[axis], source.shape.rank());
    nest.push_back({source.shape[from], {destination_strides[axis], source_strides[from]}});
  }
  return copy_kernel(source.dtype, nest, 0, 0);
}

Kernel make_kernel(const Broadcast&, const KernelRequest& request) {
  const TensorType& source = request.input(0);
  const Shape& shape = request.outputs[0].shape;
  const Shape source_strides = contiguous_strides(source.shape), destination_strides = contiguous_strides(shape);
  const int added = shape.rank() - source.shape.rank();
  LoopNest<2> nest;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int from = axis - added;
    const bool repeats = from < 0 || source.shape[from] == 1;
    nest.push_back({shape[axis], {destination_strides[axis], repeats ? 0 : source_strides[from]}});
  }
  return copy_kernel(source.dtype, nest, 0, 0);
}

Kernel make_kernel(const Cast&, const KernelRequest& request) {
  const std::int64_t elements = request.input(0).shape.elements();
  return for_any_type(request.input(0).dtype, [&]<class From>(std::type_identity<From>) {
    return for_any_type(request.outputs[0].dtype, [&]<class To>(std::type_identity<To>) {
      return Kernel{.run = [elements](const Invocation& invocation) {
        for_each_chunk(invocation, elements, default_grain, [&](std::int64_t begin, std::int64_t end) {
          const From* source = invocation.input<From>(0);
          To* result = invocation.output<To>(0);
          for (std::int64_t i = begin; i < end; ++i) result[i] = convert<To>(source[i]);
        });
      }};
    });
  });
}

Kernel make_kernel(const Slice& attributes, const KernelRequest& request) {
  const TensorType& source = request.input(0);
  const SliceLoops loops = slice_loops(attributes, source.shape);
  return copy_kernel(source.dtype, loops.nest, 0, loops.offset);
}

Kernel make_kernel(const SliceGradient& attributes, const KernelRequest& request) {
  SliceLoops loops = slice_loops(attributes, attributes.fwd_in_shape);
  for (LoopAxis<2>& axis : loops.nest) std::swap(axis.strides[0], axis.strides[1]);
  const TensorType& result = request.outputs[0];
  Kernel scatter = copy_kernel(result.dtype, loops.nest, loops.offset, 0);
  if (request.input(0).shape == result.shape) return scatter;
  const auto bytes = static_cast<std::int64_t>(byte_size(result.dtype)) * result.shape.elements();
  return {.run = [scatter, bytes](const Invocation& invocation) {
    for_each_chunk(invocation, bytes, default_grain * 4, [&](std::int64_t begin, std::int64_t end) {
      std::memset(invocation.output<std::byte>(0) + begin, 0, static_cast<std::size_t>(end - begin));
    });
    scatter.run(invocation);
  }};
}

}  // namespace mpsgraph_native::cpu
