#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mock/faults.hpp"
#include "mock/mock.hpp"
#include "mock/renderer.hpp"

namespace paceline::mock {

/// What a request adds to the server's counters.
struct Tally {
  long requests = 0;
  long prompt_tokens = 0;
  long prompt_cached = 0;
  double prompt_s = 0;
  long output = 0;
  double decode_s = 0;
  long rounds = 0;
  long offered = 0;
  long accepted = 0;
  std::vector<long> offered_at;
  std::vector<long> accepted_at;
};

/// One request for text, from its slot to its last event: forward after forward by the plan.
class Mock::Job : public std::enable_shared_from_this<Mock::Job> {
 public:
  struct Hooks {
    std::function<void()> forward;          ///< a forward of its own was made
    std::function<void(Job&)> proceed;      ///< it has forwards to make
    std::function<void(Job&)> leave;        ///< it is over
    std::function<void(const Job&)> count;  ///< uncounted() is to be added
  };
  struct World {
    Truth truth;
    State& state;
    const Renderer& renderer;
    net::Server& server;
    Hooks hooks;
  };

  Job(World world, Stream stream, Struck struck, std::shared_ptr<net::Reply> reply);

  void watch();
  /// Begins the answer in this slot.
  void enter(int slot);
  /// The next forward, when it is due.
  void schedule();
  void advance();
  void later(double seconds, std::function<void()> then);

  bool has_slot() const { return has_slot_; }
  bool works() const { return !ended_ && !stalled_; }
  double next_seconds() const;
  const Stream& stream() const { return stream_; }
  const Struck& struck() const { return struck_; }
  const Tally& uncounted() const { return uncounted_; }
  /// Tokens in its sequence.
  long length() const { return stream_.plan.prompt_tokens + static_cast<long>(made_); }

 private:
  using Clock = std::chrono::steady_clock;

  void prompt_forward();
  void decode_forward();
  void say();
  void say_until(std::size_t until);
  std::size_t next_until() const;
  void strike();
  void stall();
  void fail_in_stream();
  void write(const std::vector<std::string>& events);
  void finish();
  void send_end();
  void send_whole();
  void break_off();
  void flush();
  void state_times();
  long stated_accepted() const;

  World world_;
  Stream stream_;
  Struck struck_;
  std::shared_ptr<net::Reply> reply_;
  net::Timer timer_;
  Tally uncounted_;
  Clock::time_point due_;
  Clock::time_point entered_;
  Clock::time_point first_token_;
  std::optional<std::size_t> mark_;  ///< tokens after which a fault of mid stream strikes
  std::size_t made_ = 0;             ///< tokens, said or not
  int batches_ = 0;
  int replays_ = 0;
  long forwards_ = 0;  ///< after the prompt
  long accepted_ = 0;  ///< without lies
  bool has_slot_ = false;
  bool stalled_ = false;
  bool ended_ = false;
};

}  // namespace paceline::mock
