#include "metrics/contradictions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace paceline::metrics {

namespace {

void compare_counts(const Counts& counts, std::vector<std::string>& found) {
  if (const auto residual = counts.residual_passes.value(); residual && *residual != 0)
    found.push_back(fmt::format(
        "residual_passes is {}: {} passes were counted, the tokens account for {}", *residual,
        counts.passes.value().value_or(0), counts.passes.value().value_or(0) - *residual));
  const auto at_most = [&found](const char* less, const Count& small, const char* more,
                                const Count& large) {
    if (small > large)
      found.push_back(
          fmt::format("{} {} exceeds {} {}", less, *small.value(), more, *large.value()));
  };
  if (counts.accepted > counts.accepted_in_passes || counts.accepted < counts.accepted_in_passes)
    found.push_back(fmt::format("accepted is {} in the tokens and {} in the passes",
                                *counts.accepted.value(), *counts.accepted_in_passes.value()));
  at_most("accepted", counts.accepted, "offered", counts.offered);
  at_most("tested", counts.tested, "offered", counts.offered);
  at_most("accepted_in_passes", counts.accepted_in_passes, "tested", counts.tested);
  at_most("passes_speculative", counts.passes_speculative, "attempts", counts.attempts);
  at_most("passes_speculative", counts.passes_speculative, "passes", counts.passes);
  at_most("offered", counts.offered, "generated", counts.generated);
}

/// Offered and reached can't rise along a draft by how they are counted; accepted can pass reached
/// in a pass that says it accepted what it never offered.
void compare_positions(const std::vector<PositionCounts>& positions,
                       std::vector<std::string>& found) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto& [offered, reached, accepted] = positions[i];
    if (!(Count(accepted) > reached)) continue;
    found.push_back(
        fmt::format("draft position {} was offered {}, reached {} and accepted {} times", i + 1,
                    offered.number(), reached.number(), accepted));
    return;
  }
}

/// The decode calls must stand in their order: a lost one whose token was never counted anyway
/// changes no sum.
void compare_records(const trace::Request& request, std::vector<std::string>& found) {
  for (std::size_t i = 0; i < request.passes.size(); ++i) {
    const auto& pass = request.passes[i];
    if (pass.index != static_cast<int>(i)) {
      found.push_back(fmt::format("pass {} is recorded in place {}", pass.index, i));
      return;
    }
    if (pass.kind != trace::PassKind::speculative && pass.offered > 0) {
      found.push_back(
          fmt::format("pass {} carries {} draft tokens and is not speculative", i, pass.offered));
      return;
    }
  }
}

/// A server that says a count twice, in its answer and by its counters, must say the same.
void compare_said(const trace::Answer& answer, std::vector<std::string>& found) {
  using trace::Quantity;
  for (const auto quantity : {Quantity::output_tokens, Quantity::offered, Quantity::accepted,
                              Quantity::passes_speculative}) {
    const trace::Said* first = nullptr;
    for (const auto& said : answer.said) {
      if (said.quantity != quantity) continue;
      if (first == nullptr) first = &said;
      if (said.value < first->value || said.value > first->value)
        found.push_back(fmt::format("{} of {} says {:g} and {} of {} says {:g}", first->field,
                                    first->endpoint, first->value, said.field, said.endpoint,
                                    said.value));
    }
  }
}

std::vector<std::string> check(const trace::Request& request) {
  std::vector<std::string> found;
  if (request.outcome.kind != trace::OutcomeKind::done) return found;
  const auto counts = count_request(request);
  if (!counts) {
    found.emplace_back(
        "ended as done and has no token, or times or counts that no engine can make");
    return found;
  }
  compare_counts(*counts, found);
  compare_positions(counts->positions, found);
  compare_records(request, found);
  if (request.answer) compare_said(*request.answer, found);
  return found;
}

}  // namespace

std::vector<std::string> find_contradictions(const trace::Trace& trace) {
  std::vector<std::string> sentences;
  const auto& arms = trace.header.arms;
  for (const auto& launch : trace.launches) {
    if (std::none_of(arms.begin(), arms.end(),
                     [&launch](const auto& arm) { return arm.name == launch.arm; }))
      sentences.push_back(fmt::format("launch {} is of arm {}, which the run does not have",
                                      launch.index, launch.arm));
    const auto look_at = [&](const trace::Request& request) {
      if (request.warm_up) return;
      for (const auto& what : check(request))
        sentences.push_back(fmt::format("arm {}, class {}, prompt {}, launch {}: {}", launch.arm,
                                        request.workload_class, request.prompt_id, launch.index,
                                        what));
    };
    for (const auto& request : launch.requests) look_at(request);
    for (const auto& cell : launch.loads)
      for (const auto& request : cell.requests) look_at(request);
  }
  std::sort(sentences.begin(), sentences.end());
  return sentences;
}

std::string find_phase_contradiction(const std::string& arm, const ClassSummary& summary) {
  if (!summary.phases || summary.phases->other_s >= 0) return "";
  return fmt::format(
      "arm {}, class {}: the phases of a pass take {:.3g} s longer than the whole pass", arm,
      summary.workload_class, -summary.phases->other_s);
}

}  // namespace paceline::metrics
