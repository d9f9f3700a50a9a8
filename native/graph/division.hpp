#pragma once

#include <cstdint>

namespace mpsgraph_native {

/// a / b rounded up, of numbers that are not negative.
constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace mpsgraph_native
