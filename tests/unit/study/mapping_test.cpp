#include "study/mapping.hpp"

#include <algorithm>
#include <deque>

#include "study/collect.hpp"
#include "unit/study/study_run.hpp"

// Maps that were cut off and go on.

namespace paceline::study {
namespace {

/// The simulated engine, whose drafter answers a map with the text and what it was asked.
class MappedEngine final : public engine::Engine {
 public:
  explicit MappedEngine(std::unique_ptr<engine::Engine> engine) : engine_(std::move(engine)) {}
  engine::Capabilities capabilities() const override { return engine_->capabilities(); }
  tl::expected<trace::EngineFacts, trace::Outcome> open(const trace::Setup& setup,
                                                        const trace::Sampling& sampling) override {
    return engine_->open(setup, sampling);
  }
  util::Result<engine::JobId> submit(const protocol::Job& job,
                                     std::chrono::seconds patience) override {
    const auto* asked = std::get_if<protocol::Map>(&job);
    if (asked == nullptr) return engine_->submit(job, patience);
    const auto& text = asked->texts.front();
    trace::DraftMap map;
    map.workload_class = text.workload_class;
    map.prompt_id = text.prompt_id;
    map.kind = trace::MapKind::each_length;
    map.tokens = text.tokens;
    if (map.tokens.empty()) map.tokens.assign(text.text.begin(), text.text.end());
    for (const auto& drafting : asked->asks) map.asks.push_back({drafting, {}, {}, {}});
    answers_ = {map, trace::Finished{}};
    return 1;
  }
  std::optional<engine::TaggedEvent> next(engine::TimePoint until) override {
    if (answers_.empty()) return engine_->next(until);
    engine::TaggedEvent answer{1, std::move(answers_.front())};
    answers_.pop_front();
    return answer;
  }
  void cancel(engine::JobId job) override {
    if (answers_.empty()) return engine_->cancel(job);
    trace::Finished finished;
    finished.outcome = cancelled();
    answers_ = {finished};
  }
  void close() override { engine_->close(); }

 private:
  std::unique_ptr<engine::Engine> engine_;
  std::deque<trace::Event> answers_;
};

/// What every launch did, in order.
std::vector<std::string> what_launches_did(const trace::Trace& trace) {
  std::vector<std::string> launches;
  for (const auto& launch : trace.launches) {
    std::string text =
        std::to_string(launch.index) + " " + launch.arm + " " + std::to_string(launch.round) + ":";
    for (const auto& request : launch.requests) {
      text += " " + request.prompt_id + (request.warm_up ? " warm-up" : "");
      if (request.drafting) text += " n" + std::to_string(request.drafting->n_max);
      for (const auto& emission : request.emissions)
        for (const auto token : emission.tokens) text += "," + std::to_string(token);
    }
    for (const auto& map : launch.maps) text += " map " + map.prompt_id;
    launches.push_back(std::move(text));
  }
  return launches;
}

/// Launches that a study which was cut off keeps.
std::size_t kept_of(const trace::Trace& trace) {
  const auto cut = std::find_if(trace.launches.begin(), trace.launches.end(), [](const auto& one) {
    return one.outcome.kind == trace::OutcomeKind::cancelled;
  });
  return static_cast<std::size_t>(cut - trace.launches.begin());
}

/// Texts that plain writes, or that are given.
class MapCutOff : public ::testing::TestWithParam<bool> {
 protected:
  MapCutOff() {
    for (const char* name : {"plain", "mtp", "dflash"}) options.arms.emplace_back().name = name;
    options.arms[1].setup.spec_type = trace::SpecType::draft_mtp;
    options.arms[2].setup.spec_type = trace::SpecType::draft_dflash;
    for (const char* id : {"a", "b", "c"}) {
      auto& text = options.texts.emplace_back();
      text.prompt_id = id;
      text.prompt = std::string("before ") + id;
      if (GetParam()) text.text = std::string("so ") + id;
      options.families.emplace_back(id);
    }
    options.longest = 3;
    options.n_predict = 8;
    options.rounds = 3;
  }

  trace::Trace map(trace::Trace trace = {}, int stop_after_asks = 1'000'000) {
    trace.header.arms = options.arms;
    trace.header.rounds = options.rounds;
    journal.notes.clear();
    const auto simulated = engine::simulated::factory(std::make_shared<World>());
    const auto make_engine = [&](const trace::Arm& arm) {
      return std::make_unique<MappedEngine>(simulated(arm));
    };
    const auto taken_down = map_texts(
        options, make_engine, journal, [](double, double, const std::string&) {},
        [&stop_after_asks] { return stop_after_asks-- <= 0; }, trace);
    EXPECT_TRUE(taken_down) << taken_down.error().message;
    return trace;
  }

  /// Goes on behind what is kept of `cut_off`, and holds it against an undisturbed map.
  void expect_whole(trace::Trace cut_off, std::size_t kept,
                    const std::vector<std::string>& wanted) {
    cut_off.launches.resize(kept);
    cut_off.resumptions.push_back({"2026-03-04T05:06:07Z", static_cast<int>(kept), {}});
    EXPECT_EQ(what_launches_did(map(cut_off)), wanted) << kept << " kept";
    EXPECT_EQ(journal.notes.front(), "resumed");
    EXPECT_EQ(std::count(journal.notes.begin(), journal.notes.end(), "launch end"),
              static_cast<long>(wanted.size() - kept))
        << "what had ended is not made again";
  }

  MapOptions options;
  MemoryJournal journal;
};

TEST_P(MapCutOff, is_what_an_undisturbed_one_is_wherever_it_goes_on) {
  const auto whole = map();
  const auto wanted = what_launches_did(whole);
  ASSERT_EQ(wanted.size(), (GetParam() ? 0u : 1u) + 2 + 3 * 3) << "texts, maps and times";
  for (std::size_t kept = 0; kept <= wanted.size(); ++kept) expect_whole(whole, kept, wanted);
}

TEST_P(MapCutOff, keeps_no_launch_that_the_user_stopped_before_its_end) {
  options.rounds = options.longest = 1;
  options.n_predict = 2;
  const auto wanted = what_launches_did(map());
  for (int asks = 0;; ++asks) {
    const auto stopped = map({}, asks);
    if (!stopped.interrupted) break;
    expect_whole(stopped, kept_of(stopped), wanted);
    if (HasFailure()) FAIL() << "stopped after asking " << asks << " times";
  }
}

INSTANTIATE_TEST_SUITE_P(Of, MapCutOff, ::testing::Bool(), [](const auto& given) {
  return given.param ? "GivenTexts" : "WrittenTexts";
});

}  // namespace
}  // namespace paceline::study
