#include "metal/lowerings.hpp"
#include "metal/reduced_axes.hpp"

namespace mpsgraph_native::metal {
namespace {

/// `reduce` adds the reduction over axes of which there is at least one.
template <class Attributes, class Reduce>
Lowered reduce_over_axes(const Attributes& attributes, const LoweringSite& site, Reduce&& reduce) {
  NSArray<NSNumber*>* axes = reduced_axes(attributes, *site.input_types[0]);
  // What an empty list of axes means is not documented.
  if (axes.count == 0) return {[site.graph identityWithTensor:site.inputs[0] name:nil]};
  return {reduce(axes)};
}

template <class Attributes>
NSInteger axis_of(const Attributes& attributes, const LoweringSite& site) {
  return resolve_axis(attributes.name, "axis", attributes.axis, site.input_types[0]->shape.rank());
}

}  // namespace

Lowered lower(const ReductionSum& attributes, const LoweringSite& site) {
  return reduce_over_axes(attributes, site, [&](NSArray<NSNumber*>* axes) {
    return [site.graph reductionSumWithTensor:site.inputs[0] axes:axes name:nil];
  });
}

Lowered lower(const ReductionProduct& attributes, const LoweringSite& site) {
  return reduce_over_axes(attributes, site, [&](NSArray<NSNumber*>* axes) {
    return [site.graph reductionProductWithTensor:site.inputs[0] axes:axes name:nil];
  });
}

Lowered lower(const ReductionMaximum& attributes, const LoweringSite& site) {
  return reduce_over_axes(attributes, site, [&](NSArray<NSNumber*>* axes) {
    return [site.graph reductionMaximumWithTensor:site.inputs[0] axes:axes name:nil];
  });
}

Lowered lower(const ReductionMinimum& attributes, const LoweringSite& site) {
  return reduce_over_axes(attributes, site, [&](NSArray<NSNumber*>* axes) {
    return [site.graph reductionMinimumWithTensor:site.inputs[0] axes:axes name:nil];
  });
}

Lowered lower(const ReductionArgMaximum& attributes, const LoweringSite& site) {
  return {[site.graph reductionArgMaximumWithTensor:site.inputs[0] axis:axis_of(attributes, site) name:nil]};
}

Lowered lower(const ReductionArgMinimum& attributes, const LoweringSite& site) {
  return {[site.graph reductionArgMinimumWithTensor:site.inputs[0] axis:axis_of(attributes, site) name:nil]};
}

}  // namespace mpsgraph_native::metal
