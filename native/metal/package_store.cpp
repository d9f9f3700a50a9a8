#include "metal/package_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <system_error>
#include <tuple>

#include "runtime/device_settings.hpp"

namespace mpsgraph_native::metal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_line = "mpsgraph_native package, format 1";
constexpr std::string_view new_prefix = ".new-", old_prefix = ".old-";
constexpr std::size_t largest_constants = std::size_t(64) << 10;

void append_hexadecimal(std::string& result, std::uint64_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) result += "0123456789abcdef"[(value >> shift) & 15];
}

/// FNV-1a of 128 bits: the same on every machine and in every version.
std::string hash_of_bytes(std::string_view bytes) {
  __extension__ using Wide = unsigned __int128;
  constexpr Wide prime = (Wide(1) << 88) + 0x13b;
  Wide hash = (Wide(0x6c62272e07bb0142) << 64) + 0x62b821756295c58d;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * prime;
  std::string result;
  append_hexadecimal(result, static_cast<std::uint64_t>(hash >> 64), 16);
  append_hexadecimal(result, static_cast<std::uint64_t>(hash), 16);
  return result;
}

bool is_hash(std::string_view name) {
  return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream.good() && !stream.eof()) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

/// One line per file of the package: size, hash, path.
std::string inventory_of(const fs::path& package) {
  std::vector<fs::path> files;
  if (fs::is_regular_file(package)) files.push_back(package);
  if (fs::is_directory(package))
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(package))
      if (entry.is_regular_file()) files.push_back(entry.path());
  if (files.empty()) throw std::runtime_error(package.string() + " holds no file");
  std::ranges::sort(files);
  std::string lines;
  for (const fs::path& file : files) {
    const std::string bytes = read_file(file);
    lines += text(bytes.size(), ' ', hash_of_bytes(bytes), ' ', file.lexically_relative(package).string(), '\n');
  }
  return lines;
}

std::string line_of(const std::vector<std::size_t>& places) {
  std::string line;
  for (const std::size_t place : places) line += text(place, ' ');
  return line + '\n';
}

std::vector<std::size_t> places_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::size_t> places;
  for (std::size_t place; stream >> place;) places.push_back(place);
  return places;
}

std::string entry_text(std::string_view signature, const PackageOrder& order, const std::string& inventory) {
  return text(first_line, '\n', line_of(order.feeds), line_of(order.results), inventory, '\n', signature);
}

/// The signature that the text of an entry ends with; none where the text is not that of an entry.
std::optional<std::string> signature_in(const std::string& entry) {
  if (!entry.starts_with(text(first_line, '\n'))) return std::nullopt;
  std::size_t inventory = first_line.size();
  for (int line = 0; line < 2 && inventory != std::string::npos; ++line) inventory = entry.find('\n', inventory + 1);
  const std::size_t end = inventory == std::string::npos ? inventory : entry.find("\n\n", inventory + 1);
  if (end == std::string::npos) return std::nullopt;
  return entry.substr(end + 2);
}

/// Each message once in the life of the process.
void warn_once(const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string>* const told = new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!told->insert(message).second) return;
  }
  warn(message);
}

std::uintmax_t size_of(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

/// The file system's own stamps are coarser than the order of two uses.
void mark_used(const fs::path& folder) {
  std::error_code ignored;
  fs::last_write_time(folder / "entry", fs::file_time_type::clock::now(), ignored);
}

/// When the entry was used last, in seconds since 1970.
double time_of_use(const fs::path& folder) {
  struct stat status;
  if (stat((folder / "entry").c_str(), &status) != 0 && stat(folder.c_str(), &status) != 0) return 0;
#if defined(__APPLE__)
  const timespec time = status.st_mtimespec;
#else
  const timespec time = status.st_mtim;
#endif
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Locks the directory against other processes and threads; -1, and no lock, where the file system has none.
int locked(const fs::path& directory, int operation) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (descriptor >= 0 && flock(descriptor, operation) != 0 && errno == EINTR) {
  }
  return descriptor;
}

void unlock(int descriptor) {
  if (descriptor >= 0) close(descriptor);  // and thereby unlocks
}

/// What the entries of each directory take, as far as this process knows: only then need they be looked through.
struct Totals {
  std::mutex mutex;
  std::map<fs::path, std::uintmax_t> bytes;
};

Totals& totals() {
  static Totals* const instance = new Totals;  // never destroyed: calls may still run at interpreter exit
  return *instance;
}

}  // namespace

