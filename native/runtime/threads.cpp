#include "runtime/threads.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mpsgraph_native {
namespace {

constexpr int maximum_threads = 512;
// A worker that finds no work spins about as long as a small operation takes before it sleeps.
constexpr int spins_before_sleep = 4000;

std::atomic<std::int64_t> failing_chunk{-1};
thread_local bool inside_chunk = false;
thread_local std::int64_t most_chunks = 1;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int default_thread_count() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::atomic<int>& wanted_threads() {
  static std::atomic<int> count{default_thread_count()};
  return count;
}

struct Job {
  void (*body)(void*, std::int64_t) = nullptr;
  void* context = nullptr;
  std::int64_t chunks = 0;
};

/// Workers claim chunks of the job that is current from one atomic word, (generation << 32 | next chunk), so that a
/// late worker can never take a chunk of a job that has ended. The caller claims too: it finishes alone when no worker
/// gets a processor.
class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      ++generation_;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  /// False when another thread is using the pool.
  bool try_run(const Job& job) {
    const std::unique_lock in_use(use_, std::try_to_lock);
    if (!in_use) return false;
    grow(wanted_threads().load() - 1);
    std::uint32_t generation;
    {
      const std::lock_guard lock(mutex_);
      job_ = job;
      error_ = nullptr;
      generation = generation_.load() + 1;
      claim_.store(static_cast<std::uint64_t>(generation) << 32);
      generation_.store(generation);
    }
    if (sleepers_.load() > 0) wake_.notify_all();
    drain(generation, job);
    for (int spins = 0; active_.load() > 0; ++spins) {
      if (spins < spins_before_sleep)
        relax();
      else
        std::this_thread::yield();
    }
    if (error_) std::rethrow_exception(error_);
    return true;
  }

 private:
  void grow(int workers) {
    while (static_cast<int>(workers_.size()) < workers) {
      const int index = static_cast<int>(workers_.size());
      workers_.emplace_back([this, index] { work(index); });
    }
  }

  void work(int index) {
    std::uint32_t seen = 0;
    for (;;) {
      for (int spins = 0; generation_.load() == seen && spins < spins_before_sleep; ++spins) relax();
      if (generation_.load() == seen) {
        std::unique_lock lock(mutex_);
        ++sleepers_;
        wake_.wait(lock, [&] { return generation_.load() != seen; });
        --sleepers_;
      }
      Job job;
      {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        seen = generation_.load();
        job = job_;
      }
      if (index < wanted_threads().load() - 1) drain(seen, job);
    }
  }

  void drain(std::uint32_t generation, const Job& job) {
    for (;;) {
      std::uint64_t claim = claim_.load();
      if (claim >> 32 != generation || static_cast<std::int64_t>(claim & 0xffffffff) >= job.chunks) return;
      // Counted before the claim, so that the caller cannot see an idle pool between the two.
      active_.fetch_add(1);
      if (claim_.compare_exchange_strong(claim, claim + 1)) {
        inside_chunk = true;
        try {
          run_one(job, static_cast<std::int64_t>(claim & 0xffffffff));
        } catch (...) {
          const std::lock_guard lock(mutex_);
          if (!error_) error_ = std::current_exception();
          claim_.store((static_cast<std::uint64_t>(generation) << 32) | 0xffffffff);
        }
        inside_chunk = false;
      }
      active_.fetch_sub(1);
    }
  }

 public:
  static void run_one(const Job& job, std::int64_t chunk) {
    if (chunk == failing_chunk.load(std::memory_order_relaxed)) {
      failing_chunk.store(-1);
      throw std::runtime_error("injected failure in a worker");
    }
    job.body(job.context, chunk);
  }

 private:
  std::mutex use_;
  std::mutex mutex_;  // guards job_, error_, stopping_ and sleeping
  std::condition_variable wake_;
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<std::uint64_t> claim_{0};
  std::atomic<int> active_{0};
  std::atomic<int> sleepers_{0};
  Job job_;
  std::exception_ptr error_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

std::atomic<Pool*> current_pool{nullptr};

/// The pool lives until the process ends: joining at exit could wait for a chunk that waits for the exiting thread.
Pool& pool() {
  Pool* existing = current_pool.load();
  if (existing) return *existing;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { current_pool.store(nullptr); });
  static_cast<void>(registered);
  Pool* fresh = new Pool;
  if (current_pool.compare_exchange_strong(existing, fresh)) return *fresh;
  delete fresh;
  return *existing;
}

}  // namespace

int thread_count() { return wanted_threads().load(); }

void set_thread_count(int count) { wanted_threads().store(std::clamp(count, 1, maximum_threads)); }

void run_chunks(std::int64_t chunks, void (*body)(void*, std::int64_t), void* context) {
  const Job job{body, context, chunks};
  most_chunks = std::max(most_chunks, chunks);
  if (chunks > 1 && thread_count() > 1 && !inside_chunk && chunks < 0xffffffff && pool().try_run(job)) return;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) Pool::run_one(job, chunk);
}

int take_most_chunks() {
  const std::int64_t most = std::exchange(most_chunks, 1);
  return static_cast<int>(std::min<std::int64_t>(most, thread_count()));
}

void fail_in_worker_for_testing(std::int64_t chunk) { failing_chunk.store(chunk); }

}  // namespace mpsgraph_native
