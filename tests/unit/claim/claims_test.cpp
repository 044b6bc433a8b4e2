#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "claim/number.hpp"
#include "judged.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

// claims.jsonl: figures of public posts and what follows from them, worked out apart from this
// code. Its keys mal, round_cost and k_max are tokens_per_pass, pass_cost and the draft limit.

namespace paceline::claim {
namespace {

using util::Json;

const std::map<std::string, Figure> given_keys = {{"base_tps", Figure::base_tokens_per_s},
                                                  {"spec_tps", Figure::tokens_per_s},
                                                  {"accept_rate", Figure::acceptance},
                                                  {"mal", Figure::tokens_per_pass},
                                                  {"k_max", Figure::draft_limit},
                                                  {"accepted", Figure::accepted},
                                                  {"drafted", Figure::offered},
                                                  {"passes", Figure::passes},
                                                  {"tokens", Figure::tokens},
                                                  {"emitted", Figure::emitted}};

const std::map<std::string, std::string> expected_keys = {
    {"mal", "tokens_per_pass"},          {"implied_k", "offered_per_pass"},
    {"avg_draft", "offered_per_pass"},   {"passes", "passes"},
    {"ceiling", "most_tokens_per_pass"}, {"ceiling_fraction", "share_of_most"},
    {"efficiency", "share_of_most"},     {"speedup", "speedup"},
    {"passes_per_s", "passes_per_s"},    {"round_cost", "pass_cost"},
    {"accept_rate", "acceptance"},       {"identity_gap", "identity_gap"}};

/// Flags that say something which `given` of their row does not hold.
const std::map<std::string, std::string> cannot_follow = {
    {"block16_drafter_run_at_k3", "the drafter's block is not given"},
    {"label_contradiction_accepted_gt_k", "given already reads 7.3 as tokens per pass"},
    {"label_ambiguous", "likewise; the label is not given"},
    {"different_build_per_arm", "no build is given"},
    {"different_binary_per_arm", "no binary is given"},
    {"repetition_assisted", "what was generated, and by which drafter, is not given"},
    {"concurrency", "the number of sequences is not given"},
    {"token_count_differs", "no token count is given"},
    {"prompt_cached", "no prompt count is given"},
    {"acceptance_definition_unknown", "given already reads the acceptance as a share of output"},
    {"not_engaged", "neither attempts nor tokens are given"},
    {"tool_adds_2_per_step", "the tool's own tokens per step is not given"},
    {"bandwidth_says_base_quant_differs", "neither bandwidth nor file size is given"}};

const std::map<std::string, std::function<bool(const document::Claim&)>> flags = {
    {"slowdown_despite_high_acceptance",
     [](const auto& claim) { return remarks(claim, "slow_down_despite_acceptance"); }},
    {"high_ar_short_drafts", [](const auto& claim) { return remarks(claim, "sure_drafts"); }},
    {"needs_mal_ge_10", [](const auto& claim) { return remarks(claim, "needs_many_tokens"); }},
    {"mal_not_derivable_p_min",
     [](const auto& claim) { return !find(claim.rows[0], "tokens_per_pass").value; }},
    {"implausible_round_cost",
     [](const auto& claim) { return remarks(claim, "width_gains_nothing"); }},
    {"identity_violation", [](const auto& claim) { return contradicts(claim, "identity"); }},
    {"v0_accepted_not_prefix_only",
     [](const auto& claim) { return contradicts(claim, "definition"); }}};

std::vector<Json> cases() {
  std::vector<Json> all;
  const auto text = util::read_file(PACELINE_SOURCE_DIR "/tests/golden/claims.jsonl");
  EXPECT_TRUE(text);
  for (std::size_t at = 0; text && at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    auto json = util::parse_json(std::string_view(*text).substr(at, end - at), "a claim");
    EXPECT_TRUE(json);
    if (json) all.push_back(std::move(*json));
    at = end + 1;
  }
  return all;
}

document::Claim judge_case(const Json& one) {
  Row row;
  row.label = one["id"].get<std::string>() + " " + one["sub"].get<std::string>();
  const Json& given = one["given"];
  for (const auto& [key, number] : given.items()) {
    if (key == "full_drafts") {
      row.full_drafts = number.get<bool>();
      continue;
    }
    const Figure figure = given_keys.at(key);
    const auto range = parse_figure(number.dump(), figure);
    EXPECT_TRUE(range) << key;
    if (range) row.add({figure, *range, {}, number.dump(), "claims.jsonl", {}});
  }
  Sheet sheet;
  sheet.rows.push_back(std::move(row));
  return judge(std::move(sheet));
}

/// Half a unit of the last digit that is written.
double rounding_of(const Json& number) {
  const std::string text = number.dump();
  const std::size_t point = text.find('.');
  return 0.5 * std::pow(10.0, point == std::string::npos
                                  ? 0
                                  : -static_cast<double>(text.size() - point - 1));
}

/// Bounds must be as narrow as this to show anything: the first token of a request, counted or not.
constexpr double widest = 0.05;

void expect_near(const Found& found, const Json& expected, const std::string& what) {
  const double wanted = expected.get<double>();
  const double slack = rounding_of(expected) * 1.0001;
  ASSERT_TRUE(found.low && found.high) << what << " does not follow";
  if (found.value) {
    EXPECT_NEAR(*found.value, wanted, slack) << what;
    return;
  }
  EXPECT_LE(*found.low, wanted + slack) << what;
  EXPECT_GE(*found.high, wanted - slack) << what;
  EXPECT_LT(*found.high - *found.low, widest * std::abs(wanted)) << what << " is too wide";
}

TEST(Claims, EveryPublicClaimGivesWhatFollowsFromItAndNothingElse) {
  const auto all = cases();
  ASSERT_EQ(all.size(), 113U);
  for (const Json& one : all) {
    const auto claim = judge_case(one);
    const auto& row = claim.rows[0];
    SCOPED_TRACE(row.label);
    for (const auto& [key, expected] : one["expect"].items()) {
      if (key == "passes_from") continue;
      // Passes made of the tokens leave no gap by construction: it is not shown as a check.
      if (key == "identity_gap" && one["expect"].value("passes_from", "") == "N-A") {
        EXPECT_FALSE(find(row, "identity_gap").value);
        continue;
      }
      if (key == "mal_lower_bound") {
        const Found bound = find(row, "tokens_per_pass");
        const Found speedup = find(row, "speedup");
        ASSERT_TRUE(bound.low && speedup.low && speedup.high);
        EXPECT_FALSE(bound.value);
        EXPECT_DOUBLE_EQ(*bound.low, std::max(1.0, *speedup.low));
        EXPECT_LE(*bound.low, expected.get<double>() + rounding_of(expected));
        EXPECT_GE(std::max(1.0, *speedup.high), expected.get<double>() - rounding_of(expected));
        continue;
      }
      expect_near(find(row, expected_keys.at(key)), expected, key);
    }
  }
}

TEST(Claims, EveryFlagThatFollowsFromWhatIsGivenIsRaised) {
  std::set<std::string> raised;
  std::set<std::string> left_out;
  for (const Json& one : cases()) {
    const auto claim = judge_case(one);
    bool is_flagged = false;
    for (const Json& flag : one["flags"]) {
      const std::string name = flag.get<std::string>();
      if (cannot_follow.contains(name)) {
        left_out.insert(name);
        continue;
      }
      is_flagged = true;
      raised.insert(name);
      EXPECT_TRUE(flags.at(name)(claim)) << claim.rows[0].label << ": " << name;
    }
    if (!is_flagged) {
      EXPECT_EQ(contradictions(claim), "") << claim.rows[0].label;
    }
  }
  EXPECT_EQ(raised.size(), flags.size());
  EXPECT_EQ(left_out.size(), cannot_follow.size());
}

// What cannot follow from `given` does follow once the cases' own words are given.
TEST(Claims, FlagsFollowOnceTheirFactsAreGiven) {
  const auto impossible = judge_given({"base=12.7,spec=49.8,accepted_per_pass=7.3,k=7"});
  EXPECT_THAT(contradictions(impossible), testing::HasSubstr("7.3"));
  EXPECT_FALSE(find(impossible.rows[0], "tokens_per_pass").value);
  const auto builds = judge_given({"spec=20.1,build=b8979", "spec=18.9,build=b9030"});
  EXPECT_TRUE(remarks(builds, "different_builds"));
  const auto bypassed = judge_given({"base=14.71,spec=12.72,attempts=27,tokens=900,k=3"});
  EXPECT_TRUE(remarks(bypassed, "hardly_engaged"));
  EXPECT_NEAR(*find(bypassed.rows[0], "engaged_share").high, 27 * 4 / 900.0, 1e-9);
  const auto cached = judge_given({"prompt_processed=1,prefill_s=0.228,tps=18"});
  EXPECT_TRUE(remarks(cached, "prompt_cached"));
  const auto plus_two = judge_given({"tau=5.27,accepted=36,drafted=88,steps=11,tokens=57,k=8"});
  EXPECT_THAT(contradictions(plus_two), testing::HasSubstr("accepted / passes + 2"));
}

// C002: 7.3 of 7 drafts cannot be; with the target's own token the passes are alike.
TEST(Claims, AnImpossibleLengthIsReadTheOtherWay) {
  const auto claim = judge_given({"base=12.7,spec=49.8,accepted_per_pass=7.3,k=7",
                                  "base=12.7,spec=56.7,accepted_per_pass=7.4,k=7",
                                  "base=12.7,spec=26.1,accepted_per_pass=~4,k=7",
                                  "base=12.7,spec=19.7,accepted_per_pass=~3,k=7"});
  const double passes[] = {6.82, 7.66, 6.53, 6.57};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& readings = claim.rows[i].readings;
    ASSERT_EQ(readings.size(), 2U);
    EXPECT_TRUE(readings[0].consistent);
    EXPECT_NEAR(*readings[0].passes_per_s, passes[i], 0.006);
    EXPECT_THAT(readings[0].why, testing::HasSubstr("the least of all meanings"));
    EXPECT_EQ(readings[1].consistent, i > 1);
  }
  EXPECT_EQ(claim.contradictions.size(), 2U) << contradictions(claim);
}

// C036: accepted over output keeps passes alike, accepted over offered does not.
TEST(Claims, TheMeaningThatKeepsPassesAlikeIsNamed) {
  const auto claim = judge_given({"base=74.72,spec=194.80,accept=85.16%,k=15",
                                  "base=73.76,spec=214.78,accept=86.91%,k=15",
                                  "base=72.94,spec=235.75,accept=88.87%,k=15"});
  for (const auto& row : claim.rows)
    for (const auto& reading : row.readings) {
      if (!reading.meaning.starts_with("accepted / output")) continue;
      EXPECT_TRUE(reading.consistent);
      EXPECT_THAT(reading.why, testing::HasSubstr("the least of all meanings"));
      EXPECT_NEAR(*reading.tokens_per_pass, 1 / (1 - find(row, "acceptance").value.value()), 1e-9);
    }
  EXPECT_GE(claim.rows[0].readings.size(), 3U);
}

}  // namespace
}  // namespace paceline::claim
