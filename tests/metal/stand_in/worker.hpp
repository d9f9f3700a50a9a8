#pragma once

#include <functional>
#include <memory>

namespace stand_in {

/// A thread that runs jobs in order, as a command queue does. It ends by itself once its owner is gone.
class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void submit(std::function<void()> job);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Waits until no worker has a job, nor holds what a job held.
void wait_until_idle();

}  // namespace stand_in
