#include "study/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "machine/noise_meter.hpp"
#include "machine/process_memory.hpp"
#include "metrics/normalise.hpp"
#include "metrics/sweep.hpp"
#include "study/carried.hpp"
#include "study/collect.hpp"
#include "study/load.hpp"
#include "study/memory_speed.hpp"
#include "study/refusals.hpp"
#include "study/rereading.hpp"
#include "study/salt.hpp"
#include "study/widths_to_time.hpp"
#include "workload/fill_text.hpp"
#include "workload/picture.hpp"

namespace paceline::study {

namespace {

constexpr int warm_up_tokens = 16;
constexpr int width_repeats = 5;
constexpr int most_failures_in_a_row = 5;

/// What a request is made for.
enum class Purpose {
  measured,
  warm_up,    ///< a short one that warms the engine up
  reference,  ///< gives the text that all arms follow; discarded from figures like a warm-up
};

/// One run in progress: the trace so far, and where it is taken down.
class Run {
 public:
  Run(const RunOptions& options, trace::Journal& journal, const Watcher& watcher,
      const StopAsked& stop_asked, std::deque<trace::Launch>& made, trace::Trace& trace)
      : options_(options),
        journal_(journal),
        watcher_(watcher),
        stop_asked_(stop_asked),
        made_(made),
        trace_(trace) {}

  /// True when it went to its end.
  util::Result<bool> measure(const engine::EngineFactory& make_engine) {
    const auto launches = plan(options_);
    const std::size_t before = options_.force_text ? 1 : 0;
    steps_total_ = static_cast<double>((launches.size() + before) * steps_of_launch());
    if (options_.force_text) PACELINE_TRY(write_texts(make_engine));
    for (const auto& planned : launches) {
      if (stop_asked_() || pointless_to_go_on() || is_enough(planned.round)) break;
      if (!is_selected(planned)) {
        steps_total_ -= static_cast<double>(steps_of_launch());
        continue;
      }
      if (was_made(planned, options_.prompts.warm_up, Purpose::warm_up)) continue;
      const auto engine = make_engine(options_.arms[planned.arm]);
      PACELINE_TRY(measure_launch(planned, *engine));
    }
    if (stop_asked_() || pointless_to_go_on()) return false;
    PACELINE_TRY(read_again(make_engine));
    return true;
  }

 private:
  /// A run that goes on meets the launches it has already in the order in which it made them. True
  /// when `planned` is the next of them: it is in the trace then, and what it leaves for those to
  /// come is known.
  bool was_made(const PlannedLaunch& planned, const std::vector<workload::Prompt>& prompts,
                Purpose purpose) {
    const trace::Arm& arm = options_.arms[planned.arm];
    if (made_.empty() || made_.front().round != planned.round || made_.front().arm != arm.name ||
        made_.front().held_out != planned.held_out)
      return false;
    trace_.launches.push_back(std::move(made_.front()));
    made_.pop_front();
    steps_done_ += static_cast<double>(steps_of_launch());
    for (const auto& request : current().requests)
      for (const auto& prompt : prompts)
        if (request.warm_up && request.prompt_id == prompt.id &&
            request.workload_class == prompt.workload_class)
          carry(planned, prompt, request, purpose);
    return true;
  }

  void carry(const PlannedLaunch& planned, const workload::Prompt& prompt,
             const trace::Request& request, Purpose purpose) {
    if (purpose == Purpose::reference)
      carried_.keep_text(prompt, request);
    else
      carried_.learn_bytes_per_token(job_of(planned, prompt, prompt.id, prompt.id), request);
  }

  /// Before the first launch of a round.
  bool is_enough(int round) const {
    return options_.is_enough && made_.empty() && !trace_.launches.empty() &&
           current().round < round && options_.is_enough(trace_);
  }

  /// Asked once a round, before its first launch.
  bool is_selected(const PlannedLaunch& planned) {
    if (!options_.selection) return true;
    if (planned.round != selected_round_) selected_ = options_.selection(trace_, planned.round);
    selected_round_ = planned.round;
    return selected_[planned.arm];
  }

  std::size_t steps_of_launch() const {
    return options_.depths.size() * (options_.prompts.measured.size() + 1) +
           options_.loads.levels.size() + options_.loads.rates.size();
  }

  util::Result<void> measure_launch(const PlannedLaunch& planned, engine::Engine& engine) {
    return launch(planned, options_.arms[planned.arm].setup, engine,
                  [&] { return measure_requests(planned, engine); });
  }

