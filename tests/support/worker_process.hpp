#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/frame.hpp"
#include "protocol/message.hpp"
#include "util/child_process.hpp"

namespace paceline::support {

/// Everything one job said, sorted by kind.
struct JobReport {
  std::optional<trace::Prefill> prefill;
  std::vector<trace::Pass> passes;
  std::vector<trace::Emission> emissions;
  std::vector<trace::WidthTime> widths;
  std::optional<trace::Observation> observation;
  trace::Finished finished;

  /// All emitted token ids, in order.
  std::vector<std::int32_t> tokens() const;
  /// The top-2 gap of every emitted token.
  std::vector<double> gaps() const;
  /// Passes counted, minus those that tokens and drafts imply: 0 where E - 1 = F - W + A - X with
  /// every letter counted from the events (DEFINITIONS 1).
  long residual() const;
};

/// Batches of different widths round differently, by about 0.001 in the laboratory models' logits.
inline constexpr double near_tie = 0.01;

/// Where two token sequences part; their common length when they do not.
std::size_t first_difference(const std::vector<std::int32_t>& ours,
                             const std::vector<std::int32_t>& theirs);

/// Fails unless the tokens are plain's, or part at a near tie of plain, whose gaps were recorded.
void expect_same_text(const JobReport& plain, const std::vector<std::int32_t>& tokens,
                      const std::string& what);

/// The built paceline-worker, spoken to in frames as paceline does.
class WorkerProcess {
 public:
  WorkerProcess();

  const protocol::Hello& hello() const { return hello_; }

  protocol::Opened open(const trace::Setup& setup, const trace::Sampling& sampling = {});

  /// Runs a job to its end; a worker that dies instead fails the test.
  JobReport run(const protocol::Job& job);

  void send(const protocol::Command& command);
  void send_bytes(std::string_view bytes);

  /// The next frame; nothing when the worker closed its output.
  std::optional<protocol::Report> receive();

  /// Closes its input and waits; its exit code, or 128 + signal.
  int end();

  /// What it has printed to stderr, read to its end. Call after end().
  std::string errors();

 private:
  util::ChildProcess child_;
  protocol::FrameReader reader_;
  protocol::Hello hello_;
  std::uint32_t jobs_ = 0;
};

/// A setup of the shipped laboratory models with one thread.
trace::Setup lab_setup(trace::SpecType type, int draft_n_max = 0);

/// One of the shipped models by file name.
std::string lab_model(const std::string& name);

/// A greedy request for the given prompt tokens or text.
protocol::Generate greedy(std::vector<std::int32_t> prompt, int n_predict);
protocol::Generate greedy(const std::string& prompt, int n_predict);

}  // namespace paceline::support
