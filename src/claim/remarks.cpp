#include <fmt/format.h>

#include "claim/contradictions.hpp"

namespace paceline::claim {

namespace {

using enum Figure;
using document::ClaimRemark;

constexpr double high_acceptance = 0.7;
constexpr double sure_acceptance = 0.98;
constexpr double short_draft = 2;
constexpr double hardly_cheaper = 0.8;  ///< of as many plain passes
constexpr double needs_much = 8;  ///< tokens per pass that texts other than copies rarely give
constexpr double hardly_engaged = 0.25;

}  // namespace

void find_remarks(const Worked& row, std::vector<ClaimRemark>& remarks) {
  const auto add = [&](const char* kind, std::string says) {
    remarks.push_back({kind, row.row.label, std::move(says)});
  };
  const auto has = [&](auto... all) { return (row.has(all) && ...); };
  const bool is_high = has(acceptance) && row.at(acceptance).low >= high_acceptance;
  if (has(speedup) && row.at(speedup).high < 1 && is_high)
    add("slow_down_despite_acceptance",
        fmt::format("{} accepted and yet slower than plain ({}): a pass costs more than its "
                    "tokens are worth",
                    shown(row.at(acceptance)), shown(row.at(speedup))));
  if (has(acceptance) && row.at(acceptance).low >= sure_acceptance && has(offered_per_pass) &&
      row.at(offered_per_pass).high < short_draft)
    add("sure_drafts",
        fmt::format("{} accepted of drafts of only {} tokens a pass: few sure drafts, so that the "
                    "acceptance ranks nothing",
                    shown(row.at(acceptance)), shown(row.at(offered_per_pass))));
  if (has(pass_cost, draft_limit) && row.at(pass_cost).value &&
      row.at(pass_cost).low >= hardly_cheaper * (row.at(draft_limit).high + 1))
    add("width_gains_nothing",
        fmt::format("a pass of {} tokens would cost {} plain ones: either width gains nothing "
                    "here or the drafts were shorter than the limit",
                    shown(row.at(draft_limit) + exactly(1)), shown(row.at(pass_cost))));
  if (has(speedup) && row.at(speedup).low >= needs_much)
    add("needs_many_tokens",
        fmt::format("a speed-up of {} needs at least as many tokens per pass: text that repeats "
                    "what stands before it, or a cache, gives that",
                    shown(row.at(speedup))));
  if (has(engaged_share) && row.at(engaged_share).high < hardly_engaged)
    add("hardly_engaged", fmt::format("passes with a draft made {} of the output: the arm mostly "
                                      "ran without speculation",
                                      shown(row.at(engaged_share))));
  if (has(emitted))
    add("vllm_v0",
        "accepted is vLLM V0's, which counts matches behind the first mismatch: "
        "tokens per pass is taken from what was emitted");
  if (has(offered) && row.at(offered).high <= 0)
    add("not_engaged", "no draft token was offered: this ran without speculation");
  if (has(prompt_processed, prefill_s) && row.at(prompt_processed).high <= 1)
    add("prompt_cached",
        "one prompt token was processed: the prompt came from a cache, and its "
        "rate says nothing of prefill");
  if (row.row.since_start)
    add("since_start", "counters since the server's start: of every request, not of one");
}

}  // namespace paceline::claim
