#include "cpu/dispatch.hpp"

#include <atomic>
#include <cstdlib>

#include "graph/error.hpp"

namespace mpsgraph_native::cpu {

namespace baseline {
KernelTable kernel_table();
}
#ifdef MPSGRAPH_HAS_X86_VARIANTS
namespace avx2 {
KernelTable kernel_table();
}
namespace avx512 {
KernelTable kernel_table();
}
#endif

namespace {

struct Variant {
  const char* name;
  bool supported;
  KernelTable (*table)();
};

std::vector<Variant> variants() {
  std::vector<Variant> found{{"baseline", true, baseline::kernel_table}};
#ifdef MPSGRAPH_HAS_X86_VARIANTS
  __builtin_cpu_init();
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  found.push_back({"avx2", has_avx2, avx2::kernel_table});
  found.push_back({"avx512", has_avx512, avx512::kernel_table});
#endif
  return found;
}

/// Tables live as long as the process: executables keep references to them.
const std::vector<KernelTable>& tables() {
  static const std::vector<KernelTable> all = [] {
    std::vector<KernelTable> supported;
    for (const Variant& variant : variants())
      if (variant.supported) supported.push_back(variant.table());
    return supported;
  }();
  return all;
}

const KernelTable* find(std::string_view name, std::string_view argument) {
  std::string known;
  for (const KernelTable& table : tables()) {
    if (table.name == name) return &table;
    known += text(known.empty() ? "" : ", ", table.name);
  }
  throw DeviceError(text(argument, " must be one of ", known, " on this machine, got ", name));
}

std::atomic<const KernelTable*>& current() {
  static std::atomic<const KernelTable*> table = [] {
    const char* wanted = std::getenv("MPSGRAPH_NATIVE_ISA");
    return wanted && *wanted ? find(wanted, "MPSGRAPH_NATIVE_ISA") : &tables().back();
  }();
  return table;
}

}  // namespace

const KernelTable& kernel_table() { return *current().load(); }

void set_instruction_set(std::string_view name) { current().store(find(name, "name")); }

std::vector<std::string> available_instruction_sets() {
  std::vector<std::string> names;
  for (const KernelTable& table : tables()) names.emplace_back(table.name);
  return names;
}

}  // namespace mpsgraph_native::cpu
