#include "metal/buffer.hpp"

#include <unistd.h>

#include <bit>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "metal/availability.hpp"
#include "metal/guarded.hpp"
#include "metal/lowering.hpp"
#include "runtime/pages.hpp"
#include "runtime/transfer_statistics.hpp"

namespace mpsgraph_native::metal {
namespace {

constexpr std::size_t kept_views_limit = 512;
constexpr std::size_t pooled_limit = std::size_t(256) << 20;
/// Below this, making a view costs more than copying.
constexpr std::size_t smallest_inner_view = std::size_t(64) << 10;
constexpr std::size_t offset_alignment = 16;

std::size_t page_size() {
  static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::uintptr_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

/// nil where Metal cannot share the memory.
id<MTLBuffer> new_view(const Device& device, std::uintptr_t begin, std::size_t length) {
  return [device.metal newBufferWithBytesNoCopy:reinterpret_cast<void*>(begin)
                                         length:length
                                        options:MTLResourceStorageModeShared
                                    deallocator:nil];
}

/// Views of mappings of ours, by address, least recently used last. Only such memory tells when it dies: other memory
/// may go while objects that showed it live on, and be shown by new objects at every call.
class KeptViews {
 public:
  id<MTLBuffer> get(const Device& device, const Pages& mapping) {
    const std::uintptr_t begin = address_of(mapping.data);
    const std::lock_guard lock(mutex_);
    if (const auto found = by_address_.find(begin); found != by_address_.end()) {
      views_.splice(views_.begin(), views_, found->second);
      return found->second->buffer;
    }
    id<MTLBuffer> buffer = new_view(device, begin, mapping.capacity);
    if (buffer == nil) return nil;
    views_.push_front({begin, buffer});
    by_address_.emplace(begin, views_.begin());
    if (views_.size() > kept_views_limit) {
      by_address_.erase(views_.back().begin);
      views_.pop_back();
    }
    return buffer;
  }

  void forget(const void* data, std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    const auto first = by_address_.lower_bound(address_of(data));
    const auto last = by_address_.lower_bound(address_of(data) + capacity);
    for (auto view = first; view != last; ++view) views_.erase(view->second);
    by_address_.erase(first, last);
  }

 private:
  struct View {
    std::uintptr_t begin;
    id<MTLBuffer> buffer;
  };
  std::mutex mutex_;
  std::list<View> views_;
  std::map<std::uintptr_t, std::list<View>::iterator> by_address_;
};

KeptViews& views();

void forget_memory(const void* data, std::size_t capacity) noexcept {
  if (forked_from_metal()) return;
  try {
    guarded([&] { views().forget(data, capacity); });
  } catch (...) {  // the view outlives its memory unused: nothing finds it again
  }
}

KeptViews& views() {
  static KeptViews* const instance = [] {  // never destroyed: arrays may outlive every static object
    auto* const made = new KeptViews;
    set_forget_memory(forget_memory);
    return made;
  }();
  return *instance;
}

/// Shared buffers for memory that the device cannot see, in four size classes per power of two.
class BufferPool {
 public:
  id<MTLBuffer> acquire(const Device& device, std::size_t bytes) {
    const std::size_t capacity = capacity_for(bytes);
    {
      const std::lock_guard lock(mutex_);
      if (auto& stack = free_[capacity]; !stack.empty()) {
        id<MTLBuffer> buffer = stack.back();
        stack.pop_back();
        free_bytes_ -= capacity;
        return buffer;
      }
    }
    id<MTLBuffer> buffer = [device.metal newBufferWithLength:capacity options:MTLResourceStorageModeShared];
    if (buffer == nil) throw DeviceError(text("device mps: the GPU has no buffer of ", capacity, " bytes"));
    return buffer;
  }

  void release(id<MTLBuffer> buffer) {
    const std::size_t capacity = buffer.length;
    const std::lock_guard lock(mutex_);
    if (free_bytes_ + capacity > pooled_limit) return;
    free_[capacity].push_back(buffer);
    free_bytes_ += capacity;
  }

 private:
  static std::size_t capacity_for(std::size_t bytes) {
    const std::size_t step = std::max(page_size(), std::bit_floor(bytes) / 4);
    return (bytes + step - 1) / step * step;
  }

  std::mutex mutex_;
  std::unordered_map<std::size_t, std::vector<id<MTLBuffer>>> free_;
  std::size_t free_bytes_ = 0;
};

BufferPool& pool() {
  static BufferPool* const instance = new BufferPool;  // never destroyed, as above
  return *instance;
}

struct View {
  id<MTLBuffer> buffer;
  std::size_t offset;
};

bool offsets_work() { return running_macos() >= MacOS{15, 0}; }

/// The memory as the device can share it. Memory of ours is viewed as a whole mapping and remembered. Other memory is
/// viewed by the pages that enclose it, which stay mapped as long as the array lives; from an offset only what the
/// device reads, so that it writes to no page that holds something else before the array.
std::optional<View> view_of(const Device& device, const void* data, std::size_t bytes, bool written) {
  const std::uintptr_t begin = address_of(data);
  if (const Pages mapping = enclosing_pages(data); mapping.data) {
    const std::size_t offset = begin - address_of(mapping.data);
    const bool reachable = offset == 0 || (offset % offset_alignment == 0 && offsets_work());
    if (reachable && offset + bytes <= mapping.capacity)
      if (id<MTLBuffer> buffer = views().get(device, mapping); buffer != nil) return View{buffer, offset};
  }
  const std::size_t offset = begin % page_size();
  if (offset != 0 && (written || bytes < smallest_inner_view || offset % offset_alignment != 0 || !offsets_work()))
    return std::nullopt;
  const std::size_t length = (offset + bytes + page_size() - 1) / page_size() * page_size();
  id<MTLBuffer> buffer = new_view(device, begin - offset, length);
  if (buffer == nil) return std::nullopt;
  return View{buffer, offset};
}

MPSGraphTensorData* tensor_data_of(const View& view, const TensorType& type) {
  MPSShape* const shape = shape_array(type.shape);
  const MPSDataType dtype = data_type(type.dtype);
  if (view.offset != 0) {
    if (@available(macOS 15.0, *)) {
      MPSNDArrayDescriptor* const descriptor = [MPSNDArrayDescriptor descriptorWithDataType:dtype shape:shape];
      descriptor.preferPackedRows = YES;
      MPSNDArray* const array = [[MPSNDArray alloc] initWithBuffer:view.buffer
                                                            offset:view.offset
                                                        descriptor:descriptor];
      return [[MPSGraphTensorData alloc] initWithMPSNDArray:array];
    }
    throw DeviceError("device mps: a view from an offset needs macOS 15.0");
  }
  return [[MPSGraphTensorData alloc] initWithMTLBuffer:view.buffer shape:shape dataType:dtype];
}

}  // namespace

std::string reason_for_copy(const void* data, std::size_t bytes) {
  const std::uintptr_t begin = address_of(data);
  if (bytes == 0 || begin % page_size() == 0) return {};
  const Pages mapping = enclosing_pages(data);
  if (!mapping.data)
    return text("its alignment is below that of the device, which shares what begins on a page; it begins ",
                begin % page_size(), " bytes behind one");
  if (begin % offset_alignment != 0)
    return text("its alignment is below the ", offset_alignment, " bytes from which the device reads and writes");
  if (!offsets_work())
    return "before macOS 15.0 the alignment must be that of the array that it is a part of: it begins behind it";
  return {};
}

DeviceMemory DeviceMemory::of_input(const Device& device, const void* data, const TensorType& type) {
  DeviceMemory memory;
  memory.bytes_ = type.bytes();
  if (const auto view = view_of(device, data, memory.bytes_, false)) {
    memory.tensor_data_ = tensor_data_of(*view, type);
    count_device_aliased_bytes(memory.bytes_);
    return memory;
  }
  memory.pooled_ = pool().acquire(device, memory.bytes_);
  std::memcpy(memory.pooled_.contents, data, memory.bytes_);
  memory.tensor_data_ = tensor_data_of({memory.pooled_, 0}, type);
  count_device_copied_bytes(memory.bytes_);
  return memory;
}

DeviceMemory DeviceMemory::of_output(const Device& device, void* data, const TensorType& type) {
  DeviceMemory memory;
  memory.bytes_ = type.bytes();
  if (const auto view = view_of(device, data, memory.bytes_, true)) {
    memory.tensor_data_ = tensor_data_of(*view, type);
    return memory;
  }
  memory.pooled_ = pool().acquire(device, memory.bytes_);
  memory.destination_ = data;
  memory.tensor_data_ = tensor_data_of({memory.pooled_, 0}, type);
  return memory;
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : pooled_(std::exchange(other.pooled_, nil)),
      destination_(other.destination_),
      bytes_(other.bytes_),
      tensor_data_(std::exchange(other.tensor_data_, nil)) {}

DeviceMemory::~DeviceMemory() {
  tensor_data_ = nil;  // nobody may look at the buffer once another run can have it
  if (pooled_ == nil) return;
  try {
    pool().release(pooled_);
  } catch (const std::bad_alloc&) {  // the pool does without it
  }
}

void DeviceMemory::deliver() const {
  if (destination_) {
    std::memcpy(destination_, pooled_.contents, bytes_);
    count_device_copied_bytes(bytes_);
  } else {
    count_device_aliased_bytes(bytes_);
  }
}

}  // namespace mpsgraph_native::metal
