#include <cstring>

#include "assertion.hpp"
#include "element.hpp"
#include "tensors.hpp"

using stand_in::require;

namespace stand_in {
namespace {

/// Strides of rows next to each other, each row padded to a multiple of `row_alignment` bytes.
std::vector<std::int64_t> row_strides(const std::vector<std::int64_t>& dims, MPSDataType type,
                                      std::int64_t row_alignment) {
  std::vector<std::int64_t> strides(dims.size());
  std::int64_t stride = static_cast<std::int64_t>(element_size(type));
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
    if (i + 1 == dims.size()) stride = (stride + row_alignment - 1) / row_alignment * row_alignment;
  }
  return strides;
}

/// Bytes from the first to one past the last element.
std::int64_t extent(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& strides, MPSDataType type) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i];
  return last + static_cast<std::int64_t>(element_size(type));
}

/// Bytes that MPSNDArray asks of a buffer: whole rows, the padding of the last one included.
std::int64_t demanded_bytes(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& strides,
                            MPSDataType type) {
  return dims.empty() ? static_cast<std::int64_t>(element_size(type))
                      : std::max(dims[0] * strides[0], extent(dims, strides, type));
}

/// Calls visit(byte offset in the array, element number) for every element, row-major.
template <class Visit>
void for_each_element(MPSNDArray* array, Visit&& visit) {
  const std::int64_t count = element_count(array->_dims);
  std::vector<std::int64_t> position(array->_dims.size());
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(offset, i, position);
    for (std::size_t axis = position.size(); axis-- > 0;) {
      offset += array->_strides[axis];
      if (++position[axis] < array->_dims[axis]) break;
      offset -= array->_dims[axis] * array->_strides[axis];
      position[axis] = 0;
    }
  }
}

char* first_element(MPSNDArray* array) { return static_cast<char*>(array->_buffer.contents) + array->_offset; }

void check_shape(const char* method, const std::vector<std::int64_t>& dims, MPSDataType type) {
  require(element_size(type) > 0, method, "unsupported data type");
  require(dims.size() <= 16, method, "more than 16 dimensions");
  for (std::int64_t dim : dims) require(dim > 0, method, "every dimension must be positive");
}

}  // namespace

std::int64_t element_count(const std::vector<std::int64_t>& dims) {
  std::int64_t count = 1;
  for (std::int64_t dim : dims) count *= dim;
  return count;
}

HostTensor read_tensor(MPSNDArray* array) {
  HostTensor tensor;
  tensor.shape = array->_dims;
  tensor.type = array->_type;
  tensor.values.reserve(static_cast<std::size_t>(element_count(array->_dims)));
  const char* base = first_element(array);
  for_each_element(array, [&](std::int64_t offset, std::int64_t, const auto&) {
    tensor.values.push_back(load_element(base + offset, array->_type));
  });
  return tensor;
}

void write_tensor(MPSNDArray* array, const HostTensor& tensor) {
  char* base = first_element(array);
  for_each_element(array, [&](std::int64_t offset, std::int64_t i, const auto&) {
    store_element(base + offset, array->_type, tensor.values[static_cast<std::size_t>(i)]);
  });
}

}  // namespace stand_in

@interface MPSNDArrayDescriptor () {
 @public
  std::vector<std::int64_t> _dims;
  BOOL _preferPackedRows;
}
- (instancetype)initWithType:(MPSDataType)type dims:(std::vector<std::int64_t>)dims;
@end

@implementation MPSNDArrayDescriptor
@synthesize dataType = _dataType;
@synthesize preferPackedRows = _preferPackedRows;
- (instancetype)initWithType:(MPSDataType)type dims:(std::vector<std::int64_t>)dims {
  if ((self = [super init])) {
    stand_in::check_shape("MPSNDArrayDescriptor", dims, type);
    _dataType = type;
    _dims = std::move(dims);
  }
  return self;
}
+ (instancetype)descriptorWithDataType:(MPSDataType)type shape:(MPSShape*)shape {
  return [[self alloc] initWithType:type dims:stand_in::dims(shape)];
}
+ (instancetype)descriptorWithDataType:(MPSDataType)type
                        dimensionCount:(NSUInteger)count
                        dimensionSizes:(NSUInteger*)sizes {
  std::vector<std::int64_t> dims;
  for (NSUInteger i = count; i-- > 0;) dims.push_back(static_cast<std::int64_t>(sizes[i]));
  return [[self alloc] initWithType:type dims:std::move(dims)];
}
- (NSUInteger)numberOfDimensions {
  return _dims.size();
}
- (void)setNumberOfDimensions:(NSUInteger)count {
  while (_dims.size() < count) _dims.insert(_dims.begin(), 1);
  while (_dims.size() > count) _dims.erase(_dims.begin());
}
- (NSUInteger)lengthOfDimension:(NSUInteger)index {
  return index < _dims.size() ? static_cast<NSUInteger>(_dims[_dims.size() - 1 - index]) : 1;
}
- (MPSShape*)getShape {
  return stand_in::shape_of(_dims);
}
@end