  /// The text of each prompt that all arms are to follow, by the first plain arm.
  util::Result<void> write_texts(const engine::EngineFactory& make_engine) {
    const auto launches = untimed_launches(options_);
    if (launches.empty())
      return util::fail(util::ErrorKind::internal, "no plain arm gives the text to follow");
    const PlannedLaunch& planned = launches.front();
    if (was_made(planned, options_.prompts.measured, Purpose::reference)) return {};
    const auto engine = make_engine(options_.arms[planned.arm]);
    return launch(planned, options_.arms[planned.arm].setup, *engine, [&]() -> util::Result<void> {
      for (const auto& prompt : options_.prompts.measured)
        PACELINE_TRY(measure_request(planned, prompt, Purpose::reference, *engine));
      return {};
    });
  }

  /// Where texts differ, plain's are read again by a fresh plain engine, after everything that is
  /// timed: how close its choice was there, and how far apart its logits are by width.
  util::Result<void> read_again(const engine::EngineFactory& make_engine) {
    for (const auto& planned : untimed_launches(options_))
      if (!was_made(planned, {}, Purpose::measured))
        PACELINE_TRY(read_arm_again(planned, make_engine));
    return {};
  }

  util::Result<void> read_arm_again(const PlannedLaunch& planned,
                                    const engine::EngineFactory& make_engine) {
    const trace::Arm& arm = options_.arms[planned.arm];
    const auto jobs = plan_rereading(options_.held_out ? metrics::held_out_part(trace_) : trace_,
                                     options_, arm.name);
    if (jobs.empty()) return {};
    const auto engine = make_engine(arm);
    if (!engine->capabilities().rereads) return {};
    const trace::Setup setup = rereading_setup(arm.setup, jobs);
    return launch(planned, setup, *engine, [&]() -> util::Result<void> {
      for (const auto& job : jobs) {
        if (lost()) break;
        show(arm, planned, "reading texts that differ again");
        Collected collected =
            collect(*engine, job, std::chrono::seconds(options_.patience_s), stop_asked_);
        current().outcome = collected.request.outcome;
        if (!collected.rereading) continue;
        PACELINE_TRY(journal_.rereading(current().index, *collected.rereading));
        current().rereadings.push_back(std::move(*collected.rereading));
      }
      return {};
    });
  }

  /// A fresh load of an arm's engine, `work` on it, and its end.
  template <class Work>
  util::Result<void> launch(const PlannedLaunch& planned, const trace::Setup& setup,
                            engine::Engine& engine, Work work) {
    const trace::Arm& arm = options_.arms[planned.arm];
    const double steps_after = steps_done_ + static_cast<double>(steps_of_launch());
    trace::Launch launch;
    launch.index = static_cast<int>(trace_.launches.size());
    launch.round = planned.round;
    launch.arm = arm.name;
    launch.held_out = planned.held_out;
    if (options_.ceilings && !stop_asked_()) {
      show(arm, planned, "measuring the memory");
      launch.memory_speed = measure_memory(setup.threads, options_.tables, options_.table_on_disk,
                                           fresh_seed("", launch.index));
    }
    show(arm, planned, "loading");
    // Some engines know only once they are open whether they run here.
    const auto before = machine::read_memory(std::nullopt, trace::MemoryMoment::before_load);
    auto facts = engine.open(setup, arm.sampling);
    if (facts && facts->server && facts->server->takes_images == false && sends_images(options_))
      facts = tl::unexpected(no_images());
    if (facts)
      launch.facts = std::move(*facts);
    else
      launch.outcome = stop_asked_() ? cancelled() : facts.error();
    PACELINE_TRY(journal_.launch(launch));
    trace_.launches.push_back(std::move(launch));
    std::vector<trace::MemoryReading> readings;
    failures_in_a_row_ = 0;
    if (facts) {
      if (engine.capabilities().is_local) readings.push_back(before);
      read_memory(engine, trace::MemoryMoment::after_load, readings);
      PACELINE_TRY(work());
      if (!lost()) read_memory(engine, trace::MemoryMoment::after_run, readings);
    }
    for (const auto& reading : readings) PACELINE_TRY(journal_.memory(current().index, reading));
    current().memory = std::move(readings);
    engine.close();
    PACELINE_TRY(journal_.launch_end(current().index, current().outcome));
    steps_done_ = steps_after;
    return {};
  }

