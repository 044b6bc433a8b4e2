#include "document/workload.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "document/counted.hpp"
#include "metrics/break_even.hpp"
#include "trace/names.hpp"
#include "util/json.hpp"

namespace paceline::document {

namespace {

bool is_plain(const trace::Arm& arm) { return arm.setup.spec_type == trace::SpecType::none; }

Known<double> share(long part, const metrics::Count& whole, const char* reason) {
  if (!whole.known()) return not_known<double>(whole.reason());
  if (!(whole > 0)) return not_known<double>(reason);
  return known(static_cast<double>(part) / whole.number());
}

template <class Number>
Known<Number> to_known(const metrics::Total<Number>& total) {
  return known_or(total.value(), total.reason());
}

Quantity to_residual(const metrics::Counts& counts) {
  if (!counts.residual_passes.known()) return no_quantity(counts.residual_passes.reason());
  if (counts.passes == 0) return no_quantity("no pass was counted");
  Quantity residual;
  residual.value = counts.residual_passes.number();
  residual.level = "exact";
  residual.method = "passes as they were counted, minus those that tokens and drafts imply";
  residual.reason = "a count has no interval";
  return residual;
}

Decode to_decode(const metrics::ClassSummary& summary) {
  Decode decode;
  decode.tokens_per_s = to_quantity(summary.tokens_per_s);
  decode.passes_per_s = to_quantity(summary.passes_per_s);
  decode.tokens_per_pass = to_quantity(summary.tokens_per_pass);
  decode.seconds_per_pass = to_quantity(summary.seconds_per_pass);
  decode.speedup = to_quantity(summary.speedup);
  decode.pass_cost = to_quantity(summary.pass_cost);
  decode.pass_cost_from_widths = to_quantity(summary.pass_cost_from_widths);
  decode.residual_passes = to_residual(summary.counts);
  return decode;
}

Prefill to_prefill(const metrics::ClassSummary& summary) {
  const metrics::Counts& counts = summary.counts;
  return {to_quantity(summary.prefill_tokens_per_s),
          to_quantity(summary.ttft_s),
          to_quantity(summary.ttfo_s),
          to_known(counts.prefill_tokens),
          to_known(counts.prefill_cached),
          to_known(counts.prefill_s),
          to_known(counts.prefill_drafter_s)};
}

Streaming to_streaming(const metrics::ClassSummary& summary) {
  return {to_quantity(summary.inter_burst_s), to_quantity(summary.tokens_per_burst),
          to_known(summary.counts.client_decode_s)};
}

std::vector<Position> to_positions(const metrics::Counts& counts) {
  std::vector<Position> positions;
  for (const auto& from : counts.positions) {
    Position position;
    position.position = static_cast<int>(positions.size()) + 1;
    position.offered = to_known(from.offered);
    position.reached = to_known(from.reached);
    position.accepted = from.accepted;
    position.unconditional = share(from.accepted, counts.passes_speculative, "no pass had a draft");
    position.of_offered = share(from.accepted, from.offered, "no draft was this long");
    position.conditional = share(from.accepted, from.reached, "no pass came this far");
    positions.push_back(position);
  }
  return positions;
}

/// Drafter number `place` of an arm that has several. Who drafted is known where passes are.
DrafterCounts counts_of(const metrics::Counts& counts, trace::SpecType type, std::size_t place,
                        bool is_last) {
  const std::string name = util::enum_name(type);
  const metrics::DrafterTally tally = metrics::tally_of(counts, name, is_last);
  return {name,
          to_known(tally.passes_speculative),
          known(place < counts.asked.size() ? counts.asked[place] : 0L),
          to_known(tally.generated),
          to_known(tally.offered),
          to_known(tally.tested),
          to_known(tally.accepted)};
}

DrafterCounts unknown_counts(trace::SpecType type) {
  const auto unknown =
      not_known<long>("the server does not say which of its drafters made a draft");
  return {util::enum_name(type), unknown, unknown, unknown, unknown, unknown, unknown};
}

bool runs_in_server(const trace::Arm& arm) {
  return !arm.setup.server_bin.empty() || !arm.setup.url.empty();
}

std::vector<DrafterCounts> to_by_drafter(const metrics::Counts& counts, const trace::Arm& arm) {
  const auto types = trace::drafters_of(arm.setup);
  if (types.size() == 1)
    return {{util::enum_name(types.front()), to_known(counts.passes_speculative),
             to_known(counts.attempts), to_known(counts.generated), to_known(counts.offered),
             to_known(counts.tested), to_known(counts.accepted)}};
  std::vector<DrafterCounts> all;
  for (std::size_t i = 0; i < types.size(); ++i)
    all.push_back(runs_in_server(arm) ? unknown_counts(types[i])
                                      : counts_of(counts, types[i], i, i + 1 == types.size()));
  return all;
}

Known<WidthHistogram> to_widths(const metrics::Counts& counts, const trace::Arm& arm) {
  if (runs_in_server(arm)) return not_known<WidthHistogram>("the server does not say");
  WidthHistogram histogram;
  for (const auto& [width, passes] : counts.widths) histogram.by_width.push_back({width, passes});
  return known(std::move(histogram));
}

Acceptance to_acceptance(const metrics::ClassSummary& summary, const trace::Arm& arm) {
  const metrics::Counts& counts = summary.counts;
  Acceptance acceptance;
  acceptance.attempts = to_known(counts.attempts);
  acceptance.generated = to_known(counts.generated);
  acceptance.offered = to_known(counts.offered);
  acceptance.tested = to_known(counts.tested);
  acceptance.accepted = to_known(counts.accepted);
  acceptance.overshoot = to_known(counts.overshoot);
  acceptance.fire_rate = to_quantity(summary.fire_rate);
  acceptance.attempt_rate = to_quantity(summary.attempt_rate);
  acceptance.draft_per_pass = to_quantity(summary.draft_per_pass);
  acceptance.rate = to_quantity(summary.acceptance);
  const auto& speculative = counts.passes_speculative;
  acceptance.acceptance_length =
      known_or(summary.acceptance_length, is_plain(arm)          ? "no drafter"
                                          : !speculative.known() ? speculative.reason()
                                          : speculative > 0      ? counts.accepted.reason()
                                                                 : "no pass had a draft (S = 0)");
  acceptance.positions = to_positions(counts);
  for (const auto& [key, passes] : counts.histogram)
    acceptance.histogram.push_back({key.first, key.second, passes});
  acceptance.definition = "rate = accepted / offered, from pooled counts";
  acceptance.by_drafter = to_by_drafter(counts, arm);
  return acceptance;
}

Known<Phases> to_phases(const metrics::ClassSummary& summary) {
  if (!summary.phases) return not_known<Phases>("no synced run of this class and arm");
  const metrics::PhaseSummary& from = *summary.phases;
  return known(Phases{
      from.draft_s, from.checkpoint_s, from.verify_s, from.process_s, from.sample_s, from.accept_s,
      from.rollback_s, from.other_s, from.synced_total_s, from.unsynced_total_s,
      known_or(from.overlap_s, "no pass of the headline's run was counted"), from.passes});
}

ComparedText to_compared(const metrics::ComparedText& from) {
  const bool differs = from.verdict != metrics::Verdict::equal;
  const char* const same = "the texts are equal";
  const char* const no_ids = "ids of its tokens are not known";
  const auto digest = [&](const std::string& digits) {
    return digits.empty() ? not_known<std::string>(no_ids) : known(digits);
  };
  return {
      from.prompt_id,
      util::enum_name(from.verdict),
      digest(from.digest),
      digest(from.plain_digest),
      from.first_difference > 0 ? known(from.first_difference)
                                : not_known<int>(differs ? no_ids : same),
      from.width > 0 ? known(from.width)
                     : not_known<int>(differs ? "no pass of a known width said it" : same),
      known_or(from.margin, differs ? "the engine did not read plain's text again" : same),
      known_or(from.limit, differs ? "logits were not compared between that width and 1" : same)};
}

Lossless to_lossless(const metrics::Lossless& from) {
  Lossless lossless{util::enum_name(from.verdict),
                    from.texts,
                    from.equal,
                    from.near_tie,
                    from.unknown,
                    from.wrong,
                    from.says,
                    {}};
  for (const auto& text : from.each) lossless.each.push_back(to_compared(text));
  return lossless;
}

Ceiling to_ceiling(const metrics::Ceiling& from) {
  Ceiling ceiling;
  ceiling.share = to_quantity(from.share);
  ceiling.read_bytes_per_s = to_quantity(from.read_bytes_per_s);
  ceiling.bandwidth = to_quantity(from.bandwidth);
  ceiling.bytes_per_pass = from.bytes_per_pass > 0
                               ? known(from.bytes_per_pass)
                               : not_known<double>(ceiling.read_bytes_per_s.reason);
  for (const auto& [name, bytes] : from.largest) ceiling.largest.push_back({name, bytes});
  ceiling.uniform_routing = from.has_model;
  const metrics::Estimate& pages = from.disk_pages_per_pass;
  ceiling.disk_pages_per_pass =
      pages.value
          ? known(*pages.value)
          : not_known<double>(pages.reason.empty() ? "no ceiling was computed" : pages.reason);
  ceiling.terms =
      not_known<PassTerms>(from.no_terms.empty() ? "no ceiling was computed" : from.no_terms);
  if (const auto& terms = from.terms)
    ceiling.terms = known(PassTerms{terms->reading_s, terms->gathering_s, terms->computing_s,
                                    terms->drafting_s, terms->host_s, terms->bound});
  return ceiling;
}

Known<BreakEven> to_break_even(const metrics::ClassSummary& summary, const trace::Arm& arm,
                               const std::vector<metrics::WidthCurve>& curves) {
  if (is_plain(arm)) return not_known<BreakEven>("no drafter");
  if (!summary.tokens_per_pass.value)
    return not_known<BreakEven>(to_quantity(summary.tokens_per_pass).reason);
  for (const auto& curve : curves) {
    if (curve.arm != arm.plain || curve.filled_tokens != summary.filled_tokens) continue;
    if (const auto found = metrics::break_even(curve, *summary.tokens_per_pass.value))
      return known(BreakEven{found->draft_length, found->is_lower_bound});
  }
  return not_known<BreakEven>("plain's passes of widths 1 and 2 were not timed at this depth");
}

Known<Lossless> to_lossless(const metrics::ClassSummary& summary, const trace::Arm& arm,
                            bool force_text) {
  if (force_text)
    return not_known<Lossless>("every arm was made to follow one text: equal by construction");
  if (arm.setup.forced) return not_known<Lossless>("acceptance was forced: its text is nobody's");
  if (summary.lossless) return known(to_lossless(*summary.lossless));
  if (is_plain(arm)) return not_known<Lossless>("the plain arm is what others are held against");
  if (arm.sampling.temp && *arm.sampling.temp <= 0)
    return not_known<Lossless>("no greedy text of the plain arm to hold this arm's against");
  return not_known<Lossless>("sampled, not greedy: equal texts are not to be expected");
}

Known<Depth> to_depth(const metrics::ClassSummary& summary, const trace::Arm& arm,
                      const trace::Trace& trace) {
  std::optional<Depth> depth;
  for_each_counted(trace, [&](const trace::Launch& launch, const trace::Request& request) {
    if (launch.arm != arm.name || request.workload_class != summary.workload_class) return;
    for (const auto& pass : request.passes) {
      if (!depth) depth = Depth{pass.depth, pass.depth};
      depth->lowest = std::min(depth->lowest, pass.depth);
      depth->highest = std::max(depth->highest, pass.depth);
    }
  });
  return known_or(depth, "no pass was seen");
}

}  // namespace

Quantity to_quantity(const metrics::Estimate& estimate) {
  if (!estimate.value)
    return no_quantity(estimate.reason.empty() ? "not given by this run" : estimate.reason);
  if (!std::isfinite(*estimate.value)) return no_quantity("the data give no finite number");
  Quantity quantity;
  quantity.value = estimate.value;
  quantity.level = estimate.level;
  quantity.method = estimate.method;
  quantity.n = estimate.n;
  quantity.reason = estimate.reason;
  const bool interval = estimate.low && estimate.high && std::isfinite(*estimate.low) &&
                        std::isfinite(*estimate.high);
  if (interval) {
    quantity.low = estimate.low;
    quantity.high = estimate.high;
  } else if (quantity.reason.empty()) {
    quantity.reason = "the data give no interval";
  }
  return quantity;
}

Workload to_workload(const metrics::ClassSummary& summary, const trace::Arm& arm,
                     const trace::Trace& trace, const std::vector<metrics::WidthCurve>& curves) {
  const metrics::Counts& counts = summary.counts;
  Workload workload;
  workload.workload_class = summary.workload_class;
  workload.base_class = trace::base_class(summary.workload_class, summary.filled_tokens);
  workload.filled_tokens = summary.filled_tokens;
  workload.prompts = summary.prompts;
  workload.families = summary.families;
  workload.prompts_excluded = summary.prompts_excluded;
  workload.requests = counts.requests;
  workload.requests_failed = summary.requests_failed;
  workload.launches = summary.launches;
  workload.n_eff = summary.n_eff;
  workload.decode = to_decode(summary);
  for (const auto& [round, tokens_per_s, prefill] : summary.by_launch)
    workload.by_launch.push_back({round, tokens_per_s, known_or(prefill, "no prefill was timed")});
  workload.prefill = to_prefill(summary);
  workload.streaming = to_streaming(summary);
  workload.acceptance = to_acceptance(summary, arm);
  workload.phases = to_phases(summary);
  workload.depth = to_depth(summary, arm, trace);
  workload.as_run = {summary.as_run_tokens_per_s, counts.decode_tokens, counts.decode_s};
  workload.output_tokens = counts.output_tokens;
  workload.passes = {to_known(counts.passes), to_known(counts.passes_plain),
                     to_known(counts.passes_speculative), to_known(counts.passes_replay),
                     to_known(counts.passes_superseded)};
  workload.widths = to_widths(counts, arm);
  workload.repeated_8gram_share =
      known_or(summary.repeated_8gram_share, "no output has 8 tokens whose ids are known");
  workload.looping = summary.repeated_8gram_share
                         ? known(summary.looping)
                         : not_known<bool>(workload.repeated_8gram_share.reason);
  workload.lossless = to_lossless(summary, arm, trace.header.force_text);
  workload.ceiling = to_ceiling(summary.ceiling);
  workload.break_even = to_break_even(summary, arm, curves);
  return workload;
}

}  // namespace paceline::document
