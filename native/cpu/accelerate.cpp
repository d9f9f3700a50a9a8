#include "cpu/accelerate.hpp"

#include <AvailabilityMacros.h>
// The newer interface is another set of symbols, which came with macOS 13.3; the older one is deprecated since.
#if MAC_OS_X_VERSION_MIN_REQUIRED >= 130300
#define ACCELERATE_NEW_LAPACK
#endif
#include <Accelerate/Accelerate.h>

namespace mpsgraph_native::cpu {

void accelerate_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, const float* primary,
                        const float* secondary, float* result) {
  const int m = static_cast<int>(rows), n = static_cast<int>(columns), k = static_cast<int>(depth);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, primary, k, secondary, n, 0.0f, result, n);
}

void accelerate_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, const double* primary,
                        const double* secondary, double* result) {
  const int m = static_cast<int>(rows), n = static_cast<int>(columns), k = static_cast<int>(depth);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, primary, k, secondary, n, 0.0, result, n);
}

}  // namespace mpsgraph_native::cpu
