#pragma once

#include <string>
#include <vector>

#include "util/child_process.hpp"

namespace paceline::support {

/// What a program printed and how it ended.
struct Ended {
  int exit_code = -1;  ///< 128 + signal when it was killed
  std::string output;
  std::string errors;
};

/// The built paceline, with its data and cache folders inside a test's own.
class Program {
 public:
  Program(const std::string& home, const std::vector<std::string>& arguments);

  pid_t id() const { return child_.id(); }
  void send(int signal) { child_.send(signal); }

  /// Its only child's process id, as soon as it has one; -1 when it ended before.
  pid_t wait_for_child();

  /// Waits for its end. The limit is a guard against hanging, not a measurement.
  Ended wait();

 private:
  util::ChildProcess child_;
};

/// Runs it to its end.
Ended run_program(const std::string& home, const std::vector<std::string>& arguments);

}  // namespace paceline::support
