#include "reduction.hpp"

using namespace stand_in;

@implementation MPSGraph (MPSGraphNormalizationOps)
- (MPSGraphTensor*)meanOfTensor:(MPSGraphTensor*)tensor axes:(NSArray<NSNumber*>*)axes name:(NSString*)name {
  const Site site{self, "mean"};
  const Dims shape = site.shape(tensor);
  site.require(axes != nil, "axes is nil");
  const std::vector<bool> reduced = reduced_axes(site, axes, shape.size());
  const Dims result = reduced_shape(shape, reduced);
  return site.add_one({tensor}, {result, site.floating_type({tensor})}, [=](const Operands& in) {
    Values means = folded(in[0].values, shape, reduced, 0, [](Value a, Value b) { return a + b; });
    for (Value& mean : means) mean /= static_cast<Value>(count(shape) / count(result));
    return means;
  });
}
@end
