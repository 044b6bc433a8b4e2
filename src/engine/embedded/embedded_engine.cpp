#include "engine/embedded/embedded_engine.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "util/interrupt.hpp"

namespace paceline::engine::embedded {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t log_lines_kept = 30;
constexpr std::size_t longest_log_line = 500;
constexpr auto hello_patience = std::chrono::seconds(30);
constexpr auto open_patience = std::chrono::minutes(30);
constexpr auto exit_patience = std::chrono::seconds(3);

/// The line in which ggml or the C++ runtime says why it aborted; empty when there is none.
std::string last_words(const std::deque<std::string>& log) {
  const auto found = std::find_if(log.rbegin(), log.rend(), [](const std::string& line) {
    return line.find("GGML_ASSERT") != std::string::npos ||
           line.find("GGML_ABORT") != std::string::npos ||
           line.find("internal error") != std::string::npos || line.find("what():") == 2;
  });
  if (found == log.rend()) return "";
  // The line begins with a path of whoever built the library.
  const std::size_t slash = found->rfind('/', found->find(':'));
  return slash == std::string::npos ? *found : found->substr(slash + 1);
}

}  // namespace

EmbeddedEngine::EmbeddedEngine(std::filesystem::path worker_program)
    : worker_program_(std::move(worker_program)) {}

EmbeddedEngine::~EmbeddedEngine() { close(); }

Capabilities EmbeddedEngine::capabilities() const {
  return {.probes_widths = true, .rereads = true, .fills_context = true, .is_local = true};
}

std::optional<pid_t> EmbeddedEngine::process_group() const {
  if (!worker_) return std::nullopt;
  return worker_->id();
}

std::optional<trace::Outcome> EmbeddedEngine::start() {
  if (worker_) return std::nullopt;
  auto started = util::ChildProcess::start({worker_program_.string()}, {"GGML_NO_BACKTRACE=1"});
  if (!started) return trace::ended(trace::OutcomeKind::refused, started.error().message);
  worker_ = std::move(*started);
  frames_ = {};
  log_tail_.clear();
  output_open_ = errors_open_ = true;
  auto hello = next_report(Clock::now() + hello_patience);
  if (hello) return check_hello(*hello);
  auto problem = hello.error();
  if (problem.kind == trace::OutcomeKind::cancelled) return problem;
  problem.reason = fmt::format(
      "{} does not work as a paceline-worker: {}; build it again with "
      "`make build` and leave PACELINE_WORKER unset",
      worker_program_.string(), problem.reason);
  return problem;
}

std::optional<trace::Outcome> EmbeddedEngine::check_hello(const protocol::Report& report) {
  const auto* hello = std::get_if<protocol::Hello>(&report);
  if (hello != nullptr && hello->protocol == protocol::protocol_version &&
      hello->tool_version == PACELINE_VERSION)
    return std::nullopt;
  const std::string said = hello == nullptr ? "no greeting"
                                            : fmt::format("version {}, protocol {}",
                                                          hello->tool_version, hello->protocol);
  return give_up(
      trace::OutcomeKind::refused,
      fmt::format("{} does not belong to this paceline: it gave {} instead of version "
                  "{}, protocol {}; build both again with `make build`",
                  worker_program_.string(), said, PACELINE_VERSION, protocol::protocol_version));
}

tl::expected<trace::EngineFacts, trace::Outcome> EmbeddedEngine::open(
    const trace::Setup& setup, const trace::Sampling& sampling) {
  if (auto problem = start()) return tl::unexpected(*problem);
  if (!worker_->write(protocol::frame(protocol::encode(protocol::Open{setup, sampling}))))
    return tl::unexpected(reap());
  auto report = next_report(Clock::now() + open_patience);
  if (!report) {
    if (worker_) give_up(report.error().kind, "");
    return tl::unexpected(report.error());
  }
  auto* opened = std::get_if<protocol::Opened>(&*report);
  if (opened == nullptr)
    return tl::unexpected(give_up(trace::OutcomeKind::crashed, "the worker answered out of turn"));
  if (!opened->facts) return tl::unexpected(opened->outcome);
  return std::move(*opened->facts);
}

util::Result<JobId> EmbeddedEngine::submit(const protocol::Job& job,
                                           std::chrono::seconds patience) {
  if (running_) return util::fail(util::ErrorKind::internal, "a job is running already");
  if (auto problem = start()) return util::fail(util::ErrorKind::engine, problem->reason);
  running_ = ++last_job_;
  patience_ = patience;
  heard_ = Clock::now();
  if (worker_->write(protocol::frame(protocol::encode(protocol::Submit{last_job_, job}))))
    return last_job_;
  // One that is gone says why at the next read; one that lives and does not read never will.
  if (worker_->wait(std::chrono::milliseconds(100))) return last_job_;
  running_.reset();
  return util::fail(
      util::ErrorKind::engine,
      give_up(trace::OutcomeKind::timed_out, "the engine did not read the request: it was ended")
          .reason);
}

std::optional<TaggedEvent> EmbeddedEngine::next(TimePoint until) {
  if (!running_) return std::nullopt;
  const auto silent_until = heard_ + patience_;
  auto report = next_report(std::min(until, silent_until));
  if (!report) {
    if (report.error().kind == trace::OutcomeKind::crashed) return finish_running(report.error());
    if (Clock::now() < silent_until) return std::nullopt;
    return finish_running(
        give_up(trace::OutcomeKind::timed_out,
                fmt::format("no sign of life for {} s: the engine was ended", patience_.count())));
  }
  heard_ = Clock::now();
  auto* happened = std::get_if<protocol::Happened>(&*report);
  if (happened == nullptr || happened->job_id != *running_)
    return finish_running(give_up(trace::OutcomeKind::crashed, "the worker answered out of turn"));
  if (std::holds_alternative<trace::Finished>(happened->event)) {
    running_.reset();
    heed_interrupts_ = true;
  }
  return TaggedEvent{happened->job_id, std::move(happened->event)};
}

