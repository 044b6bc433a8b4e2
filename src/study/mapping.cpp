#include "study/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "machine/noise_meter.hpp"
#include "study/collect.hpp"
#include "study/order.hpp"
#include "study/plan.hpp"

namespace paceline::study {

namespace {

constexpr int warm_up_tokens = 16;
constexpr int shortest_text = 2;

class MapRun {
 public:
  MapRun(const MapOptions& options, trace::Journal& journal, const Watcher& watcher,
         const StopAsked& stop_asked, trace::Trace& trace)
      : options_(options),
        journal_(journal),
        watcher_(watcher),
        stop_asked_(stop_asked),
        trace_(trace),
        kept_(trace.launches.size()),
        texts_(options.texts) {}

  util::Result<void> run(const engine::EngineFactory& make_engine) {
    PACELINE_TRY(journal_.begin(trace_));
    PACELINE_TRY(write_texts(make_engine));
    for (const auto& arm : options_.arms)
      if (!trace::is_denominator(arm)) PACELINE_TRY(map_arm(arm, make_engine));
    std::mt19937_64 random(options_.seed);
    for (int round = 0; round < options_.rounds; ++round)
      for (const std::size_t index : shuffled_indices(options_.arms.size(), random))
        PACELINE_TRY(time_arm(options_.arms[index], round, make_engine));
    trace_.interrupted = stop_asked_();
    return journal_.end(trace_.interrupted);
  }

 private:
  /// That launch, where the map goes on and has it already.
  const trace::Launch* kept(const trace::Arm& arm, int round) const {
    for (std::size_t i = 0; i < kept_; ++i)
      if (trace_.launches[i].arm == arm.name && trace_.launches[i].round == round)
        return &trace_.launches[i];
    return nullptr;
  }

  /// What a launch leaves for those to come: the texts as tokens, as plain wrote them or as the
  /// engine's tokenizer read them.
  void learn(const trace::Launch& launch) {
    for (auto& text : texts_) {
      if (!text.tokens.empty() || !has_plain()) continue;
      const auto is_of_text = [&text](const auto& part) {
        return part.prompt_id == text.prompt_id && part.workload_class == text.workload_class;
      };
      for (const auto& request : launch.requests)
        if (is_of_text(request))
          for (const auto& emission : request.emissions)
            text.tokens.insert(text.tokens.end(), emission.tokens.begin(), emission.tokens.end());
      for (const auto& map : launch.maps)
        if (is_of_text(map)) text.tokens = map.tokens;
    }
  }

  /// A fresh load of an arm's engine, `work` on it, and its end, unless it is kept. Past all rounds
  /// nothing is timed.
  template <class Work>
  util::Result<void> launch(const trace::Arm& arm, int round,
                            const engine::EngineFactory& make_engine, Work work) {
    if (const auto* made = kept(arm, round)) {
      if (round == options_.rounds) steps_done_ += static_cast<double>(texts_.size());
      learn(*made);
      return {};
    }
    if (stop_asked_()) return {};
    trace::Launch launch;
    launch.index = static_cast<int>(trace_.launches.size());
    launch.round = round;
    launch.arm = arm.name;
    const auto engine = make_engine(arm);
    show(arm.name + ": loading");
    const bool needs_model = has_plain() || !trace::is_ngram(arm.setup.spec_type);
    if (needs_model) {
      if (auto facts = engine->open(arm.setup, arm.sampling))
        launch.facts = std::move(*facts);
      else
        launch.outcome = facts.error();
    }
    PACELINE_TRY(journal_.launch(launch));
    trace_.launches.push_back(std::move(launch));
    if (current().outcome.kind == trace::OutcomeKind::done) PACELINE_TRY(work(*engine));
    // Between two requests none says so, and a launch that is to be kept must be whole.
    if (stop_asked_()) current().outcome = cancelled();
    engine->close();
    learn(current());
    return journal_.launch_end(current().index, current().outcome);
  }

  util::Result<void> write_texts(const engine::EngineFactory& make_engine) {
    const auto is_given = [](const protocol::KnownText& text) {
      return !text.tokens.empty() || !text.text.empty();
    };
    if (std::all_of(texts_.begin(), texts_.end(), is_given)) return {};
    return launch(plain(), options_.rounds, make_engine,
                  [&](engine::Engine& engine) -> util::Result<void> {
                    for (std::size_t i = 0; i < texts_.size() && !lost(); ++i) {
                      show(fmt::format("plain: writing text {} of {}", i + 1, texts_.size()));
                      protocol::Generate job = job_of(texts_[i], plain());
                      job.n_predict = options_.n_predict;
                      PACELINE_TRY(request(engine, job, i, false));
                      ++steps_done_;
                    }
                    return {};
                  });
  }

