#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.hpp"

namespace paceline::util {

/// How a child ended: exactly one of the two is present.
struct ExitStatus {
  std::optional<int> exit_code;
  std::optional<int> signal;
};

/// A child process in its own process group, with pipes on its three standard streams. It is
/// ended by its id, and never outlives this object.
class ChildProcess {
 public:
  /// Starts `arguments[0]` (a path). `environment` adds NAME=VALUE to this process's own.
  static Result<ChildProcess> start(const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& environment);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  pid_t id() const { return id_; }
  int output() const { return output_; }  ///< descriptor to read its standard output from
  int errors() const { return errors_; }  ///< descriptor to read its standard error from

  /// Writes all bytes to its standard input; false when it does not read any more, for half a
  /// minute or, once the user has asked to stop, at all.
  bool write(std::string_view bytes);

  /// Closes its standard input, which asks a well-behaved child to end.
  void close_input();

  void send(int signal);

  /// The same to every process of its group. Its number is its own until wait() has told its end,
  /// and means nothing afterwards: nothing is sent then.
  void send_to_group(int signal);

  /// True once it has ended. Unlike wait(), it leaves its number (and so its group's) taken.
  bool has_ended() const;

  /// Its end, once it came, waiting up to `patience` for it.
  std::optional<ExitStatus> wait(std::chrono::milliseconds patience);

 private:
  ChildProcess() = default;
  void end();
  bool wait_for_room() const;

  pid_t id_ = -1;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
  std::optional<ExitStatus> status_;
};

}  // namespace paceline::util
