#include "engine/simulated/generation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "engine/simulated/text.hpp"
#include "trace/names.hpp"

namespace paceline::engine::simulated {

namespace {

using trace::Nanoseconds;

constexpr Nanoseconds progress_every_ns = 1'000'000'000;

Nanoseconds nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

std::mt19937_64 generator_of(const Truth& truth, const Site& site, std::uint64_t seed) {
  const auto place =
      mix(static_cast<std::uint64_t>(site.launch), static_cast<std::uint64_t>(site.job));
  return std::mt19937_64(mix(mix(truth.seed, place), seed));
}

// Own draws: those of <random> differ between standard libraries, and a seed must mean one run.
double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) / 9007199254740992.0;
}

double normal(std::mt19937_64& random) {
  constexpr double pi = 3.14159265358979323846;
  const double radius = std::sqrt(-2 * std::log(1 - uniform(random)));
  return radius * std::cos(2 * pi * uniform(random));
}

/// One request on its way: the machine's side of it.
class Generation {
 public:
  Generation(const Truth& truth, const Site& site, const protocol::Generate& job, Nanoseconds& now)
      : truth_(truth),
        job_(job),
        now_(now),
        began_(now),
        filled_(job.on_filled ? site.filled : 0),
        random_(generator_of(truth, site, job.seed)),
        text_(truth.seed, text_key(job), truth.eos_probability, truth.text_period),
        strays_at_(truth.strays_at(site.setup, prompt_text(job))),
        acceptance_(truth.acceptance(site.setup, prompt_text(job))),
        longest_draft_(longest_draft(truth, site.setup)),
        drafter_(trace_name(site.setup.spec_type)),
        drafters_(static_cast<int>(trace::drafters_of(site.setup).size())),
        launch_factor_(truth.launch_factor(site.launch)),
        decode_factor_(launch_factor_ * truth.prompt_factor(prompt_text(job))) {}

  std::vector<trace::Event> run() {
    prefill();
    while (stop_ == trace::StopReason::none) step();
    std::vector<trace::Event> events = std::move(progress_);
    events.insert(events.end(), records_.begin(), records_.end());
    trace::Finished finished;
    finished.stop = stop_;
    finished.text = fmt::format("{} simulated tokens", emitted_);
    events.emplace_back(std::move(finished));
    return events;
  }

 private:
  struct Draft {
    int attempts = 0;
    int computed = 0;
    int offered = 0;
    int accepted = 0;
  };

  /// Its chat template puts nothing around the messages.
  static std::string prompt_text(const protocol::Generate& job) {
    std::string text = job.prompt;
    for (const auto& message : job.messages) text += message.content;
    return text;
  }

  // Without a tokenizer a byte is a token.
  static int prompt_length(const protocol::Generate& job) {
    return static_cast<int>(job.prompt_tokens.empty() ? prompt_text(job).size()
                                                      : job.prompt_tokens.size());
  }
  static std::string text_key(const protocol::Generate& job) {
    std::string key = prompt_text(job);
    for (const auto token : job.prompt_tokens) key += fmt::format(" {}", token);
    return key;
  }
  static std::string trace_name(trace::SpecType type) {
    return type == trace::SpecType::none ? "" : util::enum_name(type);
  }
  bool has_drafter() const { return !drafter_.empty(); }

  void spend(double seconds, Nanoseconds* phase) {
    const auto time = nanoseconds(seconds * decode_factor_ * noise_);
    now_ += time;
    if (phase != nullptr) *phase = time;
    while (now_ - began_ >= static_cast<Nanoseconds>(progress_.size() + 1) * progress_every_ns)
      progress_.emplace_back(trace::Progress{emitted_});
  }

  void prefill() {
    trace::Prefill prefill;
    prefill.processed_tokens = prompt_length(job_);
    prefill.prompt_tokens = filled_ + prefill.processed_tokens;
    prefill.began_ns = now_;
    if (has_drafter())
      prefill.drafter_ns = nanoseconds(prefill.processed_tokens *
                                       truth_.prefill_drafter_s_per_token * launch_factor_);
    now_ += nanoseconds(prefill.processed_tokens * truth_.prefill_s_per_token * launch_factor_) +
            prefill.drafter_ns;
    prefill.ended_ns = now_;
    records_.emplace_back(prefill);
    emit(-1, 1, 0);
  }

