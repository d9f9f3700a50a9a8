#include "positions.hpp"

using namespace stand_in;

namespace {

/// What a slice takes: `count` elements of each dimension, from `start` on, `stride` apart.
struct SliceWindow {
  Dims start, stride, count;
};

/// Negative bounds count from the end; bounds beyond the dimension are clipped. Bit d of a mask: dimension d from its
/// beginning, to its end.
SliceWindow slice_window(const Site& site, const Dims& shape, NSArray<NSNumber*>* starts, NSArray<NSNumber*>* ends,
                         NSArray<NSNumber*>* strides, uint32_t startMask, uint32_t endMask) {
  const std::size_t rank = shape.size();
  site.require(starts.count == rank && ends.count == rank && strides.count == rank,
               "starts, ends and strides are not one per dimension");
  SliceWindow window{dims(starts), dims(strides), dims(ends)};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t size = shape[axis];
    site.require(window.stride[axis] > 0, "a stride is not positive");
    const auto bound = [&](std::int64_t value) {
      const std::int64_t counted = value < 0 ? value + size : value;
      return counted < 0 ? 0 : counted > size ? size : counted;
    };
    const std::int64_t start = startMask >> axis & 1 ? 0 : bound(window.start[axis]);
    const std::int64_t end = endMask >> axis & 1 ? size : bound(window.count[axis]);
    window.start[axis] = start;
    window.count[axis] = end > start ? (end - start + window.stride[axis] - 1) / window.stride[axis] : 0;
  }
  return window;
}

Dims squeezed(const Site& site, const Dims& shape, uint32_t squeezeMask) {
  Dims result;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool squeeze = squeezeMask >> axis & 1;
    site.require(!squeeze || shape[axis] == 1, "a squeezed dimension is not of size 1");
    if (!squeeze) result.push_back(shape[axis]);
  }
  return result;
}

Dims moved(const SliceWindow& window, Dims position) {
  for (std::size_t axis = 0; axis < position.size(); ++axis)
    position[axis] = window.start[axis] + position[axis] * window.stride[axis];
  return position;
}

MPSGraphTensor* add_slice(const Site& site, MPSGraphTensor* tensor, const SliceWindow& window, uint32_t squeezeMask) {
  const Dims shape = site.shape(tensor);
  return site.add_one({tensor}, {squeezed(site, window.count, squeezeMask), tensor.dataType}, [=](const Operands& in) {
    Values values(static_cast<std::size_t>(count(window.count)));
    each_position(window.count, [&](std::size_t number, const Dims& position) {
      values[number] = in[0].values[number_of(shape, moved(window, position))];
    });
    return values;
  });
}

}  // namespace

@implementation MPSGraph (MPSGraphSliceOps)
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                     dimension:(NSUInteger)dimension
                         start:(NSInteger)start
                        length:(NSInteger)length
                          name:(NSString*)name {
  const Site site{self, "slice"};
  const Dims shape = site.shape(tensor);
  site.require(dimension < shape.size(), "the dimension is out of range");
  const std::int64_t size = shape[dimension], from = start < 0 ? start + size : start;
  site.require(length > 0 && from >= 0 && from + length <= size, "the slice is out of range");
  SliceWindow window{Dims(shape.size(), 0), Dims(shape.size(), 1), shape};
  window.start[dimension] = from;
  window.count[dimension] = length;
  return add_slice(site, tensor, window, 0);
}
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                        starts:(NSArray<NSNumber*>*)starts
                          ends:(NSArray<NSNumber*>*)ends
                       strides:(NSArray<NSNumber*>*)strides
                          name:(NSString*)name {
  const Site site{self, "slice"};
  return add_slice(site, tensor, slice_window(site, site.shape(tensor), starts, ends, strides, 0, 0), 0);
}
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                        starts:(NSArray<NSNumber*>*)starts
                          ends:(NSArray<NSNumber*>*)ends
                       strides:(NSArray<NSNumber*>*)strides
                     startMask:(uint32_t)startMask
                       endMask:(uint32_t)endMask
                   squeezeMask:(uint32_t)squeezeMask
                          name:(NSString*)name {
  const Site site{self, "slice"};
  const SliceWindow window = slice_window(site, site.shape(tensor), starts, ends, strides, startMask, endMask);
  return add_slice(site, tensor, window, squeezeMask);
}

- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)gradient
                      fwdInShapeTensor:(MPSGraphTensor*)fwdInShapeTensor
                                starts:(NSArray<NSNumber*>*)starts
                                  ends:(NSArray<NSNumber*>*)ends
                               strides:(NSArray<NSNumber*>*)strides
                             startMask:(uint32_t)startMask
                               endMask:(uint32_t)endMask
                           squeezeMask:(uint32_t)squeezeMask
                                  name:(NSString*)name {
  const Site site{self, "sliceGradient"};
  Values sizes;
  site.require(site.shape(fwdInShapeTensor).size() == 1, "fwdInShapeTensor is not of rank 1");
  site.require(fwdInShapeTensor.dataType == MPSDataTypeInt32 || fwdInShapeTensor.dataType == MPSDataTypeInt64,
               "fwdInShapeTensor is not of type Int32 or Int64");
  site.require(constant_value(fwdInShapeTensor, sizes), "fwdInShapeTensor is no constant");
  Dims shape;
  for (const Value size : sizes) shape.push_back(static_cast<std::int64_t>(size));
  // As measured: both are refused when the graph runs.
  site.require(squeezeMask == 0, "squeezeMask is not 0");
  for (NSNumber* stride in strides) site.require(stride.integerValue == 1, "a stride is not 1");
  const SliceWindow window = slice_window(site, shape, starts, ends, strides, startMask, endMask);
  site.require(site.shape(gradient) == window.count, "the gradient does not have the shape of the slice");
  return site.add_one({gradient, fwdInShapeTensor}, {shape, gradient.dataType}, [=](const Operands& in) {
    Values values(static_cast<std::size_t>(count(shape)), 0);
    each_position(window.count, [&](std::size_t number, const Dims& position) {
      values[number_of(shape, moved(window, position))] = in[0].values[number];
    });
    return values;
  });
}
- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)gradient
                      fwdInShapeTensor:(MPSGraphTensor*)fwdInShapeTensor
                                starts:(NSArray<NSNumber*>*)starts
                                  ends:(NSArray<NSNumber*>*)ends
                               strides:(NSArray<NSNumber*>*)strides
                                  name:(NSString*)name {
  return [self sliceGradientTensor:gradient
                  fwdInShapeTensor:fwdInShapeTensor
                            starts:starts
                              ends:ends
                           strides:strides
                         startMask:0
                           endMask:0
                       squeezeMask:0
                              name:name];
}
@end
