#pragma once

namespace stand_in {

/// What Apple's framework does where an argument is wrong: prints the reason and ends the process.
[[noreturn]] void assertion_failure(const char* operation, const char* reason);

inline void require(bool condition, const char* operation, const char* reason) {
  if (!condition) assertion_failure(operation, reason);
}

}  // namespace stand_in
