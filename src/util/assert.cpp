#include "util/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace paceline::util {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "paceline: internal error: %s does not hold at %s:%d; please report it\n",
               condition, file, line);
  std::abort();
}

}  // namespace paceline::util
