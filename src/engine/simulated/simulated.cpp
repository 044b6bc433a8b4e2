#include "engine/simulated/simulated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "engine/simulated/generation.hpp"
#include "trace/sampling.hpp"

namespace paceline::engine::simulated {

namespace {

trace::Finished failed(trace::OutcomeKind kind, std::string reason) {
  trace::Finished finished;
  finished.outcome.kind = kind;
  finished.outcome.reason = std::move(reason);
  return finished;
}

trace::EngineFacts facts_of(const Truth& truth, const trace::Setup& setup,
                            const trace::Sampling& sampling) {
  trace::EngineFacts facts;
  facts.engine = "simulated";
  facts.version = PACELINE_VERSION;
  facts.build = fmt::format("seed {}", truth.seed);
  facts.devices = {"simulated device"};
  facts.target.path = setup.model_path;
  facts.target.architecture = "simulated";
  facts.rollback = "none";
  if (setup.spec_type != trace::SpecType::none) {
    facts.rollback = truth.replays ? "replay" : "partial";
    facts.draft_n_max = longest_draft(truth, setup);
    if (trace::is_ngram(setup.spec_type))
      facts.ngram = setup.ngram;
    else
      facts.draft_block = truth.draft_block;
  }
  for (const auto& parameter : trace::asked_parameters)
    if (const auto value = parameter.value(sampling))
      facts.sampling.settings.push_back({parameter.name, *value, trace::Origin::user});
  facts.n_ctx = setup.n_ctx;
  facts.threads = setup.threads;
  return facts;
}

/// Visits jobs by type and says which events each one makes.
struct Runner {
  const Truth& truth;
  Site site;
  trace::Nanoseconds& now;

  std::vector<trace::Event> operator()(const protocol::Generate& job) const {
    return generate(truth, site, job, now);
  }
  std::vector<trace::Event> operator()(const protocol::Probe& job) const {
    return probe(truth, site, job, now);
  }
  std::vector<trace::Event> operator()(const protocol::Fill& job) const {
    return fill(truth, site, job, now);
  }
  std::vector<trace::Event> operator()(const protocol::Reread& job) const {
    return reread(truth, site, job);
  }
  std::vector<trace::Event> operator()(const protocol::Map&) const { return no_drafts(); }
  std::vector<trace::Event> operator()(const protocol::Synth&) const { return no_files(); }
  std::vector<trace::Event> operator()(const protocol::Invent&) const { return no_files(); }
  std::vector<trace::Event> operator()(const protocol::Inspect&) const { return no_files(); }
  std::vector<trace::Event> operator()(const protocol::Check&) const { return {trace::Finished{}}; }
  std::vector<trace::Event> operator()(const protocol::Observe&) const { return no_files(); }
  std::vector<trace::Event> operator()(const protocol::ListDevices&) const {
    return {failed(trace::OutcomeKind::refused, "the simulated engine runs on no device")};
  }
  std::vector<trace::Event> operator()(const protocol::ProbeDevices&) const {
    return (*this)(protocol::ListDevices{});
  }

  static std::vector<trace::Event> no_drafts() {
    return {failed(trace::OutcomeKind::refused, "the simulated engine drafts no tokens")};
  }
  static std::vector<trace::Event> no_files() {
    return {failed(trace::OutcomeKind::refused, "the simulated engine has no model files")};
  }
};

bool is_record_of_pass(const trace::Event& event, int pass) {
  const auto* record = std::get_if<trace::Pass>(&event);
  return record != nullptr && record->index == pass;
}

}  // namespace

SimulatedEngine::SimulatedEngine(std::shared_ptr<World> world) : world_(std::move(world)) {}

Capabilities SimulatedEngine::capabilities() const {
  return {.probes_widths = true, .rereads = true, .fills_context = true};
}

tl::expected<trace::EngineFacts, trace::Outcome> SimulatedEngine::open(
    const trace::Setup& setup, const trace::Sampling& sampling) {
  launch_ = world_->launches++;
  setup_ = setup;
  const auto& faults = world_->truth.faults;
  if (std::any_of(faults.begin(), faults.end(), [this](const Fault& fault) {
        return fault.kind == FaultKind::refuse_open && fault.launch == launch_;
      })) {
    return tl::unexpected<trace::Outcome>(
        failed(trace::OutcomeKind::refused, "the simulated launch was told not to open").outcome);
  }
  is_open_ = true;
  filled_ = 0;
  return facts_of(world_->truth, setup, sampling);
}

const Fault* SimulatedEngine::fault_of_job() const {
  for (const auto& fault : world_->truth.faults)
    if (fault.kind != FaultKind::refuse_open && fault.launch == launch_ && fault.job == jobs_)
      return &fault;
  return nullptr;
}

void SimulatedEngine::apply(const Fault& fault, std::chrono::seconds patience) {
  const auto at = std::find_if(events_.begin(), events_.end(), [&fault](const auto& event) {
    return is_record_of_pass(event, fault.pass);
  });
  if (at == events_.end()) return;  // the job ended before it
  dies_ = true;
  if (fault.kind == FaultKind::cut) {
    events_.erase(at, events_.end());
    events_.emplace_back(failed(trace::OutcomeKind::crashed, "the engine's stream ended early"));
    return;
  }
  // Records are sent after the timed window: a process that dies or hangs in it sends none.
  events_.clear();
  if (fault.kind == FaultKind::hang) {
    silent_waits_ = 1;
    events_.emplace_back(
        failed(trace::OutcomeKind::timed_out,
               fmt::format("no sign of life from the engine for {} s", patience.count())));
    return;
  }
  auto finished = failed(trace::OutcomeKind::crashed, "the engine died on signal SIGABRT");
  finished.outcome.signal = SIGABRT;
  finished.outcome.log_tail = {"simulated: abort"};
  events_.emplace_back(std::move(finished));
}

util::Result<JobId> SimulatedEngine::submit(const protocol::Job& job,
                                            std::chrono::seconds patience) {
  if (!is_open_)
    return util::fail(util::ErrorKind::engine, "the simulated engine is not open: open it first");
  if (!events_.empty())
    return util::fail(util::ErrorKind::internal,
                      "a job is still running: read its Finished before the next submit");
  const auto events =
      std::visit(Runner{world_->truth, {setup_, launch_, jobs_, filled_}, now_}, job);
  events_.assign(events.begin(), events.end());
  if (!events_.empty())
    if (const auto* fill = std::get_if<trace::Fill>(&events_.front())) filled_ = fill->depth;
  silent_waits_ = 0;
  if (const auto* fault = fault_of_job()) apply(*fault, patience);
  ++jobs_;
  return ++job_;
}

std::optional<TaggedEvent> SimulatedEngine::next(TimePoint) {
  if (silent_waits_ > 0) {
    --silent_waits_;
    return std::nullopt;
  }
  if (events_.empty()) return std::nullopt;
  TaggedEvent tagged{job_, std::move(events_.front())};
  events_.pop_front();
  if (events_.empty() && dies_) is_open_ = false;
  return tagged;
}

void SimulatedEngine::cancel(JobId job) {
  if (job != job_ || events_.empty()) return;
  silent_waits_ = 0;
  events_.clear();
  events_.emplace_back(failed(trace::OutcomeKind::cancelled, "stopped by the user"));
}

void SimulatedEngine::close() {
  is_open_ = false;
  events_.clear();
}

EngineFactory factory(std::shared_ptr<World> world) {
  return [world = std::move(world)](const trace::Arm&) {
    return std::make_unique<SimulatedEngine>(world);
  };
}

}  // namespace paceline::engine::simulated
