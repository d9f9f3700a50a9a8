#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "graph/graph.hpp"

namespace mpsgraph_native::metal {

/// Everything that a program computes, as text: two programs with one signature are the same program. None for programs
/// whose constants are too large to be kept in it. Lines of nodes begin with the operation's name and "(".
std::optional<std::string> signature_of(const Program& program);

/// The order in which a stored executable takes feeds and gives results, as places in the program's.
struct PackageOrder {
  std::vector<std::size_t> feeds;
  std::vector<std::size_t> results;
};

struct StoredPackage {
  std::filesystem::path path;
  PackageOrder order;
};

/// An entry as it lies on disk.
struct PackageEntry {
  std::string key;
  std::uintmax_t bytes = 0;
  double last_used = 0;                  ///< seconds since 1970
  std::optional<std::string> signature;  ///< none: damaged
};

/// Packages on disk, one folder each: `package`, and `entry`, which holds the whole signature and the size and hash of
/// each of the package's files. An entry is used only when all of it is as it was written, since MPSGraph may end the
/// process over a damaged package. The folder's name is a 128-bit hash of the signature.
class MPSGRAPH_API PackageStore {
 public:
  /// Entries may take `limit` bytes together.
  PackageStore(std::filesystem::path directory, std::uintmax_t limit)
      : directory_(std::move(directory)), limit_(limit) {}

  /// As long as it lives no process removes entries to make room.
  class Reading {
   public:
    explicit Reading(const PackageStore& store);
    ~Reading();
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    int directory_;
  };

  /// None where there is no entry. Raises std::exception where it is damaged.
  std::optional<StoredPackage> find(std::string_view signature) const;

  /// A fresh folder in which a package may be written as `package`. Raises std::exception where it cannot be made.
  std::filesystem::path begin() const;
  /// Puts the folder that `begin` made in its place in one step; one that another process put there stays. Entries that
  /// were not used for the longest time make room.
  void commit(const std::filesystem::path& folder, std::string_view signature, const PackageOrder& order) const;

  /// What is there, the most recently used first; nothing where there is no such directory. Raises std::exception where
  /// it cannot be read.
  std::vector<PackageEntry> entries() const;
  /// Removes every entry and what ended processes left; gives how many entries are gone. Raises std::exception where
  /// one cannot be removed.
  std::size_t clear() const;

  /// Removes a damaged entry, with a warning. Not to be called during a `Reading`.
  void discard(std::string_view signature, std::string_view problem) const;
  void warn_not_kept(std::string_view problem) const;

 private:
  std::filesystem::path folder_of(std::string_view signature) const;
  std::error_code remove(const std::filesystem::path& folder) const;
  std::vector<std::filesystem::path> folders() const;
  void remove_remains() const;
  std::filesystem::path fresh_path(std::string_view prefix) const;
  void shrink(std::uintmax_t added) const;
  std::uintmax_t evict_to_limit() const;

  std::filesystem::path directory_;
  std::uintmax_t limit_;
};

}  // namespace mpsgraph_native::metal
