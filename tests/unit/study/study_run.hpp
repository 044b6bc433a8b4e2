#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/simulated/simulated.hpp"
#include "study/run.hpp"

namespace paceline::study {

using engine::simulated::Fault;
using engine::simulated::FaultKind;
using engine::simulated::World;

/// Remembers what it was given, in order, and can fail.
class MemoryJournal final : public trace::Journal {
 public:
  util::Result<void> take(const trace::Record& record) override {
    return std::visit([this](const auto& content) { return note(name(content)); }, record.content);
  }

  std::vector<std::string> notes;
  std::size_t fail_after = 1'000'000;

 private:
  static std::string name(const trace::Header&) { return "begin"; }
  static std::string name(const trace::About&) { return "about"; }
  static std::string name(const trace::Launch& launch) { return "launch " + launch.arm; }
  static std::string name(const trace::Request& request) {
    return request.warm_up ? "warm-up" : "request " + request.prompt_id;
  }
  static std::string name(const trace::WidthTime&) { return "width"; }
  static std::string name(const trace::MemoryReading&) { return "memory"; }
  static std::string name(const trace::LoadCell& cell) {
    return cell.loop == trace::LoadLoop::closed ? "closed loop" : "open loop";
  }
  static std::string name(const trace::FilledDepth& filled) {
    return "fill " + std::to_string(filled.asked_depth);
  }
  static std::string name(const trace::Rereading&) { return "rereading"; }
  static std::string name(const trace::DraftMap&) { return "draft map"; }
  static std::string name(const trace::Outcome&) { return "launch end"; }
  static std::string name(const trace::Resumption&) { return "resumed"; }
  static std::string name(const trace::End&) { return "end"; }

  util::Result<void> note(std::string text) {
    if (notes.size() >= fail_after) return util::fail(util::ErrorKind::internal, "disk full");
    notes.push_back(std::move(text));
    return {};
  }
};

inline workload::Prompt prompt(const std::string& id, const std::string& text) {
  workload::Prompt prompt;
  prompt.id = prompt.family = id;
  prompt.workload_class = "code";
  prompt.text = text;
  return prompt;
}

/// The simulated engine as if it ran in this process's group, which it says only while open.
class LocalEngine final : public engine::Engine {
 public:
  explicit LocalEngine(std::unique_ptr<engine::Engine> engine) : engine_(std::move(engine)) {}
  engine::Capabilities capabilities() const override {
    auto capabilities = engine_->capabilities();
    capabilities.is_local = true;
    return capabilities;
  }
  tl::expected<trace::EngineFacts, trace::Outcome> open(const trace::Setup& setup,
                                                        const trace::Sampling& sampling) override {
    group_ = ::getpgrp();
    return engine_->open(setup, sampling);
  }
  util::Result<engine::JobId> submit(const protocol::Job& job,
                                     std::chrono::seconds patience) override {
    return engine_->submit(job, patience);
  }
  std::optional<engine::TaggedEvent> next(engine::TimePoint until) override {
    return engine_->next(until);
  }
  void cancel(engine::JobId job) override { engine_->cancel(job); }
  std::optional<pid_t> process_group() const override { return group_; }
  void close() override { engine_->close(); }

 private:
  std::unique_ptr<engine::Engine> engine_;
  std::optional<pid_t> group_;
};

inline engine::EngineFactory as_local(const engine::EngineFactory& make) {
  return [make](const trace::Arm& arm) { return std::make_unique<LocalEngine>(make(arm)); };
}

class StudyRun : public ::testing::Test {
 protected:
  StudyRun() {
    trace::Arm plain;
    plain.name = "plain";
    trace::Arm drafted;
    drafted.name = "dflash-n7";
    drafted.setup.spec_type = trace::SpecType::draft_dflash;
    drafted.setup.draft_n_max = 7;
    options.arms = {plain, drafted};
    for (const char* id : {"a", "b", "c"})
      options.prompts.measured.push_back(prompt(id, std::string("text of ") + id));
    options.prompts.warm_up.push_back(prompt("w", "warm"));
    options.n_predict = 20;
    options.rounds = 3;
  }

  /// Goes on behind the launches of `trace`, if there are any.
  util::Result<trace::Trace> run(trace::Trace trace = {}) {
    trace.header.arms = options.arms;
    const auto simulated = engine::simulated::factory(world);
    const engine::EngineFactory make_engine = make_local ? as_local(simulated) : simulated;
    const auto taken_down = study::run(
        options, make_engine, journal, [](double, double, const std::string&) {},
        [this] { return stop_after_asks-- <= 0; }, trace);
    measured_before_the_end = trace.launches.size();
    if (!taken_down) return tl::unexpected<util::Error>(taken_down.error());
    return trace;
  }

  RunOptions options;
  std::shared_ptr<World> world = std::make_shared<World>();
  MemoryJournal journal;
  bool make_local = false;
  int stop_after_asks = 1'000'000;
  std::size_t measured_before_the_end = 0;
};

inline int count(const trace::Trace& trace, const std::string& arm, trace::OutcomeKind kind) {
  int total = 0;
  for (const auto& launch : trace.launches)
    for (const auto& request : launch.requests)
      total += launch.arm == arm && !request.warm_up && request.outcome.kind == kind ? 1 : 0;
  return total;
}

/// The drafting arm says another text of prompt b from its third token on.
inline void stray_on_b(engine::simulated::Truth& truth) {
  truth.acceptance = [](const trace::Setup&, std::string_view) {
    return std::vector<double>(7, 1.0);
  };
  truth.strays_at = [](const trace::Setup& setup, std::string_view prompt) {
    const bool strays = setup.spec_type != trace::SpecType::none && prompt == "text of b";
    return strays ? std::optional(2) : std::nullopt;
  };
}

}  // namespace paceline::study
