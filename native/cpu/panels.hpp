#pragma once

#include <cstdint>

#include "cpu/isa/matrix.hpp"

namespace mpsgraph_native::cpu {

/// The panel width that covers `rows` rows in the least time: wide panels load less for each product, narrow ones
/// waste fewer lanes on the last panel.
template <class T>
const PanelKernels<T>& panel_for_rows(const MatrixKernels<T>& kernels, std::int64_t rows) {
  const PanelKernels<T>* best = nullptr;
  double best_cost = 0;
  for (int i = 0; i < kernels.width_count; ++i) {
    const PanelKernels<T>& panel = kernels.widths[i];
    // Per column and step: the products, and what fetching the column costs beside them.
    const double cost = static_cast<double>((rows + panel.width - 1) / panel.width) * (panel.vectors + 0.35);
    if (!best || cost <= best_cost) {
      best = &panel;
      best_cost = cost;
    }
  }
  return *best;
}

}  // namespace mpsgraph_native::cpu
