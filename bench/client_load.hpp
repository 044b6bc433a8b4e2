#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.hpp"

namespace paceline::bench {

/// So many streams, each with so many events a second, for so long.
struct Load {
  int streams = 0;
  int rate = 0;
  int seconds = 0;

  long events() const { return static_cast<long>(streams) * rate * seconds; }
};

/// A process that serves a load once: it accepts all streams, answers all, and then sends each
/// event at its own time, stamped with it. A stream's first event comes at a moment of its own,
/// drawn from a fixed seed.
class LoadServer {
 public:
  static util::Result<LoadServer> start(const Load& load);
  LoadServer(LoadServer&& other) noexcept;
  LoadServer& operator=(LoadServer&&) = delete;
  LoadServer(const LoadServer&) = delete;
  ~LoadServer();

  std::uint16_t port() const { return port_; }
  pid_t process() const { return process_; }

 private:
  LoadServer(pid_t process, std::uint16_t port) : process_(process), port_(port) {}

  pid_t process_;
  std::uint16_t port_;
};

/// What a client saw of a load.
struct Seen {
  double cpu_us_per_event = 0;  ///< of its thread, from when all streams were answered to the end
  double lag_p50_ms = 0;        ///< from the server's stamp to the client's moment of reading
  double lag_p99_ms = 0;
};

/// Keeps count of what comes, for either client in the same way.
class Tally {
 public:
  explicit Tally(const Load& load);

  void answered();
  void event(std::string_view data, std::chrono::steady_clock::time_point at);
  void ended() { ++ended_; }
  bool done() const { return ended_ == load_.streams; }

  /// An error when an event is missing.
  util::Result<Seen> seen();

 private:
  Load load_;
  int answered_ = 0;
  int ended_ = 0;
  double cpu_before_s_ = 0;
  std::vector<float> lags_ms_;
};

util::Result<Seen> run_ours(std::uint16_t port, const Load& load);
util::Result<Seen> run_curl(std::uint16_t port, const Load& load);
util::Result<Seen> run_bare(std::uint16_t port, const Load& load);

}  // namespace paceline::bench
