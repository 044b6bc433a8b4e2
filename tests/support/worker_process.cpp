#include "support/worker_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>

#include "util/files.hpp"

namespace paceline::support {

namespace {

using std::chrono::seconds;

util::ChildProcess start_worker() {
  auto child = util::ChildProcess::start({util::own_program("paceline-worker").string()}, {});
  if (!child) throw std::runtime_error(child.error().message);
  return std::move(*child);
}

void take(const trace::Event& event, JobReport& report) {
  if (const auto* prefill = std::get_if<trace::Prefill>(&event)) report.prefill = *prefill;
  if (const auto* pass = std::get_if<trace::Pass>(&event)) report.passes.push_back(*pass);
  if (const auto* emission = std::get_if<trace::Emission>(&event))
    report.emissions.push_back(*emission);
  if (const auto* width = std::get_if<trace::WidthTime>(&event)) report.widths.push_back(*width);
  if (const auto* seen = std::get_if<trace::Observation>(&event)) report.observation = *seen;
}

}  // namespace

std::vector<std::int32_t> JobReport::tokens() const {
  std::vector<std::int32_t> all;
  for (const auto& emission : emissions)
    all.insert(all.end(), emission.tokens.begin(), emission.tokens.end());
  return all;
}

std::vector<double> JobReport::gaps() const {
  std::vector<double> all;
  for (const auto& emission : emissions)
    all.insert(all.end(), emission.top2_gaps.begin(), emission.top2_gaps.end());
  return all;
}

long JobReport::residual() const {
  long accepted = 0;
  long overshoot = 0;
  for (const auto& emission : emissions) {
    accepted += emission.accepted;
    overshoot += emission.overshoot;
  }
  const auto superseded = std::count_if(passes.begin(), passes.end(),
                                        [](const trace::Pass& pass) { return pass.superseded; });
  const auto emitted = static_cast<long>(tokens().size());
  return static_cast<long>(passes.size()) - (emitted - 1 + superseded - accepted + overshoot);
}

std::size_t first_difference(const std::vector<std::int32_t>& ours,
                             const std::vector<std::int32_t>& theirs) {
  const auto [a, b] = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
  return static_cast<std::size_t>(a - ours.begin());
}

void expect_same_text(const JobReport& plain, const std::vector<std::int32_t>& tokens,
                      const std::string& what) {
  const std::vector<std::int32_t> expected = plain.tokens();
  const std::size_t parted = first_difference(expected, tokens);
  if (parted == expected.size() && parted == tokens.size()) return;
  ASSERT_LT(parted, plain.gaps().size()) << what;
  EXPECT_LT(plain.gaps()[parted], near_tie) << what << " parts at token " << parted;
}

WorkerProcess::WorkerProcess() : child_(start_worker()) {
  const auto first = receive();
  if (!first) throw std::runtime_error("the worker ended before its first frame");
  hello_ = std::get<protocol::Hello>(*first);
}

protocol::Opened WorkerProcess::open(const trace::Setup& setup, const trace::Sampling& sampling) {
  send(protocol::Open{setup, sampling});
  const auto answer = receive();
  if (!answer) throw std::runtime_error("the worker died while it opened a model");
  return std::get<protocol::Opened>(*answer);
}

JobReport WorkerProcess::run(const protocol::Job& job) {
  const std::uint32_t id = ++jobs_;
  send(protocol::Submit{id, job});
  JobReport report;
  while (true) {
    const auto frame = receive();
    if (!frame) throw std::runtime_error("the worker died during a job");
    const auto& happened = std::get<protocol::Happened>(*frame);
    if (happened.job_id != id) throw std::runtime_error("an event of another job");
    if (const auto* finished = std::get_if<trace::Finished>(&happened.event)) {
      report.finished = *finished;
      return report;
    }
    take(happened.event, report);
  }
}

void WorkerProcess::send(const protocol::Command& command) {
  send_bytes(protocol::frame(protocol::encode(command)));
}

void WorkerProcess::send_bytes(std::string_view bytes) { child_.write(bytes); }

std::optional<protocol::Report> WorkerProcess::receive() {
  while (true) {
    auto payload = reader_.next();
    if (!payload) throw std::runtime_error(payload.error().message);
    if (*payload) {
      auto report = protocol::decode_report(**payload);
      if (!report) throw std::runtime_error(report.error().message);
      return *report;
    }
    std::array<char, 65536> buffer;
    const ssize_t count = ::read(child_.output(), buffer.data(), buffer.size());
    if (count <= 0) return std::nullopt;
    reader_.feed({buffer.data(), static_cast<std::size_t>(count)});
  }
}

int WorkerProcess::end() {
  child_.close_input();
  const auto status = child_.wait(seconds(60));
  if (!status) throw std::runtime_error("the worker does not end");
  return status->exit_code ? *status->exit_code : 128 + status->signal.value_or(0);
}

std::string WorkerProcess::errors() {
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t count = 0;
  while ((count = ::read(child_.errors(), buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  return text;
}

std::string lab_model(const std::string& name) { return PACELINE_SOURCE_DIR "/models/" + name; }

trace::Setup lab_setup(trace::SpecType type, int draft_n_max) {
  trace::Setup setup;
  setup.model_path = lab_model("target-mtp-f16.gguf");
  if (type == trace::SpecType::draft_dflash) setup.draft_path = lab_model("dflash-f16.gguf");
  if (type == trace::SpecType::draft_simple) setup.draft_path = lab_model("small-f16.gguf");
  if (type == trace::SpecType::draft_eagle3) setup.draft_path = lab_model("eagle3-f16.gguf");
  if (type == trace::SpecType::draft_dspark) setup.draft_path = lab_model("dspark-f16.gguf");
  setup.spec_type = type;
  setup.draft_n_max = draft_n_max;
  setup.n_ctx = 1024;
  setup.threads = 1;
  return setup;
}

protocol::Generate greedy(std::vector<std::int32_t> prompt, int n_predict) {
  protocol::Generate job;
  job.prompt_tokens = std::move(prompt);
  job.n_predict = n_predict;
  job.sampling.temp = 0;
  job.record_drafts = true;
  job.record_gaps = true;
  return job;
}

protocol::Generate greedy(const std::string& prompt, int n_predict) {
  protocol::Generate job = greedy(std::vector<std::int32_t>{}, n_predict);
  job.prompt = prompt;
  return job;
}

}  // namespace paceline::support
