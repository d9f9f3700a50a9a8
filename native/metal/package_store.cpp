#include "metal/package_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <limits>
#include <mutex>
#include <set>
#include <system_error>

#include "runtime/device_settings.hpp"

namespace mpsgraph_native::metal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_line = "mpsgraph_native package, format 1";
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

}  // namespace

std::optional<std::string> signature_of(const Program& program) {
  std::ostringstream stream;
  stream.precision(std::numeric_limits<double>::max_digits10);
  const auto write = [&](TensorRef tensor) { stream << ' ' << tensor.node << '.' << tensor.output; };
  std::size_t constants = 0;
  for (const Node& node : program.nodes) {
    std::visit(
        [&](const auto& attributes) {
          stream << attributes.name << '(';
          attributes.fields(attributes, AttributePrinter(stream));
          stream << ')';
        },
        node.operation);
    for (const TensorRef input : node.inputs) write(input);
    stream << " ->";
    for (const TensorType& output : node.outputs) stream << ' ' << output.dtype << output.shape;
    if (const auto* constant = std::get_if<Constant>(&node.operation)) {
      constants += constant->data->size();
      if (constants > largest_constants) return std::nullopt;
      std::string digits;
      for (const std::byte byte : *constant->data) append_hexadecimal(digits, static_cast<std::uint64_t>(byte), 2);
      stream << " = " << digits;
    }
    stream << '\n';
  }
  stream << "feeds";
  for (const TensorRef feed : program.feeds) write(feed);
  stream << "\ntargets";
  for (const TensorRef target : program.targets) write(target);
  stream << '\n';
  return std::move(stream).str();
}

fs::path PackageStore::folder_of(std::string_view signature) const { return directory_ / hash_of_bytes(signature); }

std::optional<StoredPackage> PackageStore::find(std::string_view signature) const {
  const fs::path folder = folder_of(signature);
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return std::nullopt;
  try {
    StoredPackage stored{folder / "package", {}};
    const std::string entry = read_file(folder / "entry");
    std::istringstream lines(entry);
    std::string first, feeds, results;
    std::getline(lines, first);
    std::getline(lines, feeds);
    std::getline(lines, results);
    stored.order = {places_of(feeds), places_of(results)};
    if (entry == entry_text(signature, stored.order, inventory_of(stored.path))) return stored;
    discard(signature, "it is not as it was written");
  } catch (const std::exception& error) {
    discard(signature, error.what());
  }
  return std::nullopt;
}

fs::path PackageStore::begin() const {
  static std::atomic<unsigned> counter{0};
  fs::create_directories(directory_);
  const fs::path folder = directory_ / text(".new-", getpid(), '-', counter.fetch_add(1));
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
  std::error_code error;
  fs::rename(folder, folder_of(signature), error);
  if (!error) return;
  const bool other_was_first = fs::exists(folder_of(signature));
  if (!other_was_first) throw fs::filesystem_error("rename", folder, error);
  fs::remove_all(folder);
}

void PackageStore::discard(std::string_view signature, std::string_view problem) const {
  const fs::path folder = folder_of(signature);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  warn_once(text("the stored executable ", folder.string(), " is not used: ", problem));
}

void PackageStore::warn_not_kept(std::string_view problem) const {
  warn_once(text("executables are not kept in ", directory_.string(), ": ", problem));
}

}  // namespace mpsgraph_native::metal
