#include "metal/lowerings.hpp"

namespace mpsgraph_native::metal {

template <std::same_as<Operation> Any>
Lowered lower(const Any& operation, const LoweringSite& site) {
  return std::visit(
      [&]<class Attributes>(const Attributes& attributes) -> Lowered {
        if constexpr (std::is_same_v<Attributes, Placeholder> || std::is_same_v<Attributes, Constant>)
          throw CompileError(text(attributes.name, " is a value and is not lowered"));
        else
          return lower(attributes, site);
      },
      operation);
}

template Lowered lower(const Operation& operation, const LoweringSite& site);

}  // namespace mpsgraph_native::metal
