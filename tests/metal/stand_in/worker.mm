#include "worker.hpp"

#import <Foundation/Foundation.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace stand_in {
namespace {

std::atomic<int> unfinished_jobs{0};

}  // namespace

struct Worker::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool stopping = false;
  bool started = false;

  /// The next job; empty when there will be none.
  std::function<void()> next() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stopping || !jobs.empty(); });
    if (jobs.empty()) return {};
    std::function<void()> job = std::move(jobs.front());
    jobs.pop_front();
    return job;
  }
};

Worker::Worker() : state_(std::make_shared<State>()) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
}

void Worker::submit(std::function<void()> job) {
  const std::lock_guard lock(state_->mutex);
  state_->jobs.push_back(std::move(job));
  unfinished_jobs.fetch_add(1, std::memory_order_relaxed);
  if (!state_->started) {
    state_->started = true;
    // Not joined: the last reference to a queue may go on this very thread.
    std::thread([state = state_] {
      while (std::function<void()> run = state->next()) {
        @autoreleasepool {
          run();
          run = nullptr;
        }
        unfinished_jobs.fetch_sub(1, std::memory_order_release);
        unfinished_jobs.notify_all();
      }
    }).detach();
  }
  state_->changed.notify_all();
}

void wait_until_idle() {
  for (int left = unfinished_jobs; left != 0; left = unfinished_jobs) unfinished_jobs.wait(left);
}

}  // namespace stand_in
