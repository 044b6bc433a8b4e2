#include "workload/mix_file.hpp"

#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::workload {
namespace {

std::string refusal(const util::Result<trace::Mix>& mix) { return mix ? "" : mix.error().message; }

TEST(MixShares, are_of_output_tokens_in_requests_of_the_cap) {
  const auto mix = parse_mix_shares("code=0.4,prose=0.35,json=0.25", 256);
  ASSERT_TRUE(mix) << mix.error().message;
  EXPECT_EQ(mix->name, "code=0.4,prose=0.35,json=0.25");
  ASSERT_EQ(mix->classes.size(), 3u);
  EXPECT_DOUBLE_EQ(mix->classes.at("prose").share, 0.35);
  EXPECT_EQ(mix->classes.at("prose").tokens_per_request, 256);
  EXPECT_FALSE(mix->classes.at("prose").depth);
}

TEST(MixShares, that_make_no_sense_are_refused) {
  EXPECT_EQ(refusal(parse_mix_shares("code=0.4,prose=0.3", 8)),
            "--mix: the shares of the mix add up to 0.7, not 1");
  EXPECT_EQ(refusal(parse_mix_shares("code=1.2,prose=-0.2", 8)),
            "--mix: the mix gives class prose a share below 0");
  EXPECT_EQ(refusal(parse_mix_shares("", 8)), "--mix: the mix names no class");
  EXPECT_EQ(refusal(parse_mix_shares("code=0.5,code=0.5", 8)), "--mix names class code twice");
  for (const char* text : {"code", "=1", "code=", "code=x", "code=1x", "code=nan", "code=inf",
                           "code=1e999", "code= 1", "code=0.5,,prose=0.5"})
    EXPECT_NE(refusal(parse_mix_shares(text, 8)).find("write it as code=0.4"), std::string::npos)
        << text << ": " << refusal(parse_mix_shares(text, 8));
}

constexpr const char* desk = R"(
name = "desk"
shares_of = "tokens"
[classes.code]
share = 0.75
tokens_per_request = 400
depth = 2000
[classes.chat]
share = 0.25
)";

TEST(MixFile, freezes_share_length_and_depth_of_each_class) {
  const auto mix = parse_mix_file(desk, "desk.toml");
  ASSERT_TRUE(mix) << mix.error().message;
  EXPECT_EQ(mix->name, "desk");
  EXPECT_DOUBLE_EQ(mix->classes.at("code").share, 0.75);
  EXPECT_EQ(mix->classes.at("code").tokens_per_request, 400);
  EXPECT_EQ(mix->classes.at("code").depth, 2000);
  EXPECT_FALSE(mix->classes.at("chat").tokens_per_request);
  EXPECT_FALSE(mix->classes.at("chat").depth);
}

TEST(MixFile, turns_shares_of_requests_into_shares_of_output_tokens) {
  // Of 10 requests 9 are chat of 100 tokens and one is code of 300: 900 and 300 of 1200 tokens.
  const auto mix = parse_mix_file(
      "name = \"m\"\nshares_of = \"requests\"\n[classes]\n"
      "chat = {share = 0.9, tokens_per_request = 100}\n"
      "code = {share = 0.1, tokens_per_request = 300}\n",
      "m.toml");
  ASSERT_TRUE(mix) << mix.error().message;
  EXPECT_DOUBLE_EQ(mix->classes.at("chat").share, 0.75);
  EXPECT_DOUBLE_EQ(mix->classes.at("code").share, 0.25);
  EXPECT_EQ(mix->classes.at("chat").tokens_per_request, 100);
}

TEST(MixFile, that_makes_no_sense_is_named_by_file_and_line) {
  const std::string head = "name = \"m\"\nshares_of = \"tokens\"\n";
  const std::pair<std::string, const char*> cases[] = {
      {"name = ", "m.toml, line 1: "},
      {"[/classes]\n", "m.toml, line 1: "},  // toml++ with its own assertions on aborts at it
      {"shares_of = \"tokens\"\n", "\"name\" is missing"},
      {"name = \"\"\n", "line 1: name: some text was expected"},
      {"name = \"m\"\nshares_of = \"minutes\"\n",
       "line 2: shares_of is \"tokens\" or \"requests\""},
      {head, "\"classes\" is missing"},
      {head + "classes = 5\n", "line 3: classes: a table a class was expected"},
      {head + "[classes]\ncode = 5\n", "line 4: a table of a class was expected"},
      {head + "[classes.code]\nshare = 1\ndepht = 4\n",
       "line 5: \"depht\" is no key of a mix; those here are share, tokens_per_request, depth"},
      {head + "[classes.code]\ndepth = 4\n", "\"share\" is missing"},
      {head + "[classes.code]\nshare = \"all\"\n", "line 4: share: a number was expected"},
      {head + "[classes.code]\nshare = nan\n", "line 4: share: a number was expected"},
      {head + "[classes.code]\nshare = 1\ntokens_per_request = 0\n", "at least 1 token"},
      {head + "[classes.code]\nshare = 1\ndepth = -1\n", "line 5: depth: a whole number"},
      {head + "[classes.code]\nshare = 1\ndepth = 1.5\n", "line 5: depth: a whole number"},
      {head + "[classes.code]\nshare = 0.5\n", "add up to 0.5, not 1"},
      {"name = \"m\"\nshares_of = \"requests\"\n[classes.code]\nshare = 1\n",
       "class code does not say its tokens_per_request"},
      {"name = \"m\"\nshares_of = \"requests\"\n[classes.code]\nshare = 0.5\n"
       "tokens_per_request = 9\n",
       "add up to 0.5, not 1"},
  };
  for (const auto& [text, expected] : cases) {
    const auto problem = refusal(parse_mix_file(text, "m.toml"));
    EXPECT_NE(problem.find(expected), std::string::npos) << text << "\n" << problem;
    EXPECT_EQ(problem.rfind("m.toml", 0), 0u) << problem;
  }
}

TEST(MixFile, is_told_from_shares_by_its_name) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "a=b.toml";
  ASSERT_TRUE(util::write_file(path, desk));
  EXPECT_EQ(load_mix(path.string(), 8)->name, "desk");
  EXPECT_EQ(load_mix("code=1", 8)->name, "code=1");
  EXPECT_NE(refusal(load_mix((folder.path() / "none.toml").string(), 8)).find("cannot read"),
            std::string::npos);
}

TEST(MixFile, that_ships_is_a_good_one) {
  const auto mix = load_mix(util::shipped("workloads/agent-mix.toml").string(), 8);
  ASSERT_TRUE(mix) << mix.error().message;
  for (const auto& [name, item] : mix->classes) {
    EXPECT_TRUE(item.tokens_per_request) << name;
    EXPECT_TRUE(item.depth) << name;
  }
}

// Keys that nest 50,000 deep took the parser's recursion, and the program, down.
TEST(MixFile, longer_than_any_mix_is_refused_unread) {
  std::string text = "a";
  for (int i = 0; i < 50'000; ++i) text += ".a";
  const auto mix = parse_mix_file(text + " = 1\n", "deep.toml");
  ASSERT_FALSE(mix);
  EXPECT_NE(mix.error().message.find("at most"), std::string::npos) << mix.error().message;
}

}  // namespace
}  // namespace paceline::workload
