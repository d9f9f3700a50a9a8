#include "runtime/executable_cache.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace mpsgraph_native {
namespace {

/// Owned copy of a one-operation signature.
struct SingleOperation {
  Operation operation;
  std::vector<std::optional<TensorType>> operands;
};

struct Key {
  const Engine* engine;
  std::variant<SingleOperation, Program> what;
};

/// A signature that is looked for, not yet copied.
struct SingleOperationView {
  const Operation& operation;
  std::span<const TensorType* const> operands;

  bool matches(const Key& key) const {
    const auto* single = std::get_if<SingleOperation>(&key.what);
    if (!single || single->operands.size() != operands.size() || !same(single->operation, operation)) return false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto& own = single->operands[i];
      if (own.has_value() != (operands[i] != nullptr) || (own && !(*own == *operands[i]))) return false;
    }
    return true;
  }
  std::variant<SingleOperation, Program> copy() const {
    SingleOperation single{operation, {}};
    for (const TensorType* type : operands) single.operands.push_back(type ? std::optional(*type) : std::nullopt);
    return single;
  }
  Program program() const { return single_operation_program(operation, operands); }
};

struct ProgramView {
  const Program& wanted;

  bool matches(const Key& key) const {
    const auto* program = std::get_if<Program>(&key.what);
    return program && *program == wanted;
  }
  std::variant<SingleOperation, Program> copy() const { return wanted; }
  const Program& program() const { return wanted; }
};

struct Entry {
  Key key;
  std::size_t hash;
  std::shared_future<std::shared_ptr<Executable>> executable;
  std::size_t bytes = 0;
  bool built = false;
};

std::atomic<bool> collide{false};

class Cache {
  using Entries = std::list<Entry>;  // most recently used first

 public:
  /// The executable when it is built, else null and nothing counted.
  template <class View>
  std::shared_ptr<Executable> find(const Engine& engine, std::size_t hash, const View& view) {
    if (collide.load(std::memory_order_relaxed)) hash = 0;
    const std::lock_guard lock(mutex_);
    const Entries::iterator found = locate(engine, hash, view);
    if (found == entries_.end() || !found->built) return nullptr;
    use(found);
    return found->executable.get();
  }

  template <class View>
  std::shared_ptr<Executable> get(const Engine& engine, std::size_t hash, const View& view) {
    if (collide.load(std::memory_order_relaxed)) hash = 0;
    std::promise<std::shared_ptr<Executable>> promise;
    Entries::iterator entry;
    {
      std::unique_lock lock(mutex_);
      const Entries::iterator found = locate(engine, hash, view);
      if (found != entries_.end()) {
        use(found);
        if (found->built) return found->executable.get();
        const auto pending = found->executable;
        lock.unlock();
        return pending.get();  // rethrows what the builder met
      }
      ++information_.misses;
      entry = add({{&engine, view.copy()}, hash, promise.get_future().share()});
    }
    // No lock is held while an engine compiles: that may take milliseconds and may call back into the system.
    try {
      const auto start = std::chrono::steady_clock::now();
      std::shared_ptr<Executable> executable = engine.compile(view.program());
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      promise.set_value(executable);
      finish(entry, executable->memory().total(), seconds.count());
      return executable;
    } catch (...) {
      promise.set_exception(std::current_exception());
      abandon(entry);
      throw;
    }
  }

  CacheInformation information() {
    const std::lock_guard lock(mutex_);
    CacheInformation result = information_;
    result.entries = entries_.size() - building_.size();
    return result;
  }

