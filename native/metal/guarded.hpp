#pragma once

#import <Foundation/Foundation.h>

#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "graph/error.hpp"

#if !__has_feature(objc_arc)
#error "the Metal engine is compiled with -fobjc-arc"
#endif

namespace mpsgraph_native::metal {

inline std::string to_string(NSString* string) {
  const char* const bytes = string.UTF8String;
  return bytes ? bytes : "";
}

/// The one gate between C++ and Objective-C: an NSException becomes a DeviceError, C++ exceptions pass. Both are
/// captured inside the autorelease pool and raised after it: a pool does not drain while an exception unwinds through
/// it, and a Python thread has no outer one.
template <class Function>
auto guarded(Function&& function) -> std::invoke_result_t<Function> {
  using Result = std::invoke_result_t<Function>;
  std::exception_ptr error;
  std::conditional_t<std::is_void_v<Result>, char, std::optional<Result>> result{};
  @autoreleasepool {
    try {
      @try {
        if constexpr (std::is_void_v<Result>)
          function();
        else
          result.emplace(function());
      } @catch (NSException* exception) {
        error = std::make_exception_ptr(
            DeviceError(text("device mps: ", to_string(exception.name), ": ", to_string(exception.reason))));
      }
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  if constexpr (!std::is_void_v<Result>) return std::move(*result);
}

}  // namespace mpsgraph_native::metal
