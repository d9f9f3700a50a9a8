#pragma once

#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

// Nearer lines come too late: 8 KiB took up to 1.2 times as long.
constexpr std::int64_t fetch_distance = 32768;

/// Asks for the cache lines of two operands that are needed later, in the order of memory, a few with every step. Rows
/// that are taken several at a time touch memory in an order that the processor does not foresee. The lines go to the
/// second level: the first one can wait for too few lines at a time to keep memory busy. The first operand is read, the
/// second one written where `Writes` says so.
template <bool Writes>
class FetchAhead {
 public:
  /// From where this step uses them.
  MPSGRAPH_INLINE FetchAhead(const void* first, const void* second)
      : first_(reinterpret_cast<std::uintptr_t>(first) + fetch_distance),
        second_(reinterpret_cast<std::uintptr_t>(second) + fetch_distance) {}

  /// A step that uses so many vectors of each.
  template <int First, int Second>
  MPSGRAPH_INLINE void step() {
    advance<First, false>(first_);
    advance<Second, Writes>(second_);
  }

 private:
  template <int Vectors, bool Writing>
  static MPSGRAPH_INLINE void advance(std::uintptr_t& at) {
    constexpr int bytes = Vectors * vector_bytes, line = 64;
#pragma GCC unroll 32
    for (int i = 0; i < bytes; i += line) __builtin_prefetch(reinterpret_cast<const char*>(at + i), Writing ? 1 : 0, 2);
    at += bytes;
  }

  std::uintptr_t first_, second_;  // numbers: they leave the operands
};

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