  /// Never while a request runs, so that it takes no time from one.
  static void read_memory(const engine::Engine& engine, trace::MemoryMoment when,
                          std::vector<trace::MemoryReading>& readings) {
    if (engine.capabilities().is_local)
      readings.push_back(machine::read_memory(engine.process_group(), when));
  }

  util::Result<void> measure_requests(const PlannedLaunch& planned, engine::Engine& engine) {
    filled_ = 0;
    keeps_fill_ = engine.capabilities().fills_context;
    for (const auto& prompt : options_.prompts.warm_up)
      PACELINE_TRY(measure_request(planned, prompt, Purpose::warm_up, engine));
    for (const int depth : options_.depths) {
      if (depth > 0 && keeps_fill_) {
        PACELINE_TRY_ASSIGN(const bool filled, fill(planned, depth, engine));
        if (!filled) return {};
      }
      filled_ = depth;
      PACELINE_TRY(measure_at_depth(planned, engine));
      if (depth > 0 && !keeps_fill_) PACELINE_TRY(note_depth(depth, engine));
    }
    filled_ = 0;
    return planned.synced ? util::Result<void>{} : measure_loads(planned, engine);
  }

  util::Result<void> measure_at_depth(const PlannedLaunch& planned, engine::Engine& engine) {
    if (options_.widths && !planned.synced) PACELINE_TRY(time_widths(planned, engine));
    ++steps_done_;
    for (const std::size_t index : planned.prompts) {
      PACELINE_TRY(
          measure_request(planned, options_.prompts.measured[index], Purpose::measured, engine));
      ++steps_done_;
    }
    return {};
  }

  /// Brings the context to a depth; false when that failed, as every larger one then would.
  util::Result<bool> fill(const PlannedLaunch& planned, int depth, engine::Engine& engine) {
    if (lost()) return false;
    show(options_.arms[planned.arm], planned, fmt::format("filling the context to {}", depth));
    Collected collected = collect(engine, protocol::Fill{options_.fill_text, depth},
                                  std::chrono::seconds(options_.patience_s), stop_asked_);
    trace::FilledDepth filled{depth, collected.request.outcome, collected.fill, std::nullopt};
    if (collected.fill && engine.capabilities().is_local)
      filled.reading =
          machine::read_memory(engine.process_group(), trace::MemoryMoment::after_fill);
    note_failure(filled.outcome, engine);
    PACELINE_TRY(journal_.fill(current().index, filled));
    current().fills.push_back(std::move(filled));
    return collected.fill.has_value();
  }

  /// What a server held once requests had brought the text with them.
  util::Result<void> note_depth(int depth, engine::Engine& engine) {
    trace::FilledDepth filled{depth, {}, std::nullopt, std::nullopt};
    if (!lost() && engine.capabilities().is_local)
      filled.reading =
          machine::read_memory(engine.process_group(), trace::MemoryMoment::after_fill);
    PACELINE_TRY(journal_.fill(current().index, filled));
    current().fills.push_back(std::move(filled));
    return {};
  }

  /// Text of about `filled_` tokens, for an engine that keeps none, judged by the warm-up: its
  /// bytes and how many tokens the engine said it has.
  std::string text_below() const {
    return workload::beginning(options_.fill_text,
                               static_cast<std::size_t>(filled_ * carried_.bytes_per_token()));
  }

  /// Many requests at once, after those that ran alone.
  util::Result<void> measure_loads(const PlannedLaunch& planned, engine::Engine& engine) {
    const trace::Arm& arm = options_.arms[planned.arm];
    for (const auto& cell : plan_loads(options_, planned.round)) {
      if (lost()) return {};
      show(arm, planned, cell_name(cell));
      LoadSurroundings around;
      around.job = [&](const PlannedRequest& request) { return load_job(planned, cell, request); };
      around.patience = std::chrono::seconds(options_.patience_s);
      around.stop_asked = stop_asked_;
      trace::LoadCell measured = run_load(engine, cell, around);
      for (std::size_t i = 0; i < measured.requests.size(); ++i) {
        auto& request = measured.requests[i];
        metrics::normalise(request, arm.setup.spec_type == trace::SpecType::none);
        const auto job = load_job(planned, cell, cell.requests[i]);
        name(request, options_.prompts.measured[cell.requests[i].prompt], job);
        request.repetition = cell.requests[i].repetition;
        note_failure(request.outcome, engine);
      }
      if (stop_asked_() && std::cmp_less(measured.requests.size(), cell.requests.size()))
        current().outcome = cancelled();
      PACELINE_TRY(journal_.load(current().index, measured));
      current().loads.push_back(std::move(measured));
      ++steps_done_;
    }
    return {};
  }