  util::Result<void> map_arm(const trace::Arm& arm, const engine::EngineFactory& make_engine) {
    return launch(
        arm, options_.rounds, make_engine, [&](engine::Engine& engine) -> util::Result<void> {
          for (std::size_t i = 0; i < texts_.size() && !lost(); ++i) {
            if (texts_[i].text.empty() && texts_[i].tokens.size() < shortest_text) continue;
            show(fmt::format("{}: mapping text {} of {}", arm.name, i + 1, texts_.size()));
            PACELINE_TRY(map_text(engine, arm, i));
            ++steps_done_;
          }
          return {};
        });
  }

  util::Result<void> map_text(engine::Engine& engine, const trace::Arm& arm, std::size_t index) {
    protocol::Map job;
    job.texts = {texts_[index]};
    job.asks = ways_of(arm);
    job.most_tokens = options_.most_tokens;
    if (trace::is_ngram(arm.setup.spec_type)) {
      job.setup = arm.setup;
      job.vocabulary = options_.vocabulary;
      job.n_predict = options_.n_predict;
      job.n_ctx = current().facts ? current().facts->n_ctx : 0;
      job.replays = current().facts && current().facts->rollback == "replay";
    }
    Collected collected = collected_from(engine, job);
    note_failure(collected.request.outcome);
    if (collected.maps.empty()) {
      auto& refused = collected.maps.emplace_back();
      refused.workload_class = texts_[index].workload_class;
      refused.prompt_id = texts_[index].prompt_id;
      refused.reason = collected.request.outcome.reason;
    }
    for (auto& map : collected.maps) {
      map.family = options_.families[index];
      PACELINE_TRY(journal_.draft_map(current().index, map));
      current().maps.push_back(std::move(map));
    }
    return {};
  }

  /// Every length and p-min that the drafter can be asked for.
  std::vector<trace::Drafting> ways_of(const trace::Arm& arm) const {
    int longest = options_.longest;
    if (current().facts)
      longest = std::min(longest, current().facts->draft_n_max.value_or(longest));
    std::vector<trace::Drafting> ways;
    for (const double p_min : options_.p_mins)
      for (int n_max = 1; n_max <= longest; ++n_max) {
        if (trace::is_ngram(arm.setup.spec_type) && p_min > 0) continue;
        ways.push_back({n_max, p_min});
      }
    return ways;
  }

  /// Ways that were mapped, so that those a drafter cannot draft in are not tried.
  std::vector<trace::Drafting> mapped_ways(const trace::Arm& arm) const {
    for (const auto& launch : trace_.launches) {
      if (launch.arm != arm.name || launch.maps.empty()) continue;
      if (launch.maps.front().kind == trace::MapKind::one_ask) return ways_of(arm);
      std::vector<trace::Drafting> ways;
      for (const auto& ask : launch.maps.front().asks) ways.push_back(ask.drafting);
      return ways;
    }
    return {};
  }

  /// Times passes along some of the texts in every way of drafting, in random order: the widths
  /// that the map predicts then follow one another as they do in a run.
  util::Result<void> time_arm(const trace::Arm& arm, int round,
                              const engine::EngineFactory& make_engine) {
    const bool drafts = !trace::is_denominator(arm);
    ++steps_done_;
    return launch(arm, round, make_engine, [&](engine::Engine& engine) -> util::Result<void> {
      const auto texts = timed_texts(round);
      if (texts.empty()) return {};
      PACELINE_TRY(time_text(engine, arm, texts.front(), std::nullopt, true));
      std::vector<std::optional<trace::Drafting>> ways = {std::nullopt};
      if (drafts) {
        const auto mapped = mapped_ways(arm);
        ways.assign(mapped.begin(), mapped.end());
      }
      std::mt19937_64 random(request_seed(options_.seed, arm.name, round));
      for (const std::size_t way : shuffled_indices(ways.size(), random)) {
        show(fmt::format("{}: timing its passes, launch {}/{}", arm.name, round + 1,
                         options_.rounds));
        for (const std::size_t text : texts)
          if (!lost()) PACELINE_TRY(time_text(engine, arm, text, ways[way], false));
      }
      return {};
    });
  }

