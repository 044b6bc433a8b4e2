#include "metrics/draft_map.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "metrics/counts.hpp"

namespace paceline::metrics {
namespace {

constexpr WalkRules free_rules{.n_predict = 1000, .n_ctx = 0, .replays = false};

/// A text of as many tokens as places and one more, drafts of `longest` offered everywhere.
trace::DraftMap map_with(std::vector<int> accepted, int longest = 16) {
  trace::DraftMap map;
  map.prompt_tokens = 10;
  map.tokens.resize(accepted.size() + 1);
  std::iota(map.tokens.begin(), map.tokens.end(), 100);
  trace::DraftAsk ask{{longest, 0}, {}, {}, std::move(accepted)};
  ask.places.resize(ask.accepted.size());
  std::iota(ask.places.begin(), ask.places.end(), 0);
  ask.offered.assign(ask.accepted.size(), longest);
  map.asks.push_back(std::move(ask));
  return map;
}

/// "place:offered/accepted" of each pass, R for a replay.
std::string passes_of(const std::optional<trace::Request>& request, int prompt_tokens = 10) {
  if (!request) return "nothing";
  std::string text;
  for (const auto& pass : request->passes) {
    if (!text.empty()) text += ' ';
    text += std::to_string(pass.depth - prompt_tokens) + ":";
    text += pass.kind == trace::PassKind::replay
                ? "R" + std::to_string(pass.width)
                : std::to_string(pass.offered) + "/" + std::to_string(pass.accepted);
  }
  return text;
}

TEST(DraftMap, is_walked_by_the_rules_of_a_request) {
  // Places:                      0  1  2  3  4  5  6
  const auto map = map_with({1, 5, 0, 2, 1, 1, 0});
  struct Case {
    const char* name;
    int longest;
    WalkRules rules;
    const char* passes;
  };
  const Case cases[] = {
      {"longest 2", 2, free_rules, "0:2/1 2:2/0 3:2/2 6:2/0"},
      {"longest 1", 1, free_rules, "0:1/1 2:1/0 3:1/1 5:1/1"},
      // Of 8 tokens 7 are to come: behind the first a draft of 6 is the longest, behind the
      // fourth 3.
      {"output cap", 16, {.n_predict = 8}, "0:6/1 2:4/0 3:3/2 6:0/0"},
      // A cap inside the text: tokens 0 to 4, nothing is drafted where one token is left.
      {"shorter cap", 16, {.n_predict = 5}, "0:3/1 2:1/0 3:0/0"},
      // Context 16 - depth 10 - 2 = 4 at place 0, and 2 fewer at place 2.
      {"context", 16, {.n_predict = 1000, .n_ctx = 16}, "0:4/1 2:2/0 3:1/1 5:0/0 6:0/0"},
      // A partial accept is decoded again with the target's own token: a + 2 tokens in two passes.
      {"replays", 2, {.n_predict = 1000, .replays = true}, "0:2/1 0:R3 3:2/2 6:2/0 6:R2"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(passes_of(walk(map, {one.longest, 0}, one.rules)), one.passes) << one.name;
}

TEST(DraftMap, a_draft_up_to_the_end_of_the_text_overshoots_by_the_targets_own_token) {
  const auto request = walk(map_with({3, 0, 0}), {4, 0}, free_rules);
  ASSERT_EQ(passes_of(request), "0:4/3");
  EXPECT_EQ(request->emissions.back().tokens, (std::vector<std::int32_t>{101, 102, 103}));
  EXPECT_EQ(request->emissions.back().overshoot, 1);
}

TEST(DraftMap, is_silent_where_it_was_not_asked) {
  auto map = map_with({1, 5, 0, 2, 1, 1, 0}, 4);
  EXPECT_EQ(passes_of(walk(map, {5, 0}, free_rules)), "nothing");
  EXPECT_EQ(passes_of(walk(map, {4, 0.5}, free_rules)), "nothing");
  map.kind = trace::MapKind::each_length;
  EXPECT_EQ(passes_of(walk(map, {3, 0}, free_rules)), "nothing");
  EXPECT_EQ(passes_of(walk(map, {4, 0}, free_rules)), "0:4/1 2:4/0 3:4/2 6:4/0");
  map.asks[0].places[2] = 1;  // as if the walk had never come by place 2
  EXPECT_EQ(passes_of(walk(map, {4, 0}, free_rules)), "nothing");
}

TEST(DraftMap, the_oracle_gives_a_draft_up_for_a_better_one_behind_it) {
  // The example of the method: 0 -> 1 -> 7, not 0 -> 2 -> 3.
  const auto map = map_with({1, 5, 0, 0, 0, 0, 0});
  const auto every_pass_the_same = [](const trace::Drafting&, const trace::Pass&) { return 1.0; };
  const auto best = oracle(map, free_rules, every_pass_the_same, every_pass_the_same);
  ASSERT_TRUE(best);
  ASSERT_EQ(best->passes.size(), 2u);
  EXPECT_EQ(best->passes[0].accepted, 0);
  EXPECT_EQ(best->passes[1].depth, 11);
  EXPECT_EQ(best->passes[1].accepted, 5);
  EXPECT_EQ(walk(map, {16, 0}, free_rules)->passes.size(), 6u);
  EXPECT_EQ(best->emissions.back().at_ns, 2'000'000'000);
}

TEST(DraftMap, a_walked_map_has_no_oracle) {
  auto map = map_with({1, 0});
  map.kind = trace::MapKind::walked;
  const auto one = [](auto&&...) { return 1.0; };
  EXPECT_FALSE(oracle(map, free_rules, one, one));
}

double cost_of(int longest, int width) { return 1 + 0.13 * longest + 0.31 * width; }

/// Every sequence of lengths from a place on, tried out.
double least_by_trying(const trace::DraftMap& map, int place, const WalkRules& rules) {
  const int last = std::min(static_cast<int>(map.tokens.size()), rules.n_predict) - 1;
  if (place >= last) return 0;
  const auto index = static_cast<std::size_t>(place);
  double least = cost_of(0, 1) + least_by_trying(map, place + 1, rules);
  const int room = rules.n_predict - place - 2;
  for (int longest = 1; longest <= map.asks[0].drafting.n_max && room > 0; ++longest) {
    const int offered = std::min({longest, map.asks[0].offered[index], room});
    const int accepted = std::min(offered, map.asks[0].accepted[index]);
    double cost = cost_of(longest, offered + 1);
    int next = place + accepted + 1;
    if (rules.replays && accepted < offered) {
      cost += cost_of(longest, accepted + 2);
      ++next;
    }
    least = std::min(least, cost + least_by_trying(map, next, rules));
  }
  return least;
}

TEST(DraftMap, the_oracle_is_as_fast_as_the_best_of_all_sequences_and_every_walk_adds_up) {
  std::mt19937 random(7);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const int places = 1 + static_cast<int>(random() % 8);
    std::vector<int> accepted;
    for (int place = 0; place < places; ++place)
      accepted.push_back(static_cast<int>(random() % static_cast<unsigned>(places - place + 1)));
    auto map = map_with(accepted, 3);
    for (int& offered : map.asks[0].offered) offered = static_cast<int>(random() % 4);
    WalkRules rules = free_rules;
    rules.n_predict = repeat % 3 == 0 ? 4 : places + 1 + repeat % 2;
    rules.replays = repeat % 5 == 0;
    const auto cost = [](const trace::Drafting& drafting, const auto& pass) {
      return cost_of(drafting.n_max, pass.width);
    };
    const auto best = oracle(map, rules, cost, cost);
    ASSERT_TRUE(best);
    EXPECT_NEAR(static_cast<double>(best->emissions.back().at_ns) * 1e-9,
                least_by_trying(map, 0, rules), 1e-6)
        << repeat;
    for (int longest = 1; longest <= 3; ++longest) {
      const auto counts = count_request(*walk(map, {longest, 0}, rules));
      ASSERT_TRUE(counts);
      EXPECT_EQ(counts->residual_passes, 0) << repeat;
      EXPECT_EQ(counts->output_tokens, std::min(places + 1, rules.n_predict));
    }
  }
}

}  // namespace
}  // namespace paceline::metrics
