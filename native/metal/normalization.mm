#include "metal/lowerings.hpp"
#include "metal/reduced_axes.hpp"

namespace mpsgraph_native::metal {

Lowered lower(const Mean& attributes, const LoweringSite& site) {
  NSArray<NSNumber*>* axes = reduced_axes(attributes, *site.input_types[0]);
  // What an empty list of axes means is not documented.
  if (axes.count == 0) return {[site.graph identityWithTensor:site.inputs[0] name:nil]};
  return {[site.graph meanOfTensor:site.inputs[0] axes:axes name:nil]};
}

}  // namespace mpsgraph_native::metal
