#include "claim/derive.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace paceline::claim {

namespace {

using enum Figure;

/// Adds what follows, one figure at a time, in an order in which all that a rule needs was looked
/// for before.
class Derivation {
 public:
  explicit Derivation(Row row) {
    for (const Stated& one : row.stated)
      if (one.values.empty()) worked_.known[one.figure] = one.range;
    worked_.row = std::move(row);
  }

  Worked run() {
    find_speeds();
    find_passes();
    find_tokens_of_a_pass();
    find_passes_a_second();
    find_drafts();
    find_identity();
    find_ceiling();
    find_prefill();
    return std::move(worked_);
  }

 private:
  bool has(Figure figure) const { return worked_.has(figure); }
  template <class... More>
  bool has(Figure first, More... more) const {
    return has(first) && has(more...);
  }
  const Range& at(Figure figure) const { return worked_.at(figure); }
  bool is_above_zero(Figure figure) const { return has(figure) && at(figure).low > 0; }

  /// A figure that would be negative does not follow: what it was made of contradicts itself.
  void put(Figure figure, Range range, std::string rule, const std::vector<Figure>& from) {
    if (has(figure) || std::isnan(range.low) || std::isnan(range.high)) return;
    if (figure != identity_gap) {
      if (range.high < 0 || range.value.value_or(0) < 0) return;
      range.low = std::max(range.low, 0.0);
    }
    worked_.known[figure] = range;
    worked_.derived.push_back(to_derived(figure, range, std::move(rule), from));
  }
  void put_not(Figure figure, std::string reason) {
    if (!has(figure)) worked_.not_derived.push_back({name_of(figure), std::move(reason)});
  }

  /// tokens / seconds or (tokens - 1) / seconds: nobody said which.
  void speed_of(Figure speed, Figure seconds) {
    if (!is_above_zero(seconds)) return;
    if (has(output_tokens) && at(output_tokens).low > 1)
      put(speed, (at(output_tokens) - exactly(1)) / at(seconds), "(output_tokens - 1) / seconds",
          {output_tokens, seconds});
    if (!has(tokens) || at(tokens).low <= 1) return;
    const Range all = at(tokens) / at(seconds);
    const Range but_first = (at(tokens) - exactly(1)) / at(seconds);
    put(speed, between(but_first.low, all.high),
        "tokens / seconds, or less one token where the first one is not decoded",
        {tokens, seconds});
  }

  void find_speeds() {
    if (is_above_zero(seconds_per_token))
      put(tokens_per_s, exactly(1) / at(seconds_per_token), "1 / seconds_per_token",
          {seconds_per_token});
    if (is_above_zero(base_seconds_per_token))
      put(base_tokens_per_s, exactly(1) / at(base_seconds_per_token), "1 / seconds_per_token",
          {base_seconds_per_token});
    speed_of(tokens_per_s, decode_s);
    if (has(tokens_per_s) && is_above_zero(base_tokens_per_s))
      put(speedup, at(tokens_per_s) / at(base_tokens_per_s), "tokens_per_s / base_tokens_per_s",
          {tokens_per_s, base_tokens_per_s});
    if (has(tokens_per_s) && is_above_zero(speedup))
      put(base_tokens_per_s, at(tokens_per_s) / at(speedup), "tokens_per_s / speedup",
          {tokens_per_s, speedup});
    if (has(base_tokens_per_s, speedup))
      put(tokens_per_s, at(base_tokens_per_s) * at(speedup), "base_tokens_per_s * speedup",
          {base_tokens_per_s, speedup});
    if (has(speedup) && !has(base_tokens_per_s) && !has(tokens_per_s))
      put_not(tokens_per_s, "a ratio alone says no speed");
  }

  bool is_full() const { return worked_.row.full_drafts.value_or(false); }

  void find_passes() {
    if (has(accepted) && is_above_zero(offered) && !has(emitted))
      put(acceptance, at(accepted) / at(offered), "accepted / offered", {accepted, offered});
    // V0 of vLLM proposes draft_limit tokens each time.
    if (has(emitted, offered) && is_above_zero(draft_limit))
      put(passes, at(offered) / at(draft_limit),
          "offered / draft_limit, as vLLM V0 always drafts that many", {offered, draft_limit});
    if (is_full() && has(offered) && is_above_zero(draft_limit))
      put(passes, at(offered) / at(draft_limit), "offered / draft_limit, every draft being full",
          {offered, draft_limit});
    if (worked_.row.since_start || has(emitted) || !has(accepted)) return;
    find_passes_by_identity();
  }