  /// Emits `sampled` tokens of the text, of which `accepted` were drafted, up to the stop token.
  void emit(int pass, int sampled, int accepted) {
    trace::Emission emission;
    emission.pass = pass;
    emission.accepted = accepted;
    emission.at_ns = now_;
    for (int i = 0; i < sampled && stop_ == trace::StopReason::none; ++i) {
      emission.tokens.push_back(token(emitted_++));
      if (emission.tokens.back() == eos_token)
        stop_ = trace::StopReason::eos;
      else if (emitted_ == job_.n_predict)
        stop_ = trace::StopReason::limit;
    }
    emission.overshoot = sampled - static_cast<int>(emission.tokens.size());
    records_.emplace_back(std::move(emission));
  }

  std::int32_t token(int index) const {
    const auto place = static_cast<std::size_t>(index);
    if (place < job_.forced_text.size()) return job_.forced_text[place];
    const std::int32_t own = text_.token(index);
    return strays_at_ && index >= *strays_at_ && own != eos_token ? own + 1 : own;
  }

  Draft draw_draft() {
    Draft draft;
    const int room = std::min(longest_draft_, job_.n_predict - emitted_ - 1);
    if (room <= 0) return draft;
    draft.attempts = drafters_;
    draft.computed = longest_draft_;
    if (uniform(random_) >= truth_.fire_probability) return draft;
    int length = longest_draft_;
    if (truth_.shortest_draft > 0 && truth_.shortest_draft < length) {
      const int choices = length - truth_.shortest_draft + 1;
      length = truth_.shortest_draft + static_cast<int>(uniform(random_) * choices);
    }
    draft.offered = std::min(length, room);
    while (draft.accepted < draft.offered &&
           static_cast<std::size_t>(draft.accepted) < acceptance_.size() &&
           uniform(random_) < acceptance_[static_cast<std::size_t>(draft.accepted)])
      ++draft.accepted;
    return draft;
  }

  trace::Pass describe(const Draft& draft) const {
    trace::Pass pass;
    pass.offered = draft.offered;
    pass.accepted = draft.accepted;
    pass.tested = std::min(draft.offered, draft.accepted + 1);
    pass.width = 1 + draft.offered;
    pass.attempts = draft.attempts;
    if (draft.attempts > 0) pass.generated = draft.computed;
    if (draft.offered == 0) return pass;
    pass.kind = trace::PassKind::speculative;
    pass.drafter = drafter_;
    for (int i = 0; job_.record_drafts && i < draft.offered; ++i) {
      const auto truth = token(emitted_ + i);
      pass.draft.push_back(i < draft.accepted ? truth : truth + 1);
    }
    return pass;
  }

  /// One decode call; `emit_tokens` of it become output, none where a replay follows.
  void run_pass(trace::Pass pass, int emit_tokens, int emit_accepted) {
    noise_ = std::exp(truth_.pass_noise_sd * normal(random_));
    const auto& times = truth_.phases;
    spend(times.between_s, nullptr);
    pass.index = pass_count_++;
    pass.depth = filled_ + prompt_length(job_) + emitted_ - 1;
    pass.began_ns = now_;
    trace::Phases phases;
    if (pass.attempts > 0) spend(times.draft_s, &phases.draft_ns);
    if (has_drafter()) spend(times.checkpoint_s, &phases.checkpoint_ns);
    spend(truth_.verify_s(pass.width), &phases.verify_ns);
    if (has_drafter()) spend(times.process_s, &phases.process_ns);
    spend(times.sample_s, &phases.sample_ns);
    if (job_.synced) spend(times.sync_s, nullptr);
    const auto place = records_.size();
    if (emit_tokens > 0) emit(pass.index, emit_tokens, emit_accepted);
    if (has_drafter()) spend(times.accept_s, &phases.accept_ns);
    if (pass.accepted < pass.offered) spend(times.rollback_s, &phases.rollback_ns);
    pass.ended_ns = now_;
    if (job_.synced) pass.phases = phases;
    records_.insert(records_.begin() + static_cast<std::ptrdiff_t>(place), std::move(pass));
  }

  void step() {
    const auto draft = draw_draft();
    const bool is_replayed = truth_.replays && draft.accepted < draft.offered;
    run_pass(describe(draft), is_replayed ? 0 : draft.accepted + 1, draft.accepted);
    if (!is_replayed) return;
    // The accepted tokens and the target's own are decoded again, and one more is sampled.
    trace::Pass replay;
    replay.kind = trace::PassKind::replay;
    replay.width = draft.accepted + 2;
    run_pass(std::move(replay), draft.accepted + 2, draft.accepted);
  }

