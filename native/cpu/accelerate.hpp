#pragma once

#include <cstdint>

namespace mpsgraph_native::cpu {

/// result [rows, columns] = primary [rows, depth] · secondary [depth, columns] by Apple's Accelerate, which reaches
/// the matrix coprocessor and uses threads of its own. Exists on Apple systems alone.
void accelerate_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, const float* primary,
                        const float* secondary, float* result);
void accelerate_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, const double* primary,
                        const double* secondary, double* result);

}  // namespace mpsgraph_native::cpu