  /// E - 1 = F - W + A - X with nothing replayed and nothing sampled past the end.
  void find_passes_by_identity() {
    const Range first = first_tokens();
    if (has(output_tokens) && at(output_tokens).low > first.high)
      find_passes_of_output(at(output_tokens) - first - at(accepted));
    if (has(tokens) && at(tokens).low > at(accepted).high + first.high) {
      const Range all = at(tokens) - at(accepted);
      put(passes, between(all.low - first.high, all.high),
          "tokens - accepted, or less one a request where its first token is counted, nothing "
          "being sampled past its end",
          {tokens, accepted});
    }
  }

  /// What lies past an end was accepted and never came out, at most a pass of it; and no fewer
  /// passes than those that had a draft.
  void find_passes_of_output(Range counted) {
    std::string rule = "output_tokens - 1 - accepted of each request, ";
    std::vector<Figure> from = {output_tokens, accepted};
    if (ends_anywhere()) {
      const double most = has(draft_limit)
                              ? counted.high + first_tokens().high * (at(draft_limit).high + 1)
                              : at(output_tokens).high;
      counted = between(counted.low, std::max(counted.low, most));
      rule += "and what was sampled past an end: at most a pass of it";
    } else {
      rule += "nothing being sampled past its end";
    }
    if (has(passes_speculative) && counted.low < at(passes_speculative).low) {
      counted =
          between(at(passes_speculative).low, std::max(counted.high, at(passes_speculative).high));
      rule += "; no fewer than passes_speculative";
      from.push_back(passes_speculative);
    }
    if (counted.low >= counted.high) counted = exactly(counted.low);
    if (counted.high > 0) put(passes, counted, std::move(rule), from);
  }

  /// Whether a stop token or string ended the output, and not its length.
  bool ends_anywhere() const {
    const std::string& stop = context_of(worked_.row, "stop");
    return stop == "eos" || stop == "stop";
  }

  /// Tokens that prefill made, one a request.
  Range first_tokens() const { return has(requests) ? at(requests) : exactly(1); }

  void find_tokens_of_a_pass() {
    if (is_plain(worked_.row) && has(tokens_per_s))
      put(tokens_per_pass, exactly(1), "1 without speculation", {});
    const bool is_too_long =
        has(accepted_per_pass, draft_limit) && at(accepted_per_pass).low > at(draft_limit).high;
    if (has(accepted_per_pass) && !is_too_long)
      put(tokens_per_pass, exactly(1) + at(accepted_per_pass), "1 + accepted_per_pass",
          {accepted_per_pass});
    if (has(emitted) && is_above_zero(passes))
      put(tokens_per_pass, at(emitted) / at(passes), "emitted / passes", {emitted, passes});
    if (has(output_tokens) && is_above_zero(passes) && !worked_.row.since_start &&
        at(output_tokens).low > first_tokens().high)
      put(tokens_per_pass, (at(output_tokens) - first_tokens()) / at(passes),
          "(output_tokens - 1) / passes", {output_tokens, passes});
    if (has(accepted) && is_above_zero(passes))
      put(tokens_per_pass, exactly(1) + at(accepted) / at(passes), "1 + accepted / passes",
          {accepted, passes});
    if (has(tokens_per_s) && is_above_zero(passes_per_s))
      put(tokens_per_pass, at(tokens_per_s) / at(passes_per_s), "tokens_per_s / passes_per_s",
          {tokens_per_s, passes_per_s});
    if (has(fire_rate, draft_per_pass))
      put(offered_per_pass, at(fire_rate) * at(draft_per_pass), "fire_rate * draft_per_pass",
          {fire_rate, draft_per_pass});
    if (has(accepted) && is_above_zero(passes_speculative))
      put(acceptance_length, exactly(1) + at(accepted) / at(passes_speculative),
          "1 + accepted / passes_speculative", {accepted, passes_speculative});
    if (!is_share_of_drafts(worked_.row) || !has(acceptance) || at(acceptance).low > 1) {
      bound_tokens_of_a_pass();
      return;
    }
    if (has(offered_per_pass) && !has(accepted))
      put(tokens_per_pass, exactly(1) + at(offered_per_pass) * at(acceptance),
          "1 + offered_per_pass * acceptance", {offered_per_pass, acceptance});
    if (is_full() && has(draft_limit))
      put(tokens_per_pass, exactly(1) + at(draft_limit) * at(acceptance),
          "1 + draft_limit * acceptance, every draft being full", {draft_limit, acceptance});
    bound_tokens_of_a_pass();
  }

