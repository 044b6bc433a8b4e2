#pragma once

namespace paceline::util {

/// Prints the broken invariant with its place and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace paceline::util

/// An invariant of our own code. Stays on in release builds; never used on input.
#define PACELINE_ASSERT(condition)                                                      \
  do {                                                                                  \
    if (!(condition)) paceline::util::assertion_failed(#condition, __FILE__, __LINE__); \
  } while (false)