@implementation MPSNDArray
- (instancetype)initUnset {
  return [super init];
}
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSNDArrayDescriptor*)descriptor {
  if ((self = [super init])) {
    _dims = descriptor->_dims;
    _type = descriptor.dataType;
    _strides = stand_in::row_strides(_dims, _type, descriptor->_preferPackedRows ? 1 : 16);
    const std::int64_t bytes = stand_in::demanded_bytes(_dims, _strides, _type);
    _buffer = [device newBufferWithLength:static_cast<NSUInteger>(bytes) options:MTLResourceStorageModeShared];
    require(_buffer != nil, "initWithDevice:descriptor:", "out of memory");
  }
  return self;
}
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor*)descriptor {
  if ((self = [super init])) {
    const char* method = "initWithBuffer:offset:descriptor:";
    require(buffer != nil, method, "buffer must not be nil");
    _dims = descriptor->_dims;
    _type = descriptor.dataType;
    _strides = stand_in::row_strides(_dims, _type, descriptor->_preferPackedRows ? 1 : 16);
    require(offset % stand_in::element_size(_type) == 0, method, "offset must be a multiple of the element size");
    const auto bytes = static_cast<NSUInteger>(stand_in::demanded_bytes(_dims, _strides, _type));
    require(offset <= buffer.length && bytes <= buffer.length - offset, method, "buffer is not large enough");
    _buffer = buffer;
    _offset = offset;
  }
  return self;
}
- (MPSDataType)dataType {
  return _type;
}
- (size_t)dataTypeSize {
  return stand_in::element_size(_type);
}
- (NSUInteger)numberOfDimensions {
  return _dims.size();
}
- (NSUInteger)lengthOfDimension:(NSUInteger)index {
  return index < _dims.size() ? static_cast<NSUInteger>(_dims[_dims.size() - 1 - index]) : 1;
}
- (id<MTLDevice>)device {
  return _buffer.device;
}
- (MPSNDArrayDescriptor*)descriptor {
  return [MPSNDArrayDescriptor descriptorWithDataType:_type shape:stand_in::shape_of(_dims)];
}
- (id<MTLBuffer>)userBuffer {
  return _buffer;
}
- (NSUInteger)resourceSize {
  return _buffer.length;
}
- (MPSNDArray*)arrayViewWithShape:(MPSShape*)shape strides:(MPSShape*)strides {
  MPSNDArray* view = [[MPSNDArray alloc] initUnset];
  view->_buffer = _buffer;
  view->_offset = _offset;
  view->_type = _type;
  view->_dims = shape ? stand_in::dims(shape) : _dims;
  view->_strides = stand_in::dims(strides);
  stand_in::check_shape("arrayViewWithShape:strides:", view->_dims, _type);
  if (view->_strides.size() != view->_dims.size()) return nil;
  for (std::int64_t& stride : view->_strides) {
    if (stride < 0) return nil;
    stride *= static_cast<std::int64_t>(stand_in::element_size(_type));
  }
  const auto bytes = static_cast<NSUInteger>(stand_in::extent(view->_dims, view->_strides, _type));
  return bytes <= _buffer.length - _offset ? view : nil;
}
- (void)copyBytes:(char*)memory strideBytes:(NSInteger*)strides toMemory:(BOOL)toMemory {
  const std::size_t size = stand_in::element_size(_type);
  char* base = stand_in::first_element(self);
  stand_in::for_each_element(self, [&](std::int64_t offset, std::int64_t i, const auto& position) {
    std::int64_t at = i * static_cast<std::int64_t>(size);
    if (strides) {
      at = 0;
      for (std::size_t axis = 0; axis < position.size(); ++axis) {
        at += position[axis] * strides[position.size() - 1 - axis];
      }
    }
    toMemory ? std::memcpy(memory + at, base + offset, size) : std::memcpy(base + offset, memory + at, size);
  });
}
- (void)readBytes:(void*)memory strideBytes:(NSInteger*)strides {
  [self copyBytes:static_cast<char*>(memory) strideBytes:strides toMemory:YES];
}
- (void)writeBytes:(void*)memory strideBytes:(NSInteger*)strides {
  [self copyBytes:static_cast<char*>(memory) strideBytes:strides toMemory:NO];
}
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer {
  // Shared memory needs no synchronization.
}
@end
