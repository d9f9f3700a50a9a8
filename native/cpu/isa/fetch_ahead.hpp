#pragma once

#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

// How far ahead a plane's lines are asked for. Nearer ones come too late; further ones leave the caches again.
constexpr std::int64_t fetch_distance = 32768;

/// Asks for the cache lines of what is read and written later, in the order of memory, a few with every step. Rows that
/// are taken several at a time touch memory in an order that the processor does not foresee. The lines go to the second
/// level: the first one can wait for too few lines at a time to keep memory busy.
template <class T>
class FetchAhead {
 public:
  /// From where this step reads and writes.
  MPSGRAPH_INLINE FetchAhead(const T* reading, T* writing)
      : reading_(reinterpret_cast<const char*>(reading) + fetch_distance),
        writing_(reinterpret_cast<char*>(writing) + fetch_distance) {}

  /// A step that reads and writes so many vectors.
  template <int Read, int Written>
  MPSGRAPH_INLINE void step() {
    advance<Read, 0>(reading_);
    advance<Written, 1>(writing_);
  }

 private:
  template <int Vectors, int Writing, class P>
  static MPSGRAPH_INLINE void advance(P*& p) {
    constexpr int bytes = Vectors * vector_bytes, line = 64;
#pragma GCC unroll 32
    for (int i = 0; i < bytes; i += line) __builtin_prefetch(p + i, Writing, 2);
    p += bytes;
  }

  const char* reading_;
  char* writing_;
};

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