  protocol::Generate load_job(const PlannedLaunch& planned, const PlannedCell& cell,
                              const PlannedRequest& request) const {
    const auto& prompt = options_.prompts.measured[request.prompt];
    std::string id = prompt.id;
    if (request.repetition > 0) id += fmt::format("#{}", request.repetition);
    auto job = job_of(planned, prompt, id, id + " of " + cell_name(cell));
    job.n_predict = options_.n_predict;
    return job;
  }

  /// What is asked of the engine for a prompt; `id` decides its seed, `salted` its salt.
  protocol::Generate job_of(const PlannedLaunch& planned, const workload::Prompt& prompt,
                            const std::string& id, const std::string& salted) const {
    const trace::Arm& arm = options_.arms[planned.arm];
    protocol::Generate job;
    job.prompt = prompt.text;
    job.messages = prompt.messages;
    job.sampling = arm.sampling;
    job.seed = request_seed(options_.seed, id, planned.round);
    job.synced = planned.synced;
    job.warm_session = options_.warm_session;
    job.ignore_eos = options_.ignore_eos;
    job.on_filled = filled_ > 0 && keeps_fill_;
    if (filled_ > 0 && !keeps_fill_)
      (job.messages.empty() ? job.prompt : job.messages.front().content).insert(0, text_below());
    if (!arm.setup.url.empty()) put_salt(job, fresh_seed(salted, planned.round));
    if (options_.pictures && !job.messages.empty())
      job.messages.back().images.push_back(
          workload::picture_url(fresh_seed(salted, planned.round)));
    return job;
  }

  void name(trace::Request& request, const workload::Prompt& prompt,
            const protocol::Generate& job) const {
    request.prompt_id = prompt.id;
    request.workload_class = trace::class_at(prompt.workload_class, filled_);
    request.filled_tokens = filled_;
    request.family = prompt.family;
    request.synced = job.synced;
    request.seed = job.seed;
  }

  util::Result<void> measure_request(const PlannedLaunch& planned, const workload::Prompt& prompt,
                                     Purpose purpose, engine::Engine& engine) {
    if (lost()) return {};
    const trace::Arm& arm = options_.arms[planned.arm];
    show(arm, planned, trace::class_at(prompt.workload_class, filled_));
    auto job = job_of(planned, prompt, prompt.id, prompt.id);
    const bool warm_up = purpose == Purpose::warm_up;
    job.n_predict = warm_up ? std::min(warm_up_tokens, options_.n_predict) : options_.n_predict;
    const bool follows = options_.force_text && purpose == Purpose::measured;
    if (follows) job.forced_text = carried_.text_of(prompt);
    trace::Request request =
        follows && job.forced_text.empty() ? without_text() : timed_request(job, engine);
    metrics::normalise(request, arm.setup.spec_type == trace::SpecType::none);
    name(request, prompt, job);
    if (warm_up) carried_.learn_bytes_per_token(job, request);
    request.warm_up = purpose != Purpose::measured;
    request.excluded = is_excluded(request.noise);
    if (purpose == Purpose::reference) carried_.keep_text(prompt, request);
    note_failure(request.outcome, engine);
    PACELINE_TRY(journal_.request(current().index, request));
    current().requests.push_back(std::move(request));
    return {};
  }

  trace::Request timed_request(const protocol::Generate& job, engine::Engine& engine) {
    noise_.start(engine.capabilities().is_local ? engine.process_group() : std::nullopt);
    Collected collected =
        collect(engine, job, std::chrono::seconds(options_.patience_s), stop_asked_);
    collected.request.noise = noise_.stop();
    return std::move(collected.request);
  }

  /// By the rule that stands in the header.
  bool is_excluded(const trace::Noise& noise) const {
    return options_.exclude_steal && noise.steal_s > *options_.exclude_steal * noise.cpu_s;
  }

