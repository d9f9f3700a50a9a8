#pragma once

#include <cstdint>

#include "graph/export.hpp"

namespace mpsgraph_native {

/// How operands and results reached a device since the start: read or written where they lie, or through a copy.
struct TransferStatistics {
  std::uint64_t device_aliased_bytes = 0;
  std::uint64_t device_copied_bytes = 0;
};
MPSGRAPH_API TransferStatistics transfer_statistics();

void count_device_aliased_bytes(std::uint64_t bytes);
void count_device_copied_bytes(std::uint64_t bytes);

}  // namespace mpsgraph_native