  /// No pass is cheaper than a plain one, so that it makes at least as many tokens as the speed-up
  /// says; and no draft is longer than its limit.
  void bound_tokens_of_a_pass() {
    if (has(tokens_per_pass) || !says_anything_of_drafts()) return;
    double low = 1;
    double high = std::numeric_limits<double>::infinity();
    std::vector<Figure> from;
    std::string rule;
    const auto lower = [&](double bound, Figure figure, const char* why) {
      if (bound <= low) return;
      low = bound;
      from.push_back(figure);
      rule = why;
    };
    const auto upper = [&](double bound, std::vector<Figure> figures, const char* why) {
      if (bound >= high) return;
      high = bound;
      from.insert(from.end(), figures.begin(), figures.end());
      rule += (rule.empty() ? "" : "; ") + std::string(why);
    };
    if (has(speedup))
      lower(at(speedup).low, speedup, "at least speedup, as no pass is cheaper than a plain one");
    if (has(draft_limit, acceptance) && at(acceptance).high <= 1 && is_share_of_drafts(worked_.row))
      upper(1 + at(draft_limit).high * at(acceptance).high, {draft_limit, acceptance},
            "at most 1 + draft_limit * acceptance, which it is if every pass has a full draft");
    if (has(acceptance_length))
      upper(at(acceptance_length).high, {acceptance_length},
            "at most acceptance_length, which it is if every pass has a draft");
    if (has(draft_limit)) upper(1 + at(draft_limit).high, {draft_limit}, "at most 1 + draft_limit");
    if (from.empty() && !has(speedup)) {
      put_not(tokens_per_pass, "neither passes nor a draft limit nor a speed-up are given");
      return;
    }
    if (low > high) {
      put_not(tokens_per_pass, "its bounds contradict each other");
      return;
    }
    put(tokens_per_pass, between(low, high), rule.empty() ? "at least 1" : rule, from);
  }

  bool says_anything_of_drafts() const {
    constexpr std::array signs = {speedup,  draft_limit, acceptance, acceptance_length,
                                  accepted, offered,     emitted};
    return std::any_of(signs.begin(), signs.end(), [&](Figure one) { return has(one); });
  }

  void find_passes_a_second() {
    if (has(passes) && is_above_zero(decode_s))
      put(passes_per_s, at(passes) / at(decode_s), "passes / decode_s", {passes, decode_s});
    if (has(tokens_per_s) && is_above_zero(tokens_per_pass))
      put(passes_per_s, at(tokens_per_s) / at(tokens_per_pass),
          serves_many()
              ? "tokens_per_s / tokens_per_pass: passes of sequences, which share forwards"
              : "tokens_per_s / tokens_per_pass",
          {tokens_per_s, tokens_per_pass});
    if (!has(tokens_per_pass) || !is_above_zero(speedup) || is_plain(worked_.row)) return;
    Range cost = at(tokens_per_pass) / at(speedup);
    // The bound that comes from the speed-up is this very one: no pass is cheaper than a plain one.
    if (!at(tokens_per_pass).value && cost.high > 1) cost.low = std::max(cost.low, 1.0);
    put(pass_cost, cost,
        "tokens_per_pass / speedup; speculation pays from that many tokens_per_pass on",
        {tokens_per_pass, speedup});
  }

  bool serves_many() const { return has(concurrency) && at(concurrency).high > 1; }

  void find_drafts() {
    if (is_full() && has(draft_limit)) {
      put(fire_rate, exactly(1), "1, every pass having a draft", {});
      put(draft_per_pass, at(draft_limit), "draft_limit, every draft being full", {draft_limit});
    }
    if (has(offered) && is_above_zero(passes))
      put(offered_per_pass, at(offered) / at(passes), "offered / passes", {offered, passes});
    if (has(offered) && is_above_zero(passes_speculative))
      put(draft_per_pass, at(offered) / at(passes_speculative), "offered / passes_speculative",
          {offered, passes_speculative});
    if (has(passes_speculative) && is_above_zero(passes))
      put(fire_rate, at(passes_speculative) / at(passes), "passes_speculative / passes",
          {passes_speculative, passes});
    if (worked_.stated(tokens_per_pass) != nullptr && is_above_zero(acceptance) &&
        at(acceptance).high <= 1 && is_share_of_drafts(worked_.row))
      put(offered_per_pass, (at(tokens_per_pass) - exactly(1)) / at(acceptance),
          "(tokens_per_pass - 1) / acceptance, in the mean", {tokens_per_pass, acceptance});
    if (!has(draft_limit)) return;
    put(most_tokens_per_pass, at(draft_limit) + exactly(1), "draft_limit + 1", {draft_limit});
    if (has(tokens_per_pass))
      put(share_of_most, at(tokens_per_pass) / at(most_tokens_per_pass),
          "tokens_per_pass / (draft_limit + 1)", {tokens_per_pass, draft_limit});
  }

