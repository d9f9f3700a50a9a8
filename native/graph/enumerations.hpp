#pragma once

#include <cstdint>
#include <string_view>

namespace mpsgraph_native {

// MPSGraph's enumerations, with its values and its names.

enum class PaddingStyle : std::int64_t {
  Explicit = 0,
  TF_VALID = 1,
  TF_SAME = 2,
  ExplicitOffset = 3,
  ONNX_SAME_LOWER = 4
};

enum class TensorNamedDataLayout : std::int64_t {
  NCHW = 0,
  NHWC = 1,
  OIHW = 2,
  HWIO = 3,
  CHW = 4,
  HWC = 5,
  HW = 6,
  NCDHW = 7,
  NDHWC = 8,
  OIDHW = 9,
  DHWIO = 10,
};

enum class PoolingReturnIndicesMode : std::int64_t {
  None = 0,
  GlobalFlatten1D = 1,
  GlobalFlatten2D = 2,
  GlobalFlatten3D = 3,
  GlobalFlatten4D = 4,
  LocalFlatten1D = 5,
  LocalFlatten2D = 6,
  LocalFlatten3D = 7,
  LocalFlatten4D = 8,
};

enum class RNNActivation : std::int64_t { None = 0, Relu = 1, Tanh = 2, Sigmoid = 3, HardSigmoid = 4 };

/// MPSGraph's `Axis` is the same value as `None`.
enum class LossReductionType : std::int64_t { None = 0, Sum = 1, Mean = 2 };

std::string_view name_of(PaddingStyle value);
std::string_view name_of(TensorNamedDataLayout value);
std::string_view name_of(PoolingReturnIndicesMode value);
std::string_view name_of(RNNActivation value);
std::string_view name_of(LossReductionType value);

/// True when `value` is a member of E; the names are the list.
template <class E>
bool enumeration_has(std::int64_t value) {
  return !name_of(static_cast<E>(value)).empty();
}

}  // namespace mpsgraph_native
