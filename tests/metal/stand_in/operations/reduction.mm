#include "reduction.hpp"

#include <cmath>
#include <limits>

#include "lines.hpp"

using namespace stand_in;

namespace stand_in {

std::vector<bool> reduced_axes(const Site& site, NSArray<NSNumber*>* axes, std::size_t rank) {
  std::vector<bool> reduced(rank, axes == nil);
  if (axes == nil) return reduced;
  site.require(axes.count > 0, "axes is empty");
  for (NSNumber* number in axes) {
    const std::size_t axis = site.axis(number.integerValue, rank);
    site.require(!reduced[axis], "axes names an axis twice");
    reduced[axis] = true;
  }
  return reduced;
}

Dims reduced_shape(const Dims& shape, const std::vector<bool>& reduced) {
  Dims result = shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (reduced[axis]) result[axis] = 1;
  return result;
}

}  // namespace stand_in

namespace {

constexpr Value infinity = std::numeric_limits<Value>::infinity();

using Fold = Value (*)(Value, Value);
using IntegerFold = __int128 (*)(__int128, __int128);

void require_number(const Site& site, MPSGraphTensor* tensor) {
  site.require(is_floating(tensor.dataType) || is_integer(tensor.dataType), "the tensor is not of a number type");
}

MPSGraphTensor* add_reduction(const Site& site, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes, Value seed,
                              Fold fold) {
  const Dims shape = site.shape(tensor);
  require_number(site, tensor);
  const std::vector<bool> reduced = reduced_axes(site, axes, shape.size());
  return site.add_one({tensor}, {reduced_shape(shape, reduced), tensor.dataType},
                      [=](const Operands& in) { return folded(in[0].values, shape, reduced, seed, fold); });
}

/// A fold whose integers wrap around.
MPSGraphTensor* add_reduction(const Site& site, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes, Value seed, Fold fold,
                              IntegerFold integer_fold) {
  if (tensor == nil || !is_integer(tensor.dataType)) return add_reduction(site, tensor, axes, seed, fold);
  const Dims shape = site.shape(tensor);
  const MPSDataType type = tensor.dataType;
  const std::vector<bool> reduced = reduced_axes(site, axes, shape.size());
  return site.add_one({tensor}, {reduced_shape(shape, reduced), type}, [=](const Operands& in) {
    return folded(in[0].values, shape, reduced, seed, [=](Value a, Value b) {
      return wrapped(type, integer_fold(static_cast<__int128>(a), static_cast<__int128>(b)));
    });
  });
}

MPSGraphTensor* add_sum(const Site& site, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes) {
  return add_reduction(
      site, tensor, axes, 0, [](Value a, Value b) { return a + b; }, [](__int128 a, __int128 b) { return a + b; });
}
MPSGraphTensor* add_product(const Site& site, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes) {
  return add_reduction(
      site, tensor, axes, 1, [](Value a, Value b) { return a * b; }, [](__int128 a, __int128 b) { return a * b; });
}
/// NaN is skipped.
MPSGraphTensor* add_maximum(const Site& site, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes) {
  return add_reduction(site, tensor, axes, -infinity, [](Value a, Value b) { return b > a ? b : a; });
}
MPSGraphTensor* add_minimum(const Site& site, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes) {
  return add_reduction(site, tensor, axes, infinity, [](Value a, Value b) { return b < a ? b : a; });
}
MPSGraphTensor* add_maximum_with_nan(const Site& site, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes) {
  return add_reduction(site, tensor, axes, -infinity, [](Value a, Value b) { return b > a || std::isnan(b) ? b : a; });
}
MPSGraphTensor* add_minimum_with_nan(const Site& site, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes) {
  return add_reduction(site, tensor, axes, infinity, [](Value a, Value b) { return b < a || std::isnan(b) ? b : a; });
}

/// Where the first extremum is, NaN skipped; -1 where every element is NaN.
MPSGraphTensor* add_arg(const Site& site, MPSGraphTensor* tensor, NSInteger axis, bool (*better)(Value, Value)) {
  const Dims shape = site.shape(tensor);
  require_number(site, tensor);
  const std::size_t along = site.axis(axis, shape.size());
  Dims result = shape;
  result[along] = 1;
  return site.add_one({tensor}, {result, MPSDataTypeInt32}, [=](const Operands& in) {
    Values places;
    each_line(shape, along, [&](std::size_t first, std::size_t step, std::size_t length) {
      Value best = 0, place = -1;
      for (std::size_t k = 0; k < length; ++k) {
        const Value value = in[0].values[first + k * step];
        if (std::isnan(value) || (place >= 0 && !better(value, best))) continue;
        best = value;
        place = static_cast<Value>(k);
      }
      places.push_back(place);
    });
    return places;
  });
}

}  // namespace

