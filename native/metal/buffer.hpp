#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <cstddef>
#include <string>

#include "graph/types.hpp"
#include "metal/device.hpp"

namespace mpsgraph_native::metal {

/// Why the device cannot share memory both ways, as operand and as result; empty when it can.
std::string reason_for_copy(const void* data, std::size_t bytes);

/// The caller's memory as the device sees it during one run: the memory itself where the device can share it, else a
/// pooled buffer, which goes back to the pool at the end.
class DeviceMemory {
 public:
  static DeviceMemory of_input(const Device& device, const void* data, const TensorType& type);
  static DeviceMemory of_output(const Device& device, void* data, const TensorType& type);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory();

  /// What MPSGraph is handed.
  MPSGraphTensorData* tensor_data() const { return tensor_data_; }

  /// Brings the results to the caller's memory, once the device is done.
  void deliver() const;

 private:
  DeviceMemory() = default;

  id<MTLBuffer> pooled_ = nil;
  void* destination_ = nullptr;
  std::size_t bytes_ = 0;
  MPSGraphTensorData* tensor_data_ = nil;
};

}  // namespace mpsgraph_native::metal