  bool is_given(Figure figure) const { return worked_.stated(figure) != nullptr; }

  /// Only where the passes were not made from the tokens: else it checks nothing.
  void find_identity() {
    const bool counted = is_given(passes) || is_given(offered);
    const bool from_tokens = std::any_of(
        worked_.derived.begin(), worked_.derived.end(), [](const document::DerivedFigure& one) {
          return one.name == name_of(passes) && (one.from.front() == name_of(tokens) ||
                                                 one.from.front() == name_of(output_tokens));
        });
    const Figure count = has(output_tokens) ? output_tokens : tokens;
    if (counted && !from_tokens && has(count, accepted, passes) && !has(emitted))
      put(identity_gap, at(count) - at(accepted) - at(passes),
          "tokens - accepted - passes: 0, or 1 a request where its first token is counted",
          {count, accepted, passes});
    if (!has(count) || !is_above_zero(count)) return;
    if (has(accepted, passes_speculative))
      put(engaged_share, (at(accepted) + at(passes_speculative)) / at(count),
          "(accepted + passes_speculative) / tokens", {accepted, passes_speculative, count});
    else if (has(attempts, draft_limit))
      put(engaged_share,
          between(0, (at(attempts) * (at(draft_limit) + exactly(1)) / at(count)).high),
          "at most attempts * (draft_limit + 1) / tokens", {attempts, draft_limit, count});
  }

  void find_ceiling() {
    if (has(parameters, bits_per_weight))
      put(bytes_per_pass, at(parameters) * at(bits_per_weight) / exactly(8),
          "parameters that a pass reads * bits_per_weight / 8; no KV, no drafter",
          {parameters, bits_per_weight});
    if (!has(bandwidth) || !is_above_zero(bytes_per_pass) || serves_many()) return;
    put(ceiling_passes_per_s, at(bandwidth) / at(bytes_per_pass), "bandwidth / bytes_per_pass",
        {bandwidth, bytes_per_pass});
    if (has(passes_per_s))
      put(ceiling_share, at(passes_per_s) / at(ceiling_passes_per_s),
          "passes_per_s / ceiling_passes_per_s", {passes_per_s, ceiling_passes_per_s});
    else if (has(base_tokens_per_s))
      put(ceiling_share, at(base_tokens_per_s) / at(ceiling_passes_per_s),
          "base_tokens_per_s / ceiling_passes_per_s, a plain pass making one token",
          {base_tokens_per_s, ceiling_passes_per_s});
  }

  /// A rate of a single token says how long a pass takes, not how fast a prompt is read.
  void find_prefill() {
    if (!has(prompt_processed, prefill_s)) return;
    if (at(prompt_processed).high <= 1)
      put_not(prefill_tokens_per_s, "the prompt came from a cache: one token of it was processed");
    else if (is_above_zero(prefill_s))
      put(prefill_tokens_per_s, at(prompt_processed) / at(prefill_s),
          "prompt_processed / prefill_s", {prompt_processed, prefill_s});
  }

  Worked worked_;
};

}  // namespace

bool is_share_of_drafts(const Row& row) {
  const Stated* stated = row.find(acceptance);
  return stated == nullptr || stated->definition.empty() ||
         stated->definition.starts_with("accepted / offered");
}

document::DerivedFigure to_derived(Figure figure, const Range& range, std::string rule,
                                   const std::vector<Figure>& from) {
  document::DerivedFigure derived{name_of(figure),    range.value,     finite(range.low),
                                  finite(range.high), std::move(rule), {}};
  for (const Figure one : from) derived.from.emplace_back(name_of(one));
  return derived;
}

Worked derive(Row row) { return Derivation(std::move(row)).run(); }

}  // namespace paceline::claim
