#pragma once

#import <Metal/Metal.h>

#include <functional>

namespace stand_in {

/// Runs `work` when its turn on the queue comes. Its argument is the error that the command buffer met, or nil.
void enqueue(id<MTLCommandQueue> queue, std::function<void(NSError*)> work);

}  // namespace stand_in
