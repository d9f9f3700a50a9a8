#include "graph/enumerations.hpp"

#include <array>
#include <cstddef>

namespace mpsgraph_native {
namespace {

template <class E, std::size_t N>
std::string_view lookup(const std::array<std::string_view, N>& names, E value) {
  const auto index = static_cast<std::uint64_t>(value);
  return index < N ? names[index] : std::string_view();
}

constexpr std::array<std::string_view, 5> padding_styles = {"Explicit", "TF_VALID", "TF_SAME", "ExplicitOffset",
                                                            "ONNX_SAME_LOWER"};
constexpr std::array<std::string_view, 11> layouts = {"NCHW", "NHWC",  "OIHW",  "HWIO",  "CHW",  "HWC",
                                                      "HW",   "NCDHW", "NDHWC", "OIDHW", "DHWIO"};
constexpr std::array<std::string_view, 9> indices_modes = {
    "None",           "GlobalFlatten1D", "GlobalFlatten2D", "GlobalFlatten3D", "GlobalFlatten4D",
    "LocalFlatten1D", "LocalFlatten2D",  "LocalFlatten3D",  "LocalFlatten4D"};
constexpr std::array<std::string_view, 5> activations = {"None", "Relu", "Tanh", "Sigmoid", "HardSigmoid"};
constexpr std::array<std::string_view, 3> loss_reductions = {"None", "Sum", "Mean"};

}  // namespace

std::string_view name_of(PaddingStyle value) { return lookup(padding_styles, value); }
std::string_view name_of(TensorNamedDataLayout value) { return lookup(layouts, value); }
std::string_view name_of(PoolingReturnIndicesMode value) { return lookup(indices_modes, value); }
std::string_view name_of(RNNActivation value) { return lookup(activations, value); }
std::string_view name_of(LossReductionType value) { return lookup(loss_reductions, value); }

}  // namespace mpsgraph_native