  const Truth& truth_;
  const protocol::Generate& job_;
  Nanoseconds& now_;
  Nanoseconds began_;
  int filled_;
  std::mt19937_64 random_;
  Text text_;
  std::optional<int> strays_at_;
  std::vector<double> acceptance_;
  int longest_draft_;
  std::string drafter_;
  int drafters_ = 0;
  double launch_factor_;
  double decode_factor_;
  double noise_ = 1;
  int emitted_ = 0;
  int pass_count_ = 0;
  trace::StopReason stop_ = trace::StopReason::none;
  std::vector<trace::Event> progress_;
  std::vector<trace::Event> records_;
};

std::vector<trace::Event> refuse(std::string reason) {
  trace::Finished finished;
  finished.outcome.kind = trace::OutcomeKind::refused;
  finished.outcome.reason = std::move(reason);
  return {finished};
}

}  // namespace

int longest_draft(const Truth& truth, const trace::Setup& setup) {
  if (setup.spec_type == trace::SpecType::none) return 0;
  if (trace::is_ngram(setup.spec_type) && setup.ngram.size_m) return *setup.ngram.size_m;
  const int own = truth.draft_block - 1;
  return setup.draft_n_max > 0 ? std::min(setup.draft_n_max, own) : own;
}

std::vector<trace::Event> generate(const Truth& truth, const Site& site,
                                   const protocol::Generate& job, Nanoseconds& now) {
  if (job.prompt.empty() && job.prompt_tokens.empty() && job.messages.empty())
    return refuse("the prompt is empty: give it at least one token");
  if (job.n_predict < 1) return refuse("n_predict is below 1: ask for at least one token");
  return Generation(truth, site, job, now).run();
}

std::vector<trace::Event> probe(const Truth& truth, const Site& site, const protocol::Probe& job,
                                Nanoseconds& now) {
  if (job.repeats < 1 || job.depth < 0) return refuse("a probe needs repeats >= 1 and depth >= 0");
  auto random = generator_of(truth, site, 0);
  const double factor = truth.launch_factor(site.launch);
  const bool has_drafter =
      site.setup.spec_type != trace::SpecType::none && !trace::is_ngram(site.setup.spec_type);
  std::vector<trace::Event> events;
  for (const int width : job.widths) {
    if (width < 1) return refuse(fmt::format("width {} can't be probed: use 1 or more", width));
    trace::WidthTime time;
    time.width = width;
    time.depth = job.depth;
    time.on_filled = job.on_filled;
    for (int i = 0; i < job.repeats; ++i) {
      const double noise = factor * std::exp(truth.pass_noise_sd * normal(random));
      time.verify_ns.push_back(nanoseconds(truth.verify_s(width) * noise));
      now += time.verify_ns.back();
      if (!has_drafter) continue;
      time.draft_ns.push_back(nanoseconds(truth.phases.draft_s * noise));
      time.process_ns.push_back(nanoseconds(truth.phases.process_s * noise));
      now += time.draft_ns.back() + time.process_ns.back();
    }
    events.emplace_back(std::move(time));
  }
  events.emplace_back(trace::Finished{});
  return events;
}

std::vector<trace::Event> fill(const Truth& truth, const Site& site, const protocol::Fill& job,
                               Nanoseconds& now) {
  if (job.depth <= site.filled) return refuse("the context is filled as far already");
  if (job.depth >= site.setup.n_ctx) return refuse("the context is not as large");
  trace::Fill fill;
  fill.depth = job.depth;
  fill.tokens = job.depth - site.filled;
  fill.began_ns = now;
  const double factor = truth.launch_factor(site.launch) * fill.tokens;
  if (site.setup.spec_type != trace::SpecType::none)
    fill.drafter_ns = nanoseconds(truth.prefill_drafter_s_per_token * factor);
  now += nanoseconds(truth.prefill_s_per_token * factor) + fill.drafter_ns;
  fill.ended_ns = now;
  return {fill, trace::Finished{}};
}

std::vector<trace::Event> reread(const Truth& truth, const Site& site,
                                 const protocol::Reread& job) {
  constexpr std::int64_t logits = 1000;
  if (site.setup.spec_type != trace::SpecType::none)
    return refuse("texts are read again by a target alone: open it without a drafter");
  trace::Rereading rereading;
  for (const int width : job.widths) {
    const double p99 = truth.logit_difference(width);
    rereading.widths.push_back({width, logits, p99, 2 * p99});
  }
  for (const auto& text : job.texts)
    for (const int place : text.places)
      rereading.margins.push_back({text.workload_class, text.prompt_id, place, truth.top2_margin});
  return {std::move(rereading), trace::Finished{}};
}

}  // namespace paceline::engine::simulated
