#include "cpu/dispatch.hpp"

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

KernelTable choose() {
  const char* wanted = std::getenv("MPSGRAPH_NATIVE_ISA");
  const Variant* chosen = nullptr;
  const std::vector<Variant> all = variants();
  for (const Variant& variant : all) {
    if (!variant.supported) continue;
    if (!wanted || !*wanted || std::string_view(wanted) == variant.name) chosen = &variant;
  }
  if (!chosen)
    throw DeviceError(
        text("MPSGRAPH_NATIVE_ISA must name an instruction set that this build and processor have, got ", wanted));
  return chosen->table();
}

}  // namespace

const KernelTable& kernel_table() {
  static const KernelTable table = choose();
  return table;
}

std::vector<std::string> available_instruction_sets() {
  std::vector<std::string> names;
  for (const Variant& variant : variants())
    if (variant.supported) names.emplace_back(variant.name);
  return names;
}

}  // namespace mpsgraph_native::cpu
