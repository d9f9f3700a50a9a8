#include "cpu/broadcasting.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/kernels.hpp"
#include "cpu/strided_copy.hpp"

namespace mpsgraph_native::cpu {
namespace {

// The functions that cost tens of cycles per vector are worth a second thread much earlier.
std::int64_t grain_of(UnaryFunction function) {
  switch (function) {
    case UnaryFunction::Exponent:
    case UnaryFunction::Logarithm:
    case UnaryFunction::Tanh: return default_grain / 4;
    default: return default_grain;
  }
}

/// Selection of elements that are only copied, for the widths that no kernel has.
template <class T>
void select_small(const ElementwiseBlock<3>& block, const std::uint8_t* predicate, const T* true_value,
                  const T* false_value, T* result) {
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const std::uint8_t* p = predicate + row * block.row_strides[0];
    const T* a = true_value + row * block.row_strides[1];
    const T* b = false_value + row * block.row_strides[2];
    T* out = result + row * block.result_stride;
    for (std::int64_t i = 0; i < block.columns; ++i)
      out[i] = p[i * block.column_strides[0]] ? a[i * block.column_strides[1]] : b[i * block.column_strides[2]];
  }
}

template <class T, class Select>
Kernel select_kernel(const KernelRequest& request, Select select) {
  return {.run = [select, loops = Broadcasting<3>(request.outputs[0].shape,
                                                  {&request.input(0).shape, &request.input(1).shape,
                                                   &request.input(2).shape})](const Invocation& invocation) {
    loops.run(invocation, [&](const ElementwiseBlock<3>& block, std::int64_t offset, const auto& offsets) {
      select(block, invocation.input<std::uint8_t>(0) + offsets[0], invocation.input<T>(1) + offsets[1],
             invocation.input<T>(2) + offsets[2], invocation.output<T>(0) + offset);
    });
  }};
}

/// A kernel of two operands that broadcast to the result.
template <class T, class Result, class Function>
Kernel binary_kernel(const KernelRequest& request, Function function) {
  return {.run = [function, loops = Broadcasting<2>(request.outputs[0].shape,
                                                    {&request.input(0).shape, &request.input(1).shape})](
                     const Invocation& invocation) {
    loops.run(invocation, [&](const ElementwiseBlock<2>& block, std::int64_t offset, const auto& offsets) {
      function(block, invocation.input<T>(0) + offsets[0], invocation.input<T>(1) + offsets[1],
               invocation.output<Result>(0) + offset);
    });
  }};
}

}  // namespace

Kernel make_unary_kernel(UnaryFunction function, const KernelRequest& request) {
  if (function == UnaryFunction::Identity) return make_copy_kernel(request.input(0));
  return for_number(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return Kernel{.run = [elements = request.input(0).shape.elements(), grain = grain_of(function),
                          unary = kernels<T>().elementwise.unary[static_cast<std::size_t>(function)]](
                             const Invocation& invocation) {
      for_each_chunk(invocation, elements, grain, [&](std::int64_t begin, std::int64_t end) {
        unary(invocation.input<T>(0) + begin, end - begin, invocation.output<T>(0) + begin);
      });
    }};
  });
}

Kernel make_binary_kernel(BinaryFunction function, const KernelRequest& request) {
  return for_number(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return binary_kernel<T, T>(request, kernels<T>().elementwise.binary[static_cast<std::size_t>(function)]);
  });
}

Kernel make_comparison_kernel(ComparisonFunction function, const KernelRequest& request) {
  return for_number(request.input(0).dtype, [&]<class T>(std::type_identity<T>) {
    return binary_kernel<T, std::uint8_t>(request,
                                          kernels<T>().elementwise.comparison[static_cast<std::size_t>(function)]);
  });
}

Kernel make_kernel(const Select&, const KernelRequest& request) {
  switch (byte_size(request.input(1).dtype)) {
    case 1: return select_kernel<std::uint8_t>(request, select_small<std::uint8_t>);
    case 2: return select_kernel<std::uint16_t>(request, select_small<std::uint16_t>);
    case 4: return select_kernel<std::int32_t>(request, kernels<std::int32_t>().elementwise.select);
    default: return select_kernel<std::int64_t>(request, kernels<std::int64_t>().elementwise.select);
  }
}

}  // namespace mpsgraph_native::cpu