@implementation MPSGraph (MPSGraphReductionOps)
- (MPSGraphTensor*)reductionSumWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add_sum({self, "reductionSum"}, tensor, @[ @(axis) ]);
}
- (MPSGraphTensor*)reductionSumWithTensor:(MPSGraphTensor*)tensor axes:(NSArray<NSNumber*>*)axes name:(NSString*)name {
  return add_sum({self, "reductionSum"}, tensor, axes);
}
- (MPSGraphTensor*)reductionProductWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add_product({self, "reductionProduct"}, tensor, @[ @(axis) ]);
}
- (MPSGraphTensor*)reductionProductWithTensor:(MPSGraphTensor*)tensor
                                         axes:(NSArray<NSNumber*>*)axes
                                         name:(NSString*)name {
  return add_product({self, "reductionProduct"}, tensor, axes);
}
- (MPSGraphTensor*)reductionMaximumWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add_maximum({self, "reductionMaximum"}, tensor, @[ @(axis) ]);
}
- (MPSGraphTensor*)reductionMaximumWithTensor:(MPSGraphTensor*)tensor
                                         axes:(NSArray<NSNumber*>*)axes
                                         name:(NSString*)name {
  return add_maximum({self, "reductionMaximum"}, tensor, axes);
}
- (MPSGraphTensor*)reductionMinimumWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add_minimum({self, "reductionMinimum"}, tensor, @[ @(axis) ]);
}
- (MPSGraphTensor*)reductionMinimumWithTensor:(MPSGraphTensor*)tensor
                                         axes:(NSArray<NSNumber*>*)axes
                                         name:(NSString*)name {
  return add_minimum({self, "reductionMinimum"}, tensor, axes);
}
- (MPSGraphTensor*)reductionMaximumPropagateNaNWithTensor:(MPSGraphTensor*)tensor
                                                     axis:(NSInteger)axis
                                                     name:(NSString*)name {
  return add_maximum_with_nan({self, "reductionMaximumPropagateNaN"}, tensor, @[ @(axis) ]);
}
- (MPSGraphTensor*)reductionMaximumPropagateNaNWithTensor:(MPSGraphTensor*)tensor
                                                     axes:(NSArray<NSNumber*>*)axes
                                                     name:(NSString*)name {
  return add_maximum_with_nan({self, "reductionMaximumPropagateNaN"}, tensor, axes);
}
- (MPSGraphTensor*)reductionMinimumPropagateNaNWithTensor:(MPSGraphTensor*)tensor
                                                     axis:(NSInteger)axis
                                                     name:(NSString*)name {
  return add_minimum_with_nan({self, "reductionMinimumPropagateNaN"}, tensor, @[ @(axis) ]);
}
- (MPSGraphTensor*)reductionMinimumPropagateNaNWithTensor:(MPSGraphTensor*)tensor
                                                     axes:(NSArray<NSNumber*>*)axes
                                                     name:(NSString*)name {
  return add_minimum_with_nan({self, "reductionMinimumPropagateNaN"}, tensor, axes);
}
- (MPSGraphTensor*)reductionArgMaximumWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add_arg({self, "reductionArgMaximum"}, tensor, axis, [](Value a, Value b) { return a > b; });
}
- (MPSGraphTensor*)reductionArgMinimumWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add_arg({self, "reductionArgMinimum"}, tensor, axis, [](Value a, Value b) { return a < b; });
}
@end
