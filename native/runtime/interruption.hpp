#pragma once

#include "graph/export.hpp"

namespace mpsgraph_native {

/// Whether what this thread runs shall end early.
using InterruptionCheck = bool (*)();

/// As long as it lives, runs of this thread ask `check` between their steps.
class MPSGRAPH_API Interruptible {
 public:
  explicit Interruptible(InterruptionCheck check);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  InterruptionCheck before_;
};

/// Of one run: to be called before each step. A check may have to wait for a lock of the caller's, and even the clock
/// costs as much as a small step, so that checks come some time apart and the clock is read once per some work.
class InterruptionPoll {
 public:
  InterruptionPoll();

  /// `work`: bytes and floating-point operations of the step to come. Raises Interrupted.
  void operator()(double work) {
    if (!check_) return;
    work_ += work;
    if (work_ >= work_between_looks) look();
  }

 private:
  static constexpr double work_between_looks = 1 << 20;  // takes tens of microseconds at least

  void look();

  InterruptionCheck check_;
  double work_ = 0;
};

}  // namespace mpsgraph_native
