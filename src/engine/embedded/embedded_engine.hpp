#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "protocol/frame.hpp"
#include "protocol/message.hpp"
#include "util/child_process.hpp"

namespace paceline::engine::embedded {

/// llama.cpp in a process of its own (paceline-worker): one object is one launch. When that
/// process dies, the running job ends with an outcome that says how, and this process goes on.
class EmbeddedEngine final : public Engine {
 public:
  explicit EmbeddedEngine(std::filesystem::path worker_program);
  ~EmbeddedEngine() override;

  Capabilities capabilities() const override;
  tl::expected<trace::EngineFacts, trace::Outcome> open(const trace::Setup& setup,
                                                        const trace::Sampling& sampling) override;
  util::Result<JobId> submit(const protocol::Job& job, std::chrono::seconds patience) override;
  std::optional<TaggedEvent> next(TimePoint until) override;
  void cancel(JobId job) override;
  std::optional<pid_t> process_group() const override;
  void close() override;

 private:
  /// Starts the worker unless it runs; an outcome when it does not come up.
  std::optional<trace::Outcome> start();
  std::optional<trace::Outcome> check_hello(const protocol::Report& report);
  tl::expected<protocol::Report, trace::Outcome> next_report(TimePoint until);
  bool read_some(TimePoint until);
  void keep_log(std::string_view bytes);
  trace::Outcome ending(const util::ExitStatus& status) const;
  trace::Outcome reap();
  trace::Outcome give_up(trace::OutcomeKind kind, std::string reason);
  TaggedEvent finish_running(trace::Outcome outcome);

  std::filesystem::path worker_program_;
  std::optional<util::ChildProcess> worker_;
  protocol::FrameReader frames_;
  std::deque<std::string> log_tail_;
  std::string log_line_;
  bool output_open_ = false;
  bool errors_open_ = false;
  bool heed_interrupts_ = true;
  JobId last_job_ = 0;
  std::optional<JobId> running_;
  std::chrono::seconds patience_{0};
  TimePoint heard_;
};

}  // namespace paceline::engine::embedded
