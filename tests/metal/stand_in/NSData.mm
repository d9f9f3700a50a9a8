#import <Foundation/Foundation.h>

#include <cstdlib>
#include <vector>

@interface NSData () {
  std::vector<unsigned char> _copied;
  const void* _bytes;
  NSUInteger _length;
  BOOL _frees;
}
@end

@implementation NSData
+ (instancetype)dataWithBytes:(const void*)bytes length:(NSUInteger)length {
  NSData* data = [[self alloc] init];
  const auto* first = static_cast<const unsigned char*>(bytes);
  data->_copied.assign(first, first + length);
  data->_bytes = data->_copied.data();
  data->_length = length;
  return data;
}
+ (instancetype)dataWithBytesNoCopy:(void*)bytes length:(NSUInteger)length freeWhenDone:(BOOL)frees {
  NSData* data = [[self alloc] init];
  data->_bytes = bytes;
  data->_length = length;
  data->_frees = frees;
  return data;
}
- (void)dealloc {
  if (_frees) std::free(const_cast<void*>(_bytes));
}
- (NSUInteger)length {
  return _length;
}
- (const void*)bytes {
  return _bytes;
}
- (id)copyWithZone:(NSZone*)zone {
  return self;
}
@end
