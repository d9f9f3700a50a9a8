#include "runtime/transfer_statistics.hpp"

#include <atomic>

namespace mpsgraph_native {
namespace {

std::atomic<std::uint64_t> aliased{0};
std::atomic<std::uint64_t> copied{0};

}  // namespace

TransferStatistics transfer_statistics() {
  return {aliased.load(std::memory_order_relaxed), copied.load(std::memory_order_relaxed)};
}
void count_device_aliased_bytes(std::uint64_t bytes) { aliased.fetch_add(bytes, std::memory_order_relaxed); }
void count_device_copied_bytes(std::uint64_t bytes) { copied.fetch_add(bytes, std::memory_order_relaxed); }

}  // namespace mpsgraph_native