std::optional<std::string> signature_of(const Program& program) {
  std::string signature;
  const auto write = [&](TensorRef tensor) { signature += text(' ', tensor.node, '.', tensor.output); };
  std::size_t constants = 0;
  for (const Node& node : program.nodes) {
    signature += describe(node.operation);
    for (const TensorRef input : node.inputs) write(input);
    signature += " ->";
    for (const TensorType& output : node.outputs) signature += text(' ', output.dtype, output.shape);
    if (const auto* constant = std::get_if<Constant>(&node.operation)) {
      constants += constant->data->size();
      if (constants > largest_constants) return std::nullopt;
      signature += " = ";
      for (const std::byte byte : *constant->data) append_hexadecimal(signature, static_cast<std::uint64_t>(byte), 2);
    }
    signature += '\n';
  }
  signature += "feeds";
  for (const TensorRef feed : program.feeds) write(feed);
  signature += "\ntargets";
  for (const TensorRef target : program.targets) write(target);
  return signature + '\n';
}

fs::path PackageStore::folder_of(std::string_view signature) const { return directory_ / hash_of_bytes(signature); }

std::optional<StoredPackage> PackageStore::find(std::string_view signature) const {
  const fs::path folder = folder_of(signature);
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return std::nullopt;
  StoredPackage stored{folder / "package", {}};
  const std::string entry = read_file(folder / "entry");
  std::istringstream lines(entry);
  std::string first, feeds, results;
  std::getline(lines, first);
  std::getline(lines, feeds);
  std::getline(lines, results);
  stored.order = {places_of(feeds), places_of(results)};
  if (entry != entry_text(signature, stored.order, inventory_of(stored.path)))
    throw std::runtime_error("it is not as it was written");
  mark_used(folder);
  return stored;
}

PackageStore::Reading::Reading(const PackageStore& store) : directory_(locked(store.directory_, LOCK_SH)) {}
PackageStore::Reading::~Reading() { unlock(directory_); }

/// In one step for those who look it up meanwhile.
std::error_code PackageStore::remove(const fs::path& folder) const {
  const fs::path aside = fresh_path(old_prefix);
  std::error_code failed;
  fs::rename(folder, aside, failed);
  if (!failed) fs::remove_all(aside, failed);
  return failed;
}

std::vector<fs::path> PackageStore::folders() const {
  std::vector<fs::path> found;
  std::error_code error;
  if (!fs::exists(directory_, error) && !error) return found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_))
    if (is_hash(entry.path().filename().string())) found.push_back(entry.path());  // the others are not ours
  return found;
}

std::vector<PackageEntry> PackageStore::entries() const {
  const Reading reading(*this);
  std::vector<PackageEntry> entries;
  for (const fs::path& folder : folders()) {
    PackageEntry entry{folder.filename().string(), 0, time_of_use(folder), std::nullopt};
    try {
      entry.bytes = size_of(folder);
    } catch (const fs::filesystem_error&) {
      if (!fs::exists(folder)) continue;  // removed meanwhile
      throw;
    }
    try {
      entry.signature = signature_in(read_file(folder / "entry"));
    } catch (const std::exception&) {  // it cannot be used either
    }
    entries.push_back(std::move(entry));
  }
  std::ranges::sort(entries, [](const PackageEntry& a, const PackageEntry& b) {
    return std::tie(b.last_used, a.key) < std::tie(a.last_used, b.key);
  });
  return entries;
}

