#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "runtime/engine.hpp"

namespace mpsgraph_native {

/// Operand types of one call, held inline. Only those that are added are ever written: most calls have two.
class OperandTypes {
 public:
  static constexpr std::size_t capacity = 16;

  OperandTypes() {}
  OperandTypes(const OperandTypes&) = delete;
  OperandTypes& operator=(const OperandTypes&) = delete;

  void add(DataType dtype, int rank, const std::int64_t* dims) {
    pointers_[count_] = new (&storage_[count_])
        TensorType{dtype, Shape(std::span<const std::int64_t>(dims, static_cast<std::size_t>(rank)))};
    ++count_;
  }
  void add_absent() { pointers_[count_++] = nullptr; }

  std::span<const TensorType* const> view() const { return {pointers_.data(), count_}; }

 private:
  struct alignas(TensorType) Room {
    std::byte bytes[sizeof(TensorType)];
  };
  static_assert(std::is_trivially_destructible_v<TensorType>);

  std::size_t count_ = 0;
  std::array<Room, capacity> storage_;
  std::array<const TensorType*, capacity> pointers_;
};

struct CacheInformation {
  std::size_t entries = 0;
  std::size_t bytes = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;
  double compile_seconds = 0;
  std::size_t limit_entries = 0;
  std::size_t limit_bytes = 0;
};

// Executables by their whole signature: engine, every attribute of every operation, shapes, dtypes, wiring. The hash
// only finds candidates; equality decides. One thread builds a missing entry while others that want it wait for it.

/// The executable of one operation, as an array function calls it. `operation_hash` is hash_of(operation).
MPSGRAPH_API std::shared_ptr<Executable> cached_executable(const Engine& engine, const Operation& operation,
                                                           std::size_t operation_hash, const OperandTypes& operands);

/// The same when it is there, else null: never waits for an engine.
MPSGRAPH_API std::shared_ptr<Executable> find_executable(const Engine& engine, const Operation& operation,
                                                         std::size_t operation_hash, const OperandTypes& operands);

/// The executable of a program. `program_hash` is hash_of(program).
MPSGRAPH_API std::shared_ptr<Executable> cached_executable(const Engine& engine, const Program& program,
                                                           std::size_t program_hash);

MPSGRAPH_API CacheInformation cache_information();

/// Drops every entry and zeroes the counters. Executables in use live on until their last user is done.
MPSGRAPH_API void clear_cache();

/// Evicts least recently used entries beyond either limit, now and after each build.
MPSGRAPH_API void set_cache_limits(std::size_t entries, std::size_t bytes);

/// Fault hook: every signature hashes to the same value.
MPSGRAPH_API void force_hash_collisions_for_testing(bool enabled);

}  // namespace mpsgraph_native
