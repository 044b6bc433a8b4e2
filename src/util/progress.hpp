#pragma once

#include <chrono>
#include <string>

namespace paceline::util {

/// What is being done and how much is left, on standard error: one line rewritten in place on a
/// terminal, else a plain line now and then. Draws only when told, so that it never wakes up
/// while something is measured.
class Progress {
 public:
  explicit Progress(bool terminal);

  /// `done` of `total` steps are finished; the time left is judged from the steps so far.
  void update(double done, double total, const std::string& what);

  /// Takes the line away, so that other text can be printed.
  void clear();

 private:
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point last_line_;
};

}  // namespace paceline::util
