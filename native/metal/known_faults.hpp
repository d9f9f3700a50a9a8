#pragma once

#include "metal/availability.hpp"

namespace mpsgraph_native::metal {

/// What is reported to go wrong inside MPSGraph and touches operations of ours.
enum class Fault {
  LargeArray,
  LargeKernel,
  ManyOutputChannels,
  LargeMatrix,
  Int64Reduction,
  LongInnerProduct,
  DepthwiseMultiplier,
  DepthwisePadding,
  HalfWeightsGradient,
  StridedWeights,
  StridedPoolingGradient,
  PaddedPoolingSource,
  CeilModeWithPadding,
  WindowWithoutTap,
  Int64Indices,
  StridedSliceGradient,
  EmptyTensor,
  ScalarTensor,
};

/// One operation with what decides whether a fault concerns it.
struct FaultSite {
  const Operation& operation;
  std::span<const TensorType* const> inputs;  ///< null: absent
  std::span<const TensorType> outputs;
  std::span<const Operation* const> producers;  ///< what made each input; null or missing: it was fed
};

/// The argument that a fault comes in by; empty where the fault does not concern the site.
struct Suspect {
  std::string_view argument;
  const TensorType* type = nullptr;

  explicit operator bool() const { return type != nullptr; }
};

/// Whether the window of an output holds an element of the source.
bool has_tap(const WindowAxis& axis, std::int64_t output);

enum class Remedy {
  RefuseShape,   ///< ShapeError
  RefuseDevice,  ///< DeviceError naming the macOS that works
  Circumvent,    ///< the lowering goes another way
  Avoid,         ///< no lowering goes the way that has the fault, on any macOS
};

/// Metal's limit: see Fault::LargeArray.
inline constexpr std::size_t maximum_array_bytes = std::size_t{1} << 32;

/// A macOS that no release is known to have reached.
inline constexpr MacOS never{1 << 30, 0};

/// To add a row: name it in `Fault`; give the operations as their attribute structs are named (none: every operation),
/// the condition in words and as a function that names the argument, the first macOS without the fault (`never` while
/// none is known), what this engine does instead, and a public source. `Refuse...` rows work by themselves: `instead`
/// continues "operation: argument ..."; a lowering asks `concerned` about a `Circumvent` row; an `Avoid` row says why
/// every lowering is as it is. The rows stand in the order of `Fault`.
struct KnownFault {
  Fault fault;
  std::span<const std::string_view> operations;
  std::string_view condition;
  Suspect (*find)(const FaultSite& site);
  MacOS fixed_in;
  Remedy remedy;
  std::string_view instead;
  std::string_view source;
};
MPSGRAPH_API std::span<const KnownFault> known_faults();

/// Whether the fault concerns the site on the running macOS.
MPSGRAPH_API bool concerned(Fault fault, const FaultSite& site);
/// Raises what the first refusing row that concerns the site says.
MPSGRAPH_API void refuse_known_faults(const FaultSite& site);

/// How often the fault was refused, or a lowering went another way for it, or, under `Avoid`, concerned what was
/// compiled.
MPSGRAPH_API std::uint64_t encounters_for_testing(Fault fault);

}  // namespace mpsgraph_native::metal
