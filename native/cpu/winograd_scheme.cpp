#include "cpu/winograd_scheme.hpp"

#include <algorithm>

namespace mpsgraph_native::cpu {

std::array<WinogradScheme::Members, winograd_weights_points> WinogradScheme::members() const {
  // The last weight of an axis meets all its further points.
  const auto weight = [](std::int64_t point) { return std::min<std::int64_t>(point, winograd_weights_side - 1); };
  std::array<Members, winograd_weights_points> members;
  for (std::int64_t i = 0; i < side; ++i)
    for (std::int64_t j = 0; j < side; ++j)
      members[static_cast<std::size_t>(weight(i) * winograd_weights_side + weight(j))].push_back(i * side + j);
  return members;
}

std::optional<WinogradAxis> winograd_axis(const std::vector<CorrelationAxis>& axes) {
  using Kind = WinogradAxis::Kind;
  const CorrelationAxis& first = axes[0];
  if (axes.size() == 1) {
    if (first.taps != 3 || first.dilation != 1 || first.stride > 2 || first.result_step != 1) return std::nullopt;
    return WinogradAxis{first.stride == 1 ? Kind::Plain : Kind::Strided, first.origin, first};
  }
  if (axes.size() > 2) return std::nullopt;
  const CorrelationAxis& pair = axes[first.taps == 2 ? 0 : 1];
  const CorrelationAxis& single = axes[first.taps == 2 ? 1 : 0];
  if (pair.taps != 2 || single.taps != 1 || pair.dilation != 1 || pair.result_step != 2) return std::nullopt;
  CorrelationAxis weights = pair;
  weights.taps = 3;
  weights.kernel_step = single.kernel_begin - pair.kernel_begin;
  return WinogradAxis{pair.result_begin == 0 ? Kind::TwoTapsFirst : Kind::OneTapFirst, pair.origin, weights};
}

WinogradScheme winograd_scheme(WinogradAxis::Kind kind) {
  constexpr std::string_view plain_name = "Winograd F(4 x 4, 3 x 3)",
                             strided_name = "Winograd F(4 x 4, 2 x 2) by phases";
  const WinogradKernels& kernels = kernel_table().winograd;
  const auto filter = [](const WinogradFilter& of, std::string_view name, std::int64_t side, std::int64_t step) {
    return WinogradScheme{name,
                          side,
                          step,
                          4,
                          side,
                          of.transform_source,
                          of.transform_weights,
                          of.gather_results,
                          of.transform_gradient,
                          of.gather_weights};
  };
  const auto transposed = [&](const WinogradTransposedFilter& of) {
    return WinogradScheme{strided_name,     5, 4, 8, 9, of.transform_input, kernels.strided.transform_weights,
                          of.gather_results};
  };
  switch (kind) {
    case WinogradAxis::Kind::Plain: return filter(kernels.plain, plain_name, 6, 4);
    case WinogradAxis::Kind::Strided: return filter(kernels.strided, strided_name, 9, 8);
    case WinogradAxis::Kind::TwoTapsFirst: return transposed(kernels.two_taps_first);
    case WinogradAxis::Kind::OneTapFirst: break;
  }
  return transposed(kernels.one_tap_first);
}

}  // namespace mpsgraph_native::cpu
