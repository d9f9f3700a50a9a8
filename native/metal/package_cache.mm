#include "metal/package_cache.hpp"

#include "metal/availability.hpp"
#include "metal/guarded.hpp"
#include "runtime/version.hpp"

namespace mpsgraph_native::metal {
namespace {

NSURL* url_of(const std::filesystem::path& path) {
  return [NSURL fileURLWithPath:[NSString stringWithUTF8String:path.c_str()] isDirectory:YES];
}

}  // namespace

PackageCache::PackageCache(const Device& device, const DeviceSettings& settings, const Program& program)
    : store_(settings.package_cache_directory, settings.package_cache_limit_bytes) {
  if (!settings.package_cache || settings.package_cache_directory.empty() || running_macos() < MacOS{14, 0}) return;
  if (const std::optional<std::string> computed = signature_of(program))
    signature_ = text("mpsgraph_native ", package_version, "\nmacOS ", running_macos(), " build ", system_build(),
                      "\nGPU ", device.name, "\noptimization level ", settings.optimization_level, '\n', *computed);
}

std::optional<StoredExecutable> PackageCache::load(MPSGraphCompilationDescriptor* descriptor) const {
  if (!signature_) return std::nullopt;
  std::string problem;
  try {
    const PackageStore::Reading reading(store_);
    const std::optional<StoredPackage> package = store_.find(*signature_);
    if (!package) return std::nullopt;
    return guarded([&]() -> StoredExecutable {
      MPSGraphExecutable* executable = nil;
      if (@available(macOS 14.0, *))
        executable = [[MPSGraphExecutable alloc] initWithMPSGraphPackageAtURL:url_of(package->path)
                                                        compilationDescriptor:descriptor];
      if (executable == nil) throw CompileError("MPSGraph does not read it");
      if (executable.feedTensors != nil && executable.feedTensors.count != package->order.feeds.size())
        throw CompileError("it takes another number of feeds");
      return {executable, package->order};
    });
  } catch (const std::exception& error) {
    problem = error.what();
  }
  store_.discard(*signature_, problem);
  return std::nullopt;
}

void PackageCache::store(const StoredExecutable& stored) const {
  if (!signature_) return;
  std::filesystem::path folder;
  try {
    folder = store_.begin();
    guarded([&] {
      if (@available(macOS 14.0, *))
        [stored.executable serializeToMPSGraphPackageAtURL:url_of(folder / "package")
                                                descriptor:[MPSGraphExecutableSerializationDescriptor new]];
    });
    store_.commit(folder, *signature_, stored.order);
  } catch (const std::exception& error) {
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
    store_.warn_not_kept(error.what());
  }
}

}  // namespace mpsgraph_native::metal
