#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include "graph.hpp"

/// A window onto a buffer. Dimensions and strides slowest first; strides in bytes.
@interface MPSNDArray () {
 @public
  id<MTLBuffer> _buffer;
  NSUInteger _offset;
  std::vector<std::int64_t> _dims;
  std::vector<std::int64_t> _strides;
  MPSDataType _type;
}
- (instancetype)initUnset;
@end

@interface MPSGraphTensorData () {
 @public
  MPSNDArray* _array;
  MPSShape* _shape;
  MPSGraphDevice* _device;
}
@end

@interface MPSGraphOperation () {
 @public
  __weak MPSGraph* _graph;
  NSString* _name;
  std::vector<MPSGraphTensor*> _inputs;
  std::vector<MPSGraphTensor*> _outputs;
  stand_in::Compute _compute;
  NSUInteger _sequence;
}
- (instancetype)initUnset;
@end

@interface MPSGraphTensor () {
 @public
  MPSShape* _shape;
  MPSDataType _type;
  __weak MPSGraphOperation* _operation;
}
- (instancetype)initUnset;
@end

@interface MPSGraph () {
 @public
  std::vector<MPSGraphOperation*> _operations;
}
@end

namespace stand_in {

std::int64_t element_count(const std::vector<std::int64_t>& dims);
HostTensor read_tensor(MPSNDArray* array);
void write_tensor(MPSNDArray* array, const HostTensor& tensor);

}  // namespace stand_in
