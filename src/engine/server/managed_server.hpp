#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "engine/server/log_file.hpp"
#include "net/url.hpp"
#include "trace/request.hpp"
#include "trace/setup.hpp"
#include "util/child_process.hpp"

namespace paceline::engine::server {

/// Status with which GET /health is answered; nothing when nobody answers.
using Health = std::function<std::optional<int>(const net::Url& server)>;

struct ManagedOptions {
  int slots = 1;                                        ///< requests that it takes at once
  std::chrono::seconds patience{1800};                  ///< for loading
  std::chrono::seconds silence{1800};                   ///< likewise, without a word in its log
  std::chrono::milliseconds stranger_patience{10'000};  ///< to give up, when another has its port
  std::chrono::milliseconds end_patience{10'000};       ///< to end when asked, before it is killed
  std::filesystem::path log_folder{};                   ///< empty: logs/ in the cache folder
};

/// A llama-server on loopback that is ours: started for one launch, watched, and ended by its own
/// process group, also when this program is killed. Processes that leave its group are not ours.
class ManagedServer {
 public:
  explicit ManagedServer(Health health, ManagedOptions options = {});
  ~ManagedServer();
  ManagedServer(const ManagedServer&) = delete;
  ManagedServer& operator=(const ManagedServer&) = delete;

  /// Starts it for an arm and waits until it is healthy: where it is, or how the launch failed.
  /// Ctrl-C ends the wait (cancelled).
  tl::expected<net::Url, trace::Outcome> start(const trace::Setup& setup);

  /// How it ended, once it did so by itself after start(); nothing while it runs. To be asked
  /// between requests, and whenever a request fails.
  std::optional<trace::Outcome> ended();

  /// Its processes while it runs.
  std::optional<pid_t> process_group() const;

  /// As a shell takes it, without secrets; empty before start().
  const std::string& command_line() const { return command_line_; }
  /// SHA-256 of the file that was named; empty before start().
  const std::string& binary_sha256() const { return binary_sha256_; }
  bool binary_is_script() const { return binary_is_script_; }

  /// The last lines of its log.
  std::vector<std::string> log_tail() const;

  /// Ends it: asks first, and kills the whole group after a while. Safe to call twice.
  void close();

 private:
  util::Result<void> prepare(const trace::Setup& setup);
  util::Result<void> launch(const trace::Setup& setup, std::uint16_t port);
  tl::expected<net::Url, trace::Outcome> start_at(const trace::Setup& setup, std::uint16_t port);
  std::optional<trace::Outcome> wait_until_healthy(const net::Url& server);
  bool is_a_stranger(const net::Url& server) const;
  trace::Outcome give_up(trace::OutcomeKind kind, std::string reason);
  trace::Outcome reap(const char* when);

  Health health_;
  ManagedOptions options_;
  std::string program_;
  std::string command_line_;
  std::string binary_sha256_;
  bool binary_is_script_ = false;
  std::optional<LogFile> log_;
  std::optional<util::ChildProcess> server_;
  std::optional<util::ChildProcess> guard_;
};

/// A TCP port of loopback that nobody uses now.
util::Result<std::uint16_t> free_port();

/// Whether somebody uses it now.
bool is_taken(std::uint16_t port);

}  // namespace paceline::engine::server
