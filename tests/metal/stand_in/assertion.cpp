#include "assertion.hpp"

#include <cstdio>
#include <cstdlib>

namespace stand_in {

void assertion_failure(const char* operation, const char* reason) {
  std::fprintf(stderr, "%s: failed assertion `%s'\n", operation, reason);
  std::fflush(stderr);
  std::abort();
}

}  // namespace stand_in
