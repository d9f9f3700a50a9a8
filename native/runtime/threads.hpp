#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "graph/export.hpp"

namespace mpsgraph_native {

/// Threads that one call may use, the caller's included. At the start the processors that this process may
/// run on.
MPSGRAPH_API int thread_count();
MPSGRAPH_API void set_thread_count(int count);

/// Runs body(context, chunk) for every chunk in [0, chunks), on the caller and on idle pool threads.
/// Which thread takes a chunk is not determined; what a chunk does must not depend on it. The first exception is
/// rethrown here once every chunk that had started has ended. A call from inside a chunk, or while another thread
/// uses the pool, runs all its chunks on the caller: never a wait, never a deadlock.
void run_chunks(std::int64_t chunks, void (*body)(void* context, std::int64_t chunk), void* context);

/// run_chunks with a callable body(chunk).
template <class Body>
void parallel_for(std::int64_t chunks, Body&& body) {
  using Callable = std::remove_reference_t<Body>;
  run_chunks(
      chunks, [](void* context, std::int64_t chunk) { (*static_cast<Callable*>(context))(chunk); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

/// The most chunks that one parallel call of this thread had since it asked last; at least 1, at most the threads.
MPSGRAPH_API int take_most_chunks();

/// Contiguous share `part` of `parts` of the range [0, total).
struct Range {
  std::int64_t begin, end;
};
constexpr Range split_range(std::int64_t total, std::int64_t part, std::int64_t parts) {
  return {total * part / parts, total * (part + 1) / parts};
}

/// Fault hook: the next parallel call throws in this chunk; -1 disarms it.
MPSGRAPH_API void fail_in_worker_for_testing(std::int64_t chunk);

}  // namespace mpsgraph_native
