#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "protocol/frame.hpp"
#include "protocol/message.hpp"
#include "worker/job_port.hpp"
#include "worker/llama/loading.hpp"

namespace paceline::worker {

/// Speaks the protocol on two file descriptors: one command at a time, until the input ends.
class Session : private JobPort {
 public:
  Session(int input, int output) : input_(input), output_(output) {}

  /// The process's exit code: 0 when the input ended, 1 after a stream that makes no sense.
  int run();

 private:
  enum class Stream { open, ended, corrupt };

  void say(trace::Event event) override;
  bool cancelled() override;

  void obey(const protocol::Command& command);
  void open(const protocol::Open& command);
  void work(const protocol::Submit& command);
  trace::Finished perform(const protocol::Generate& job);
  trace::Finished perform(const protocol::Probe& job);
  trace::Finished perform(const protocol::Reread& job);
  trace::Finished perform(const protocol::Fill& job);
  trace::Finished perform(const protocol::Map& job);
  trace::Finished perform(const protocol::Synth& job);
  trace::Finished perform(const protocol::Invent& job);
  trace::Finished perform(const protocol::Inspect& job);
  trace::Finished perform(const protocol::ListDevices& job);
  trace::Finished perform(const protocol::Check& job);
  trace::Finished perform(const protocol::Observe& job);
  trace::Finished perform(const protocol::ProbeDevices& job);
  void send(const protocol::Report& report);
  void read_some();
  void take_frames();
  void fail_stream(const std::string& why);

  int input_;
  int output_;
  Stream stream_ = Stream::open;
  protocol::FrameReader reader_;
  std::deque<protocol::Command> waiting_;
  LoadedModelPtr model_;
  std::uint32_t job_id_ = 0;
  bool cancel_asked_ = false;
};

}  // namespace paceline::worker
