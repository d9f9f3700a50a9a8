#pragma once

#include <optional>
#include <vector>

#include "cpu/kernel.hpp"

namespace mpsgraph_native::cpu {

/// How an operation can be computed in parts, each of some consecutive items of the first dimension.
struct Cut {
  std::int64_t items = 0;           ///< of that dimension
  std::vector<TensorType> inputs;   ///< as they are cut: equal elementwise operands are one line. Absent: empty
  std::vector<TensorType> outputs;  ///< likewise
  std::vector<bool> input_is_cut;   ///< the others are needed whole by every part
  bool results_are_summed = false;  ///< every part gives a summand of the whole results
};

/// Empty for operations whose parts would need each other, or for which cutting is not worth it: those that prepare
/// their weights anew for every part.
std::optional<Cut> cut_of(const Operation& operation, const KernelRequest& request);

/// The operation of a part with `items` items.
Operation part_of(const Operation& operation, const Cut& cut, std::int64_t items);

}  // namespace mpsgraph_native::cpu