  void clear() {
    Entries dropped;  // destroyed after the lock is gone: freeing an executable may be slow
    const std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto next = std::next(entry);
      if (entry->built) drop(entry, dropped);
      entry = next;
    }
    const CacheInformation fresh{0, 0, 0, 0, 0, 0, information_.limit_entries, information_.limit_bytes};
    information_ = fresh;
  }

  void set_limits(std::size_t entries, std::size_t bytes) {
    Entries dropped;
    const std::lock_guard lock(mutex_);
    information_.limit_entries = entries;
    information_.limit_bytes = bytes;
    evict(dropped);
  }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  /// Threads that were building entries do not exist in a child: nobody would ever finish those.
  void unlock_in_child() {
    Entries dropped;
    for (const Entries::iterator entry : building_) drop(entry, dropped);
    building_.clear();
    mutex_.unlock();
  }

 private:
  template <class View>
  Entries::iterator locate(const Engine& engine, std::size_t hash, const View& view) {
    const auto [begin, end] = by_hash_.equal_range(hash);
    for (auto candidate = begin; candidate != end; ++candidate)
      if (candidate->second->key.engine == &engine && view.matches(candidate->second->key)) return candidate->second;
    return entries_.end();
  }

  /// Adds an entry that is being built, wholly or, where memory runs out, not at all.
  Entries::iterator add(Entry entry) {
    Entries added;
    added.push_front(std::move(entry));
    std::list<Entries::iterator> building{added.begin()};
    by_hash_.emplace(added.front().hash, added.begin());
    entries_.splice(entries_.begin(), added);
    building_.splice(building_.end(), building);
    return entries_.begin();
  }

  void use(Entries::iterator entry) {
    ++information_.hits;
    entries_.splice(entries_.begin(), entries_, entry);
  }

  void finish(Entries::iterator entry, std::size_t bytes, double seconds) {
    Entries dropped;
    const std::lock_guard lock(mutex_);
    building_.remove(entry);
    entry->built = true;
    entry->bytes = bytes;
    information_.bytes += bytes;
    information_.compile_seconds += seconds;
    evict(dropped);
  }

  void abandon(Entries::iterator entry) {
    Entries dropped;
    const std::lock_guard lock(mutex_);
    building_.remove(entry);
    drop(entry, dropped);
  }

  void evict(Entries& dropped) {
    auto entry = entries_.end();
    while (entry != entries_.begin() && (entries_.size() - building_.size() > information_.limit_entries ||
                                         information_.bytes > information_.limit_bytes)) {
      --entry;
      if (!entry->built) continue;
      const auto victim = entry++;
      drop(victim, dropped);
      ++information_.evictions;
    }
  }

  void drop(Entries::iterator entry, Entries& dropped) {
    const auto [begin, end] = by_hash_.equal_range(entry->hash);
    for (auto candidate = begin; candidate != end; ++candidate) {
      if (candidate->second != entry) continue;
      by_hash_.erase(candidate);
      break;
    }
    information_.bytes -= entry->bytes;
    dropped.splice(dropped.end(), entries_, entry);
  }

  std::mutex mutex_;
  Entries entries_;
  std::unordered_multimap<std::size_t, Entries::iterator> by_hash_;
  std::list<Entries::iterator> building_;
  CacheInformation information_{0, 0, 0, 0, 0, 0, 4096, std::size_t(1) << 30};
};

Cache& cache();

/// A fork copies the lock as it is; holding it across the fork leaves the child a free one.
Cache* make_cache() {
  pthread_atfork([] { cache().lock(); }, [] { cache().unlock(); }, [] { cache().unlock_in_child(); });
  return new Cache;
}

Cache& cache() {
  static Cache* const instance = make_cache();  // never destroyed: calls may still run at interpreter exit
  return *instance;
}

std::size_t signature_hash(std::size_t operation_hash, const OperandTypes& operands) {
  std::size_t hash = operation_hash;
  for (const TensorType* type : operands.view()) hash = hash_combine(hash, type ? hash_of(*type) : 1);
  return hash;
}

}  // namespace

std::shared_ptr<Executable> cached_executable(const Engine& engine, const Operation& operation,
                                              std::size_t operation_hash, const OperandTypes& operands) {
  return cache().get(engine, signature_hash(operation_hash, operands), SingleOperationView{operation, operands.view()});
}

std::shared_ptr<Executable> find_executable(const Engine& engine, const Operation& operation,
                                            std::size_t operation_hash, const OperandTypes& operands) {
  return cache().find(engine, signature_hash(operation_hash, operands),
                      SingleOperationView{operation, operands.view()});
}

std::shared_ptr<Executable> cached_executable(const Engine& engine, const Program& program, std::size_t program_hash) {
  return cache().get(engine, program_hash, ProgramView{program});
}

CacheInformation cache_information() { return cache().information(); }
void clear_cache() { cache().clear(); }
void set_cache_limits(std::size_t entries, std::size_t bytes) { cache().set_limits(entries, bytes); }
void force_hash_collisions_for_testing(bool enabled) { collide.store(enabled); }

}  // namespace mpsgraph_native
