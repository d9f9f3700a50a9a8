#pragma once

#include <algorithm>
#include <array>

#include "cpu/dispatch.hpp"
#include "cpu/kernel.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {

inline TensorType widened(const TensorType& type) {
  return is_half(type.dtype) ? TensorType{DataType::Float32, type.shape} : type;
}

inline void widen(DataType dtype, const std::uint16_t* source, std::int64_t count, float* destination) {
  const ConversionKernels& conversion = kernel_table().conversion;
  (dtype == DataType::Float16 ? conversion.float16_to_float32 : conversion.bfloat16_to_float32)(source, count,
                                                                                                destination);
}

inline void narrow(DataType dtype, const float* source, std::int64_t count, std::uint16_t* destination) {
  const ConversionKernels& conversion = kernel_table().conversion;
  (dtype == DataType::Float16 ? conversion.float32_to_float16 : conversion.float32_to_bfloat16)(source, count,
                                                                                                destination);
}

/// body(begin, count) for pieces of an array that is to be converted; pieces change no result.
template <class Body>
void for_each_piece(std::int64_t count, Body body) {
  constexpr std::int64_t piece = 1 << 15;
  parallel_for((count + piece - 1) / piece,
               [&](std::int64_t chunk) { body(chunk * piece, std::min(piece, count - chunk * piece)); });
}

inline void widen_on_threads(DataType dtype, const std::uint16_t* source, std::int64_t count, float* destination) {
  for_each_piece(
      count, [&](std::int64_t begin, std::int64_t size) { widen(dtype, source + begin, size, destination + begin); });
}

inline void narrow_on_threads(DataType dtype, const float* source, std::int64_t count, std::uint16_t* destination) {
  for_each_piece(
      count, [&](std::int64_t begin, std::int64_t size) { narrow(dtype, source + begin, size, destination + begin); });
}

/// The operands of a run, some of them to be replaced. Operand lists are short; fixed arrays keep it free of
/// allocations.
struct OperandPointers {
  explicit OperandPointers(const Invocation& invocation) {
    std::copy(invocation.inputs.begin(), invocation.inputs.end(), inputs.begin());
    std::copy(invocation.outputs.begin(), invocation.outputs.end(), outputs.begin());
  }
  std::array<const void*, 32> inputs{};
  std::array<void*, 32> outputs{};
};

}  // namespace mpsgraph_native::cpu
