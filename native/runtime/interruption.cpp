#include "runtime/interruption.hpp"

#include <chrono>
#include <utility>

#include "graph/error.hpp"

namespace mpsgraph_native {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto time_between_checks = std::chrono::milliseconds(50);

thread_local InterruptionCheck current_check = nullptr;
thread_local Clock::time_point last_check{};

}  // namespace

Interruptible::Interruptible(InterruptionCheck check) : before_(std::exchange(current_check, check)) {}
Interruptible::~Interruptible() { current_check = before_; }

InterruptionPoll::InterruptionPoll() : check_(current_check) {}

void InterruptionPoll::look() {
  work_ = 0;
  const Clock::time_point now = Clock::now();
  if (now - last_check < time_between_checks) return;
  last_check = now;
  if (check_()) throw Interrupted("the run was interrupted");
}

}  // namespace mpsgraph_native
