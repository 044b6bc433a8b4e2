#include "study/held_out.hpp"

#include "metrics/summary.hpp"

namespace paceline::study {

Sequel held_out_run(const RunOptions& options) {
  return [options](const trace::Trace& trace) -> std::optional<RunOptions> {
    const auto summary = metrics::summarise_sweep(trace, metrics::mix_of(trace));
    const trace::Arm* winner = summary ? trace::find_arm(options.arms, summary->best) : nullptr;
    if (winner == nullptr) return std::nullopt;
    RunOptions next = options;
    next.arms.clear();
    const trace::Arm* plain = trace::find_arm(options.arms, winner->plain);
    if (plain != nullptr && plain != winner) next.arms.push_back(*plain);
    next.arms.push_back(*winner);
    next.prompts.measured = options.prompts.held_out;
    next.rounds = trace.header.sweep->held_out_rounds;
    next.first_round = trace.header.rounds;
    next.held_out = true;
    next.selection = {};
    next.sequel = {};
    return next;
  };
}

}  // namespace paceline::study
