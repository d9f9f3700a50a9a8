#pragma once

#include <cstdint>

namespace mpsgraph_native::cpu {

/// Half-precision elements to float32 and back, rounding to nearest even; NaN stays NaN.
struct ConversionKernels {
  void (*float16_to_float32)(const std::uint16_t* source, std::int64_t count, float* destination);
  void (*float32_to_float16)(const float* source, std::int64_t count, std::uint16_t* destination);
  void (*bfloat16_to_float32)(const std::uint16_t* source, std::int64_t count, float* destination);
  void (*float32_to_bfloat16)(const float* source, std::int64_t count, std::uint16_t* destination);
};

}  // namespace mpsgraph_native::cpu