  util::Result<void> time_widths(const PlannedLaunch& planned, engine::Engine& engine) {
    if (lost() || !engine.capabilities().probes_widths) return {};
    const trace::Arm& arm = options_.arms[planned.arm];
    show(arm, planned, "timing passes by width");
    protocol::Probe job;
    job.widths = widths_to_time(arm.setup.spec_type, std::max(options_.widest, 1),
                                current().facts->draft_n_max.value_or(0) + 1);
    job.on_filled = filled_ > 0 && keeps_fill_;
    job.depth = job.on_filled ? filled_ : typical_depth(current(), options_.n_predict);
    job.repeats = width_repeats;
    Collected collected =
        collect(engine, job, std::chrono::seconds(options_.patience_s), stop_asked_);
    note_failure(collected.request.outcome, engine);
    for (auto& width : collected.widths) {
      PACELINE_TRY(journal_.width(current().index, width));
      current().widths.push_back(std::move(width));
    }
    return {};
  }

  /// A request that was refused leaves the engine as it was; every other failure ends the launch,
  /// unless the engine goes on after it and has not failed so often that it never will.
  void note_failure(const trace::Outcome& outcome, const engine::Engine& engine) {
    using trace::OutcomeKind;
    if (outcome.kind == OutcomeKind::done) failures_in_a_row_ = 0;
    if (outcome.kind == OutcomeKind::done || outcome.kind == OutcomeKind::refused) return;
    const bool may_go_on =
        outcome.kind == OutcomeKind::failed || outcome.kind == OutcomeKind::timed_out;
    if (may_go_on && engine.capabilities().outlives_failures &&
        ++failures_in_a_row_ < most_failures_in_a_row)
      return;
    current().outcome = outcome;
  }

  /// The same for all arms, and another one for every prompt, round and run.
  std::uint32_t fresh_seed(const std::string& prompt_id, int round) const {
    return request_seed(options_.seed, trace_.header.trace_id + prompt_id, round);
  }

  bool lost() const { return current().outcome.kind != trace::OutcomeKind::done; }

  /// An arm that was refused would be refused again, and without it the comparison that was asked
  /// for cannot be made: better to say so now than after an hour.
  bool pointless_to_go_on() const {
    if (trace_.launches.empty()) return false;
    if (options_.force_text && !carried_.has_texts()) return true;
    return !current().facts && current().outcome.kind == trace::OutcomeKind::refused;
  }

  void show(const trace::Arm& arm, const PlannedLaunch& planned, const std::string& what) const {
    const int rounds = all_rounds(options_);
    watcher_(steps_done_, steps_total_,
             planned.round < options_.first_round + rounds
                 ? fmt::format("launch {}/{} of {}: {}", planned.round - options_.first_round + 1,
                               rounds, arm.name, what)
                 : fmt::format("one more launch of {}: {}", arm.name, what));
  }

  trace::Launch& current() { return trace_.launches.back(); }
  const trace::Launch& current() const { return trace_.launches.back(); }

  const RunOptions& options_;
  trace::Journal& journal_;
  const Watcher& watcher_;
  const StopAsked& stop_asked_;
  machine::NoiseMeter noise_;
  std::deque<trace::Launch>& made_;  ///< of a run that goes on: those not met yet
  trace::Trace& trace_;
  double steps_done_ = 0;
  double steps_total_ = 0;
  int selected_round_ = -1;
  std::vector<bool> selected_;  ///< by arm, in that round
  int failures_in_a_row_ = 0;   ///< of the current launch
  int filled_ = 0;              ///< tokens of text in its context, below the requests
  bool keeps_fill_ = false;     ///< its engine holds that text itself
  Carried carried_;
};

}  // namespace

util::Result<void> run(const RunOptions& options, const engine::EngineFactory& make_engine,
                       trace::Journal& journal, const Watcher& watcher, const StopAsked& stop_asked,
                       trace::Trace& trace) {
  PACELINE_TRY(journal.begin(trace));
  std::deque<trace::Launch> made(std::make_move_iterator(trace.launches.begin()),
                                 std::make_move_iterator(trace.launches.end()));
  trace.launches.clear();
  for (std::optional<RunOptions> part = options; part;) {
    Run one(*part, journal, watcher, stop_asked, made, trace);
    PACELINE_TRY_ASSIGN(const bool whole, one.measure(make_engine));
    part = whole && part->sequel ? part->sequel(trace) : std::nullopt;
  }
  trace.launches.insert(trace.launches.end(), std::make_move_iterator(made.begin()),
                        std::make_move_iterator(made.end()));
  trace.interrupted = stop_asked();
  return journal.end(trace.interrupted);
}

}  // namespace paceline::study
