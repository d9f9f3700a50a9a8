#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>

#include "graph/operation.hpp"

namespace mpsgraph_native::cpu {

/// One run of one kernel. Pointers are aligned to their element type, arrays are C-contiguous, absent inputs null.
struct Invocation {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  std::byte* scratch;  ///< 64-byte aligned: the shared part, then one slice per thread
  int threads;         ///< the number of chunks to split into, and of per-thread slices
  std::size_t shared_scratch;
  std::size_t scratch_per_thread;

  template <class T>
  const T* input(std::size_t index) const {
    return static_cast<const T*>(inputs[index]);
  }
  template <class T>
  T* output(std::size_t index) const {
    return static_cast<T*>(outputs[index]);
  }
};

/// An array inside a scratch area, reserved when the kernel is made.
template <class T>
struct Slot {
  std::size_t offset = 0;
};

/// Whole cache lines for so many bytes.
constexpr std::size_t round_to_line(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Lays out a scratch area, shared or per thread. Every slot begins on a cache line.
class ScratchLayout {
 public:
  template <class T>
  Slot<T> reserve(std::int64_t count) {
    const Slot<T> slot{bytes_};
    bytes_ += round_to_line(static_cast<std::size_t>(count) * sizeof(T));
    return slot;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

template <class T>
T* shared(const Invocation& invocation, Slot<T> slot) {
  return reinterpret_cast<T*>(invocation.scratch + slot.offset);
}
template <class T>
T* per_thread(const Invocation& invocation, std::int64_t thread, Slot<T> slot) {
  return reinterpret_cast<T*>(invocation.scratch + invocation.shared_scratch +
                              static_cast<std::size_t>(thread) * invocation.scratch_per_thread + slot.offset);
}

/// A prepared operation: everything that depends on shapes alone was decided when it was made, so a run allocates
/// nothing. Runs of one kernel may overlap: state lives in the scratch.
struct Kernel {
  std::size_t shared_scratch = 0;
  std::size_t scratch_per_thread = 0;
  std::function<void(const Invocation&)> run;
  std::string_view algorithm = {};  ///< for profiles, where there was a choice
  double operations = 0;            ///< multiplications and additions of the formula; 0 where memory is the limit
};

/// The types that a kernel is made for. Half-precision operands never get here: the executable converts them to
/// float32 around the kernel, so accumulation is in float32.
struct KernelRequest {
  std::span<const TensorType* const> inputs;  ///< null: absent
  std::span<const TensorType> outputs;

  const TensorType& input(std::size_t index) const { return *inputs[index]; }
  bool has(std::size_t index) const { return inputs[index] != nullptr; }
};

/// Calls f with std::type_identity of float or double.
template <class F>
Kernel for_floating(DataType dtype, F&& f) {
  if (dtype == DataType::Float64) return f(std::type_identity<double>());
  return f(std::type_identity<float>());
}

/// Calls f with std::type_identity of float, double, std::int32_t or std::int64_t.
template <class F>
Kernel for_number(DataType dtype, F&& f) {
  if (dtype == DataType::Int32) return f(std::type_identity<std::int32_t>());
  if (dtype == DataType::Int64) return f(std::type_identity<std::int64_t>());
  return for_floating(dtype, f);
}

}  // namespace mpsgraph_native::cpu