std::size_t PackageStore::clear() const {
  Totals& known = totals();
  const std::lock_guard guard(known.mutex);
  known.bytes.erase(directory_);
  const int lock = locked(directory_, LOCK_EX);
  std::size_t removed = 0;
  std::error_code failure;
  try {
    for (const fs::path& folder : folders()) {
      const std::error_code failed = remove(folder);
      if (failed)
        failure = failed;
      else
        ++removed;
    }
    if (fs::exists(directory_)) remove_remains();
  } catch (...) {
    unlock(lock);
    throw;
  }
  unlock(lock);
  if (failure) throw fs::filesystem_error("cannot remove every entry", directory_, failure);
  return removed;
}

fs::path PackageStore::fresh_path(std::string_view prefix) const {
  static std::atomic<unsigned> counter{0};
  return directory_ / text(prefix, getpid(), '-', counter.fetch_add(1));
}

fs::path PackageStore::begin() const {
  fs::create_directories(directory_);
  const fs::path folder = fresh_path(new_prefix);
  fs::remove_all(folder);
  fs::create_directory(folder);
  return folder;
}

void PackageStore::commit(const fs::path& folder, std::string_view signature, const PackageOrder& order) const {
  {
    std::ofstream stream(folder / "entry", std::ios::binary);
    stream << entry_text(signature, order, inventory_of(folder / "package"));
    stream.close();
    if (!stream) throw std::runtime_error("cannot write " + (folder / "entry").string());
  }
  mark_used(folder);
  const std::uintmax_t bytes = size_of(folder);
  std::error_code error;
  fs::rename(folder, folder_of(signature), error);
  if (!error) {
    shrink(bytes);
    return;
  }
  const bool other_was_first = fs::exists(folder_of(signature));
  if (!other_was_first) throw fs::filesystem_error("rename", folder, error);
  fs::remove_all(folder);
}

void PackageStore::discard(std::string_view signature, std::string_view problem) const {
  const fs::path folder = folder_of(signature);
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return;  // another process removed it meanwhile
  static_cast<void>(remove(folder));         // whoever finds it next tries again
  warn_once(text("the stored executable ", folder.string(), " is not used: ", problem));
}

void PackageStore::shrink(std::uintmax_t added) const {
  Totals& known = totals();
  const std::lock_guard lock(known.mutex);
  const auto [total, unknown] = known.bytes.try_emplace(directory_, 0);
  total->second += added;
  if (unknown || total->second > limit_) total->second = evict_to_limit();
}

/// Folders of processes that ended before they were done with them.
void PackageStore::remove_remains() const {
  const auto remains_are_dead = fs::file_time_type::clock::now() - std::chrono::hours(24);
  for (const fs::directory_entry& found : fs::directory_iterator(directory_)) {
    std::error_code gone;
    const std::string name = found.path().filename().string();
    if (!name.starts_with(new_prefix) && !name.starts_with(old_prefix)) continue;
    if (const auto time = fs::last_write_time(found.path(), gone); !gone && time < remains_are_dead)
      fs::remove_all(found.path(), gone);
  }
}

/// Gives what is left.
std::uintmax_t PackageStore::evict_to_limit() const {
  struct Entry {
    fs::path folder;
    std::uintmax_t bytes;
    fs::file_time_type used;
  };
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  remove_remains();
  for (const fs::path& folder : folders()) {
    std::error_code gone;
    const fs::file_time_type used = fs::last_write_time(folder / "entry", gone);
    if (gone) continue;  // evicted meanwhile
    try {
      entries.push_back({folder, size_of(folder), used});
      total += entries.back().bytes;
    } catch (const fs::filesystem_error&) {  // evicted meanwhile
    }
  }
  if (total <= limit_) return total;
  std::ranges::sort(entries, {}, &Entry::used);
  const int lock = locked(directory_, LOCK_EX);
  for (const Entry& entry : entries) {
    if (total <= limit_ - limit_ / 8) break;  // so that not every addition looks through all
    static_cast<void>(remove(entry.folder));  // as above
    total -= entry.bytes;
  }
  unlock(lock);
  return total;
}

void PackageStore::warn_not_kept(std::string_view problem) const {
  warn_once(text("executables are not kept in ", directory_.string(), ": ", problem));
}

}  // namespace mpsgraph_native::metal
