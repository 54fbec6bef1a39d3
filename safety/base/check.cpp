#include "safety/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace han::safety {

void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace han::safety