TaggedEvent EmbeddedEngine::finish_running(trace::Outcome outcome) {
  trace::Finished finished;
  finished.outcome = std::move(outcome);
  const JobId job = running_.value_or(last_job_);
  running_.reset();
  return {job, finished};
}

void EmbeddedEngine::cancel(JobId job) {
  if (running_ != job || !worker_) return;
  heed_interrupts_ = false;
  worker_->write(protocol::frame(protocol::encode(protocol::Cancel{job})));
}

void EmbeddedEngine::close() {
  if (!worker_) return;
  worker_->close_input();
  if (running_) worker_->send(SIGKILL);
  worker_->wait(exit_patience);
  worker_.reset();
  running_.reset();
}

/// A time-out (timed_out) and the user's Ctrl-C (cancelled) leave the worker alive; an outcome of
/// kind crashed means that it is gone.
tl::expected<protocol::Report, trace::Outcome> EmbeddedEngine::next_report(TimePoint until) {
  if (!worker_)
    return tl::unexpected(trace::ended(trace::OutcomeKind::crashed, "the engine is not running"));
  while (true) {
    auto payload = frames_.next();
    if (!payload)
      return tl::unexpected(give_up(trace::OutcomeKind::crashed, payload.error().message));
    if (*payload) {
      auto report = protocol::decode_report(**payload);
      if (report) return std::move(*report);
      return tl::unexpected(give_up(trace::OutcomeKind::crashed, report.error().message));
    }
    if (!output_open_) return tl::unexpected(reap());
    if (heed_interrupts_ && util::interrupted())
      return tl::unexpected(trace::ended(trace::OutcomeKind::cancelled, "stopped by the user"));
    if (!read_some(until) && Clock::now() >= until)
      return tl::unexpected(
          trace::ended(trace::OutcomeKind::timed_out, "nothing was said in time"));
  }
}

/// Waits for bytes on either pipe and takes them; false when none came before `until`.
bool EmbeddedEngine::read_some(TimePoint until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  std::array<pollfd, 3> waits{
      pollfd{output_open_ ? worker_->output() : -1, POLLIN, 0},
      pollfd{errors_open_ ? worker_->errors() : -1, POLLIN, 0},
      pollfd{heed_interrupts_ ? util::interrupt_descriptor() : -1, POLLIN, 0}};
  const int ready = ::poll(waits.data(), waits.size(),
                           static_cast<int>(std::clamp<long long>(left, 0, 3'600'000)));
  if (ready <= 0) return false;
  std::array<char, 65536> bytes{};
  if (waits[0].revents != 0) {
    const ssize_t count = ::read(worker_->output(), bytes.data(), bytes.size());
    if (count > 0)
      frames_.feed({bytes.data(), static_cast<std::size_t>(count)});
    else if (count == 0 || errno != EINTR)
      output_open_ = false;
  }
  if (waits[1].revents != 0) {
    const ssize_t count = ::read(worker_->errors(), bytes.data(), bytes.size());
    if (count > 0)
      keep_log({bytes.data(), static_cast<std::size_t>(count)});
    else if (count == 0 || errno != EINTR)
      errors_open_ = false;
  }
  return true;
}

void EmbeddedEngine::keep_log(std::string_view bytes) {
  for (const char byte : bytes) {
    if (byte != '\n') {
      if (log_line_.size() < longest_log_line) log_line_.push_back(byte);
      continue;
    }
    if (!log_line_.empty()) log_tail_.push_back(std::move(log_line_));
    log_line_.clear();
    if (log_tail_.size() > log_lines_kept) log_tail_.pop_front();
  }
}

trace::Outcome EmbeddedEngine::ending(const util::ExitStatus& status) const {
  trace::Outcome result = trace::ended(trace::OutcomeKind::crashed, "");
  result.signal = status.signal;
  result.exit_code = status.exit_code;
  result.log_tail.assign(log_tail_.begin(), log_tail_.end());
  const std::string words = last_words(log_tail_);
  if (status.signal)
    result.reason = fmt::format("the engine's process was ended by signal {} ({})", *status.signal,
                                ::strsignal(*status.signal));
  else
    result.reason = fmt::format("the engine's process ended by itself with exit code {}",
                                status.exit_code.value_or(-1));
  if (!words.empty()) result.reason += ": " + words;
  return result;
}

/// The outcome of a worker whose pipe has closed.
trace::Outcome EmbeddedEngine::reap() {
  while (errors_open_ && read_some(Clock::now() + std::chrono::milliseconds(200))) {
  }
  auto status = worker_->wait(exit_patience);
  if (!status) {
    worker_->send(SIGKILL);
    status = worker_->wait(exit_patience);
  }
  if (!log_line_.empty()) keep_log("\n");
  trace::Outcome result = ending(status.value_or(util::ExitStatus{}));
  worker_.reset();
  return result;
}

trace::Outcome EmbeddedEngine::give_up(trace::OutcomeKind kind, std::string reason) {
  trace::Outcome result = trace::ended(kind, std::move(reason));
  result.log_tail.assign(log_tail_.begin(), log_tail_.end());
  if (worker_) {
    worker_->send(SIGKILL);
    worker_->wait(exit_patience);
    worker_.reset();
  }
  return result;
}

}  // namespace paceline::engine::embedded
