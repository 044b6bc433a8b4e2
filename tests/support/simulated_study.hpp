#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/simulated/simulated.hpp"
#include "trace/trace.hpp"

// Runs a whole study on the simulated engine and returns its trace, without any of src/study.
namespace paceline::tests {

struct StudyPrompt {
  std::string id;
  std::string workload_class;
  std::string text;
  std::string family;
};

struct StudyPlan {
  std::vector<trace::Arm> arms;
  std::vector<StudyPrompt> prompts;
  int rounds = 3;
  int repetitions = 1;
  int n_predict = 64;
  std::vector<int> probe_widths;  ///< empty: no probe
  bool synced_too = false;        ///< every prompt once more, synced, after the measured ones
};

inline trace::Arm plain_arm() {
  trace::Arm arm;
  arm.name = "plain";
  arm.sampling.temp = 0.7;
  return arm;
}

inline trace::Arm drafting_arm(int draft_n_max = 7) {
  trace::Arm arm = plain_arm();
  arm.name = "dflash";
  arm.setup.spec_type = trace::SpecType::draft_dflash;
  arm.setup.draft_n_max = draft_n_max;
  return arm;
}

/// `count` prompts of one class, each a family of its own. The text names the class first.
inline std::vector<StudyPrompt> study_prompts(const std::string& workload_class, int count) {
  std::vector<StudyPrompt> prompts;
  for (int i = 0; i < count; ++i) {
    const std::string id = workload_class + "-" + std::to_string(i);
    prompts.push_back({id, workload_class, id + ": text", id});
  }
  return prompts;
}

inline StudyPlan two_arm_plan(int prompts, int rounds) {
  StudyPlan plan;
  plan.arms = {plain_arm(), drafting_arm()};
  plan.prompts = study_prompts("code", prompts);
  plan.rounds = rounds;
  return plan;
}

/// Puts one event where it belongs in a request or launch.
struct Recorder {
  trace::Request& request;
  trace::Launch& launch;

  void operator()(const trace::Progress&) const {}
  void operator()(const trace::Prefill& event) const { request.prefill = event; }
  void operator()(const trace::Pass& event) const { request.passes.push_back(event); }
  void operator()(const trace::Emission& event) const { request.emissions.push_back(event); }
  void operator()(const trace::WidthTime& event) const { launch.widths.push_back(event); }
  void operator()(const trace::Rereading& event) const { launch.rereadings.push_back(event); }
  void operator()(const trace::DraftMap& event) const { launch.maps.push_back(event); }
  void operator()(const model::FileFacts&) const {}
  void operator()(const trace::Devices&) const {}
  void operator()(const trace::DeviceSpeeds&) const {}
  void operator()(const trace::Observation&) const {}
  void operator()(const trace::Fill&) const {}
  void operator()(const trace::Answered&) const {}
  void operator()(const trace::Finished& event) const {
    request.outcome = event.outcome;
    request.stop = event.stop;
    request.eos_counted = event.eos_counted;
    request.text = event.text;
  }
};

/// Runs a job to its Finished; how it ended is in the request.
inline void run_job(engine::Engine& engine, const protocol::Job& job, trace::Request& request,
                    trace::Launch& launch) {
  const auto submitted = engine.submit(job, std::chrono::seconds(30));
  if (!submitted) {
    request.outcome = {trace::OutcomeKind::refused, submitted.error().message, {}, {}, {}};
    return;
  }
  while (true) {
    const auto tagged = engine.next(engine::TimePoint{});
    if (!tagged) continue;
    std::visit(Recorder{request, launch}, tagged->event);
    if (std::holds_alternative<trace::Finished>(tagged->event)) return;
  }
}

inline bool is_fatal(const trace::Outcome& outcome) {
  return outcome.kind == trace::OutcomeKind::crashed ||
         outcome.kind == trace::OutcomeKind::timed_out;
}

inline void run_requests(engine::Engine& engine, const StudyPlan& plan, const trace::Arm& arm,
                         bool synced, trace::Launch& launch) {
  for (int repetition = 0; repetition < (synced ? 1 : plan.repetitions); ++repetition) {
    for (const auto& prompt : plan.prompts) {
      if (launch.outcome.kind != trace::OutcomeKind::done) return;
      trace::Request request;
      request.prompt_id = prompt.id;
      request.workload_class = prompt.workload_class;
      request.family = prompt.family;
      request.repetition = repetition;
      request.synced = synced;
      protocol::Generate job;
      job.prompt = prompt.text;
      job.n_predict = plan.n_predict;
      job.sampling = arm.sampling;
      job.synced = synced;
      run_job(engine, job, request, launch);
      if (is_fatal(request.outcome)) launch.outcome = request.outcome;
      launch.requests.push_back(std::move(request));
    }
  }
}

inline trace::Launch run_launch(engine::Engine& engine, const StudyPlan& plan,
                                const trace::Arm& arm) {
  trace::Launch launch;
  launch.arm = arm.name;
  auto facts = engine.open(arm.setup, arm.sampling);
  if (!facts) {
    launch.outcome = facts.error();
    return launch;
  }
  launch.facts = std::move(*facts);
  if (!plan.probe_widths.empty()) {
    trace::Request unused;
    run_job(engine, protocol::Probe{plan.probe_widths, 128, 5}, unused, launch);
  }
  run_requests(engine, plan, arm, false, launch);
  if (plan.synced_too) run_requests(engine, plan, arm, true, launch);
  engine.close();
  return launch;
}

inline trace::Trace run_study(const engine::simulated::Truth& truth, const StudyPlan& plan) {
  auto world = std::make_shared<engine::simulated::World>();
  world->truth = truth;
  const auto make_engine = engine::simulated::factory(world);
  trace::Trace trace;
  trace.header.residency = "bare";
  trace.header.arms = plan.arms;
  trace.header.rounds = plan.rounds;
  trace.header.n_predict = plan.n_predict;
  trace.header.seed = truth.seed;
  for (int round = 0; round < plan.rounds; ++round) {
    for (const auto& arm : plan.arms) {
      auto launch = run_launch(*make_engine(arm), plan, arm);
      launch.index = static_cast<int>(trace.launches.size());
      launch.round = round;
      trace.launches.push_back(std::move(launch));
    }
  }
  return trace;
}

}  // namespace paceline::tests
