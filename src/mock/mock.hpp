#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "mock/faults.hpp"
#include "mock/renderer.hpp"
#include "mock/truth.hpp"
#include "net/server.hpp"

namespace paceline::mock {

struct Options {
  std::string dialect = "llama-server";  ///< one of renderer_names()
  Truth truth;
  std::vector<Fault> faults;
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any free one
  std::string api_key;     ///< asked of every request when not empty
};

/// Something a client sent.
struct Received {
  std::string method;
  std::string target;
  net::Headers headers;
  std::string body;
};

/// A server of one dialect that tells the truth it was given, but for the faults asked for.
class Mock {
 public:
  static util::Result<std::unique_ptr<Mock>> listen(Options options);
  ~Mock();
  Mock(const Mock&) = delete;
  Mock& operator=(const Mock&) = delete;

  std::uint16_t port() const { return server_->port(); }
  std::string url() const;
  const Truth& truth() const { return options_.truth; }

  /// Serves until stop(), which any thread may call, or until `descriptor` is readable.
  void run(int descriptor = -1);
  void stop() { server_->stop(); }

  // Of any thread.
  /// Requests to a path, whatever their query.
  long requests_to(std::string_view path) const;
  /// The last requests, oldest first; at most `remembered`.
  std::vector<Received> received() const;
  static constexpr std::size_t remembered = 10'000;

 private:
  class Job;
  using JobPointer = std::shared_ptr<Job>;

  Mock(Options options, std::unique_ptr<Renderer> renderer, std::unique_ptr<net::Server> server);

  void handle(net::Request request, const std::shared_ptr<net::Reply>& reply);
  void remember(const net::Request& request);
  std::optional<net::Response> refusal(const net::Request& request);
  void start(const net::Request& request, const std::shared_ptr<net::Reply>& reply);
  void strike_counters(const Struck& struck);
  Truth truth_for(const Struck& struck, int prompt_tokens) const;
  void enter(const JobPointer& job);
  void proceed(Job& job);
  void leave(Job& job);
  void count_forward();
  void count(const Job& job);
  void count_other_client(long tokens);
  void tick();
  void schedule_tick();

  Options options_;
  std::unique_ptr<Renderer> renderer_;
  State state_;
  long generated_ = 0;
  long health_polls_ = 0;
  std::set<int> free_slots_;
  std::deque<JobPointer> waiting_;
  std::map<const Job*, JobPointer> jobs_;
  net::Timer tick_timer_;

  mutable std::mutex mutex_;
  std::map<std::string, long, std::less<>> requests_;
  std::deque<Received> received_;

  // Last, so that nothing of the above is gone while it still calls.
  std::unique_ptr<net::Server> server_;
};

}  // namespace paceline::mock
