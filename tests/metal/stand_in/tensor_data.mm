// MPSGraph's types, devices and tensor data.
#include "assertion.hpp"
#include "element.hpp"
#include "tensors.hpp"

using stand_in::require;

namespace stand_in {

std::vector<std::int64_t> dims(NSArray<NSNumber*>* shape) {
  std::vector<std::int64_t> result;
  for (NSNumber* dim in shape) result.push_back(dim.longLongValue);
  return result;
}

NSArray<NSNumber*>* shape_of(const std::vector<std::int64_t>& dims) {
  NSMutableArray<NSNumber*>* shape = [NSMutableArray arrayWithCapacity:dims.size()];
  for (std::int64_t dim : dims) [shape addObject:@(static_cast<long long>(dim))];
  return shape;
}

}  // namespace stand_in

@implementation MPSGraphType
- (id)copyWithZone:(NSZone*)zone {
  return self;
}
@end

@implementation MPSGraphShapedType
- (instancetype)initWithShape:(MPSShape*)shape dataType:(MPSDataType)type {
  if ((self = [super init])) {
    self.shape = shape;
    self.dataType = type;
  }
  return self;
}
- (BOOL)isEqualTo:(MPSGraphShapedType*)other {
  return self.dataType == other.dataType && (self.shape == other.shape || [self.shape isEqual:other.shape]);
}
- (id)copyWithZone:(NSZone*)zone {
  return [[MPSGraphShapedType alloc] initWithShape:self.shape dataType:self.dataType];
}
@end

@implementation MPSGraphDevice {
  id<MTLDevice> _metal;
}
+ (instancetype)deviceWithMTLDevice:(id<MTLDevice>)metal {
  require(metal != nil, "deviceWithMTLDevice:", "the device must not be nil");
  MPSGraphDevice* device = [[self alloc] init];
  device->_metal = metal;
  return device;
}
- (MPSGraphDeviceType)type {
  return MPSGraphDeviceTypeMetal;
}
- (id<MTLDevice>)metalDevice {
  return _metal;
}
@end

@implementation MPSGraphTensorData
- (instancetype)initWithMPSNDArray:(MPSNDArray*)array {
  if ((self = [super init])) {
    require(array != nil, "initWithMPSNDArray:", "the array must not be nil");
    _array = array;
    _shape = stand_in::shape_of(array->_dims);
    _device = [MPSGraphDevice deviceWithMTLDevice:array.device];
  }
  return self;
}
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer
                            shape:(MPSShape*)shape
                         dataType:(MPSDataType)type
                         rowBytes:(NSUInteger)rowBytes {
  const char* method = "initWithMTLBuffer:shape:dataType:rowBytes:";
  require(buffer != nil, method, "buffer must not be nil");
  const std::vector<std::int64_t> dims = stand_in::dims(shape);
  const std::size_t size = stand_in::element_size(type);
  require(size > 0, method, "unsupported data type");
  require(dims.size() <= 16, method, "more than 16 dimensions");
  for (std::int64_t dim : dims) require(dim > 0, method, "every dimension must be positive");
  require(rowBytes % size == 0, method, "rowBytes must be a multiple of the element size");
  MPSNDArray* array = [[MPSNDArray alloc] initUnset];
  array->_buffer = buffer;
  array->_type = type;
  array->_dims = dims;
  array->_strides.resize(dims.size());
  auto stride = static_cast<std::int64_t>(size);
  for (std::size_t i = dims.size(); i-- > 0;) {
    array->_strides[i] = stride;
    stride *= dims[i];
    if (i + 1 == dims.size()) {
      require(rowBytes >= static_cast<NSUInteger>(stride), method, "rowBytes is less than a row");
      stride = static_cast<std::int64_t>(rowBytes);
    }
  }
  require(static_cast<NSUInteger>(stride) <= buffer.length, method, "buffer is not large enough");
  return [self initWithMPSNDArray:array];
}
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer shape:(MPSShape*)shape dataType:(MPSDataType)type {
  const NSUInteger row = shape.count ? shape.lastObject.unsignedIntegerValue : 1;
  return [self initWithMTLBuffer:buffer shape:shape dataType:type rowBytes:row * stand_in::element_size(type)];
}
- (instancetype)initWithDevice:(MPSGraphDevice*)device
                          data:(NSData*)data
                         shape:(MPSShape*)shape
                      dataType:(MPSDataType)type {
  const char* method = "initWithDevice:data:shape:dataType:";
  const auto count = static_cast<std::size_t>(stand_in::element_count(stand_in::dims(shape)));
  require(data.length == count * stand_in::element_size(type), method, "the data's length must match the shape");
  id<MTLBuffer> buffer = [device.metalDevice newBufferWithBytes:data.bytes
                                                         length:data.length
                                                        options:MTLResourceStorageModeShared];
  return [self initWithMTLBuffer:buffer shape:shape dataType:type];
}
- (MPSShape*)shape {
  return _shape;
}
- (MPSDataType)dataType {
  return _array->_type;
}
- (MPSGraphDevice*)device {
  return _device;
}
- (MPSNDArray*)mpsndarray {
  return _array;
}
@end