  /// Of each class so many, others in every round as far as there are.
  std::vector<std::size_t> timed_texts(int round) const {
    std::map<std::string, std::vector<std::size_t>> by_class;
    for (std::size_t i = 0; i < texts_.size(); ++i)
      if (texts_[i].tokens.size() >= shortest_text) by_class[texts_[i].workload_class].push_back(i);
    std::vector<std::size_t> chosen;
    for (const auto& [name, all] : by_class) {
      const auto count = std::min(static_cast<std::size_t>(options_.timed_per_class), all.size());
      for (std::size_t i = 0; i < count; ++i)
        chosen.push_back(all[(static_cast<std::size_t>(round) * count + i) % all.size()]);
    }
    return chosen;
  }

  util::Result<void> time_text(engine::Engine& engine, const trace::Arm& arm, std::size_t index,
                               const std::optional<trace::Drafting>& drafting, bool warm_up) {
    protocol::Generate job = job_of(texts_[index], arm);
    job.forced_text = texts_[index].tokens;
    job.drafting = drafting;
    const int length = static_cast<int>(job.forced_text.size());
    job.n_predict = warm_up ? std::min(warm_up_tokens, length)
                    : trace::is_ngram(arm.setup.spec_type)
                        ? std::max(length, options_.n_predict)
                        : std::min(options_.timed_tokens, length);
    return request(engine, job, index, warm_up);
  }

  protocol::Generate job_of(const protocol::KnownText& text, const trace::Arm& arm) const {
    protocol::Generate job;
    job.prompt = text.prompt;
    job.messages = text.messages;
    job.sampling = arm.sampling;
    job.seed = request_seed(options_.seed, text.prompt_id, 0);
    return job;
  }

  util::Result<void> request(engine::Engine& engine, const protocol::Generate& job,
                             std::size_t index, bool warm_up) {
    noise_.start();
    trace::Request request = std::move(collected_from(engine, job).request);
    request.noise = noise_.stop();
    request.prompt_id = texts_[index].prompt_id;
    request.workload_class = texts_[index].workload_class;
    request.family = options_.families[index];
    request.seed = job.seed;
    request.drafting = job.drafting;
    request.warm_up = warm_up;
    note_failure(request.outcome);
    PACELINE_TRY(journal_.request(current().index, request));
    current().requests.push_back(std::move(request));
    return {};
  }

  Collected collected_from(engine::Engine& engine, const protocol::Job& job) {
    return collect(engine, job, std::chrono::seconds(options_.patience_s), stop_asked_);
  }

  /// A request that was refused leaves the engine as it was; every other failure ends the launch.
  void note_failure(const trace::Outcome& outcome) {
    using trace::OutcomeKind;
    if (outcome.kind != OutcomeKind::done && outcome.kind != OutcomeKind::refused)
      current().outcome = outcome;
  }

  bool has_plain() const {
    return std::any_of(options_.arms.begin(), options_.arms.end(), trace::is_denominator);
  }
  const trace::Arm& plain() const {
    return *std::find_if(options_.arms.begin(), options_.arms.end(), trace::is_denominator);
  }
  bool lost() const { return current().outcome.kind != trace::OutcomeKind::done || stop_asked_(); }
  void show(const std::string& what) const { watcher_(steps_done_, steps_total(), what); }

  /// Texts written, texts mapped and launches timed.
  double steps_total() const {
    const std::size_t drafters = options_.arms.size() - (has_plain() ? 1 : 0);
    return static_cast<double>(texts_.size() * (drafters + 1)) +
           static_cast<double>(options_.arms.size()) * options_.rounds;
  }
  trace::Launch& current() { return trace_.launches.back(); }
  const trace::Launch& current() const { return trace_.launches.back(); }

  const MapOptions& options_;
  trace::Journal& journal_;
  const Watcher& watcher_;
  const StopAsked& stop_asked_;
  trace::Trace& trace_;
  std::size_t kept_;  ///< launches of a map that goes on, which are not made again
  std::vector<protocol::KnownText> texts_;
  machine::NoiseMeter noise_;
  double steps_done_ = 0;
};

}  // namespace

util::Result<void> map_texts(const MapOptions& options, const engine::EngineFactory& make_engine,
                             trace::Journal& journal, const Watcher& watcher,
                             const StopAsked& stop_asked, trace::Trace& trace) {
  return MapRun(options, journal, watcher, stop_asked, trace).run(make_engine);
}

}  // namespace paceline::study
