#include "metal.hpp"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "assertion.hpp"
#include "controls.hpp"
#include "worker.hpp"

using stand_in::require;

NSErrorDomain const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";

@class StandInDevice;

@interface StandInBuffer : NSObject <MTLBuffer> {
 @public
  id<MTLDevice> _device;
  void* _contents;
  NSUInteger _length;
  void (^_deallocator)(void*, NSUInteger);
  BOOL _owns;
}
@property(nullable, copy, atomic) NSString* label;
@end

@interface StandInQueue : NSObject <MTLCommandQueue> {
 @public
  id<MTLDevice> _device;
  stand_in::Worker _worker;
}
@property(nullable, copy, atomic) NSString* label;
@end

@interface StandInCommandBuffer : NSObject <MTLCommandBuffer> {
 @public
  StandInQueue* _queue;
  std::mutex _mutex;
  std::condition_variable _changed;
  std::vector<MTLCommandBufferHandler> _handlers;
  MTLCommandBufferStatus _status;
  NSError* _error;
  BOOL _handled;
}
@end

@interface StandInDevice : NSObject <MTLDevice>
@end

@implementation StandInBuffer
- (void)dealloc {
  if (_deallocator) _deallocator(_contents, _length);
  if (_owns)
    std::free(_contents);
  else
    stand_in::count_view(-1);
}
- (id<MTLDevice>)device {
  return _device;
}
- (MTLStorageMode)storageMode {
  return MTLStorageModeShared;
}
- (NSUInteger)length {
  return _length;
}
- (void*)contents {
  return _contents;
}
@end

@implementation StandInQueue
- (id<MTLDevice>)device {
  return _device;
}
- (id<MTLCommandBuffer>)commandBuffer {
  StandInCommandBuffer* buffer = [StandInCommandBuffer new];
  buffer->_queue = self;
  return buffer;
}
@end

@implementation StandInCommandBuffer
- (id<MTLCommandQueue>)commandQueue {
  return _queue;
}
- (MTLCommandBufferStatus)status {
  const std::lock_guard lock(_mutex);
  return _status;
}
- (NSError*)error {
  const std::lock_guard lock(_mutex);
  return _error;
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler {
  const std::lock_guard lock(_mutex);
  require(_status == MTLCommandBufferStatusNotEnqueued, "addCompletedHandler:", "the command buffer was committed");
  _handlers.push_back([handler copy]);
}
- (void)commit {
  {
    const std::lock_guard lock(_mutex);
    require(_status == MTLCommandBufferStatusNotEnqueued, "commit", "the command buffer was committed before");
    _status = MTLCommandBufferStatusCommitted;
  }
  StandInCommandBuffer* buffer = self;
  stand_in::enqueue(_queue, [buffer](NSError* error) {
    std::vector<MTLCommandBufferHandler> handlers;
    {
      const std::lock_guard lock(buffer->_mutex);
      buffer->_error = error;
      buffer->_status = error ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted;
      handlers.swap(buffer->_handlers);
    }
    for (MTLCommandBufferHandler handler : handlers) handler(buffer);
    {
      const std::lock_guard lock(buffer->_mutex);
      buffer->_handled = YES;
    }
    buffer->_changed.notify_all();
  });
}
- (void)waitUntilCompleted {
  std::unique_lock lock(_mutex);
  require(_status != MTLCommandBufferStatusNotEnqueued, "waitUntilCompleted", "the command buffer was not committed");
  _changed.wait(lock, [&] { return _handled; });
}
@end

static StandInBuffer* new_buffer(id<MTLDevice> device, void* contents, NSUInteger length, BOOL owns) {
  StandInBuffer* buffer = [StandInBuffer new];
  buffer->_device = device;
  buffer->_contents = contents;
  buffer->_length = length;
  buffer->_owns = owns;
  stand_in::count_buffer(static_cast<std::int64_t>(length), owns);
  return buffer;
}

@implementation StandInDevice
- (NSString*)name {
  return @"stand-in";
}
- (uint64_t)registryID {
  return 1;
}
- (BOOL)isLowPower {
  return NO;
}
- (BOOL)hasUnifiedMemory {
  return YES;
}
- (NSUInteger)maxBufferLength {
  return NSUInteger{1} << 32;
}
- (uint64_t)recommendedMaxWorkingSetSize {
  return uint64_t{1} << 32;
}
- (NSUInteger)currentAllocatedSize {
  return 0;
}
- (id<MTLCommandQueue>)newCommandQueue {
  StandInQueue* queue = [StandInQueue new];
  queue->_device = self;
  return queue;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  require(length > 0, "newBufferWithLength:options:", "length must not be zero");
  require(options == MTLResourceStorageModeShared, "newBufferWithLength:options:", "the stand-in shares its memory");
  if (length > self.maxBufferLength || stand_in::take_buffer_failure()) return nil;
  const std::size_t page = static_cast<std::size_t>(getpagesize());
  void* contents = std::aligned_alloc(page, (length + page - 1) / page * page);
  if (!contents) return nil;
  std::memset(contents, 0, length);
  return new_buffer(self, contents, length, YES);
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)bytes length:(NSUInteger)length options:(MTLResourceOptions)options {
  id<MTLBuffer> buffer = [self newBufferWithLength:length options:options];
  if (buffer) std::memcpy(buffer.contents, bytes, length);
  return buffer;
}
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void*, NSUInteger))deallocator {
  const char* method = "newBufferWithBytesNoCopy:length:options:deallocator:";
  const auto page = static_cast<std::uintptr_t>(getpagesize());
  require(pointer != nullptr && length > 0, method, "pointer and length must not be zero");
  require(reinterpret_cast<std::uintptr_t>(pointer) % page == 0, method, "pointer must be page aligned");
  require(length % page == 0, method, "length must be a multiple of the page size");
  require(options == MTLResourceStorageModeShared, method, "the caller's memory must be shared");
  if (length > self.maxBufferLength || stand_in::take_buffer_failure()) return nil;
  StandInBuffer* buffer = new_buffer(self, pointer, length, NO);
  buffer->_deallocator = [deallocator copy];
  stand_in::count_view(1);
  return buffer;
}
@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
  static StandInDevice* device = [StandInDevice new];
  return stand_in::device_present() ? device : nil;
}
NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  return device ? @[ device ] : @[];
}

namespace stand_in {

void enqueue(id<MTLCommandQueue> queue, std::function<void(NSError*)> work) {
  require([(id)queue isKindOfClass:[StandInQueue class]], "commit", "the command queue is nil or of another device");
  StandInQueue* target = static_cast<StandInQueue*>(queue);
  target->_worker.submit([work = std::move(work)] {
    if (delay() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay()));
    NSError* error = nil;
    if (take_command_buffer_failure()) {
      error = [NSError errorWithDomain:MTLCommandBufferErrorDomain
                                  code:MTLCommandBufferErrorInternal
                              userInfo:@{NSLocalizedDescriptionKey : @"Internal Error (00000001:Stand-in)"}];
    }
    work(error);
  });
}

}  // namespace stand_in
