#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/measuring_test.hpp"
#include "util/files.hpp"

// `paceline compare` with scripts around `paceline mock` in the place of llama-servers: their
// passes are what their scripts say, and their times what the mock reports of itself.

namespace paceline {
namespace {

using support::Ended;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const std::string target = PACELINE_SOURCE_DIR "/models/target-mtp-f16.gguf";

class Compare : public support::MeasuringTest {
 protected:
  std::string server(const std::string& name, const std::string& arguments) const {
    const std::string script = path(name);
    EXPECT_TRUE(util::write_file(script, "#!/bin/sh\nexec " PACELINE_BINARY_DIR
                                         "/paceline mock \"$@\" " +
                                             arguments + "\n"));
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    return script;
  }

  Ended compare(std::vector<std::string> arguments) const {
    const std::vector<std::string> first{"compare",
                                         "-m",
                                         target,
                                         "-t",
                                         "1",
                                         "--class",
                                         "json",
                                         "-n",
                                         "16",
                                         "--spec-type",
                                         "draft-mtp",
                                         "--trace",
                                         path("t.jsonl"),
                                         "--json",
                                         path("report.json")};
    arguments.insert(arguments.begin(), first.begin(), first.end());
    return support::run_program(home(), arguments);
  }

  /// A and B of one run as if they were two.
  Ended compare_stored(const std::string& b = "t.jsonl") const {
    auto ended = support::run_program(
        home(), {"compare", path("t.jsonl") + ":A", path(b) + ":B", "--json", path("report.json")});
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    return ended;
  }

  util::Json comparison() const { return document().at("comparisons").at(0); }
};

// The acceptances are drawn by chance, other ones in each server, so that prompts differ.
TEST_F(Compare, tells_two_servers_apart_by_the_factor_that_moved) {
  const auto ended = compare({"--server-bin", server("old", "--pass-ms 1"), "--server-bin",
                              server("new", "--pass-ms 1 --acceptance 0.1,0.1,0.1 --mock-seed 2"),
                              "--prompts", "8", "--launches", "3", "--fail-if-slower", "3%",
                              "--junit", path("junit.xml"), "--github", path("summary.md")});
  EXPECT_EQ(ended.exit_code, 1) << ended.errors;
  const auto found = comparison();
  EXPECT_EQ(found.at("verdict"), "slower");
  EXPECT_EQ(found.at("limit").at("verdict"), "broken");
  EXPECT_LT(found.at("ratios").at("tokens_per_pass").at("high").get<double>(), 0.97);
  EXPECT_NEAR(found.at("ratios").at("tokens_per_s").at("value").get<double>(),
              found.at("ratios").at("tokens_per_pass").at("value").get<double>() *
                  found.at("ratios").at("passes_per_s").at("value").get<double>(),
              1e-9);
  EXPECT_EQ(found.at("launch_figures").size(), 9u);
  EXPECT_THAT(found.at("b_says").get<std::string>(), HasSubstr("new"));
  EXPECT_THAT(ended.output, HasSubstr("is slower than A"));
  EXPECT_THAT(util::read_file(path("junit.xml")).value_or(""), HasSubstr("<failure"));
  EXPECT_THAT(util::read_file(path("summary.md")).value_or(""), HasSubstr("is slower than A"));
  EXPECT_EQ(document().at("arms").size(), 3u);
}

TEST_F(Compare, of_one_launch_tells_nothing_and_says_so_by_its_exit_code) {
  const std::string one = server("one", "--pass-ms 1");
  const auto ended =
      compare({"--server-bin", one, "--b", "--temp 0.1", "--prompts", "8", "--launches", "1",
               "--fail-if-slower", "0.03", "--format", "benchstat"});
  EXPECT_EQ(ended.exit_code, 4) << ended.errors;
  const auto whole_memory = document().at("machine").at("memory_bytes");
  EXPECT_EQ(comparison().at("verdict"), "too few");
  EXPECT_THAT(ended.output, HasSubstr("BenchmarkPaceline/class=json/arm=A_again 1 "));
  const auto stored = compare_stored();
  EXPECT_THAT(stored.output, HasSubstr("too few"));
  EXPECT_EQ(document().at("machine").at("memory_bytes"), whole_memory);
  EXPECT_THAT(document().at("machine").at("load").at("reason").get<std::string>(),
              HasSubstr("not the same in both runs"));
  // The same run as if another machine had made it.
  auto text = util::read_file(path("t.jsonl")).value_or("");
  const auto id = text.find(", id ");
  ASSERT_NE(id, std::string::npos);
  ASSERT_TRUE(util::write_file(path("other.jsonl"), text.replace(id, 9, ", id none")));
  EXPECT_THAT(compare_stored("other.jsonl").output, HasSubstr("do not give the same machine"));
}

TEST_F(Compare, refuses_what_makes_no_comparison_in_a_sentence) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases{
      {{}, "A and B are the same"},
      {{"--a", "-n 4"}, "--n-predict is of the study"},
      {{"--a", "--seed 4"}, "--seed is of the study"},
      {{"--a", "--nothing"}, "--a: "},
      {{"--a", "-m 'open"}, "does not end"},
      {{"--b", "-ctk f16,q8_0"}, "asks for 2 arms"},
      {{"--b", "-ctk q8_0", "--phases"}, "--phases is not for compare"},
      {{"--b", "-ctk q8_0", "--margin", "2"}, "a share between 0 and 1"},
      {{"--b", "-ctk q8_0", "--looks", "2,4"}, "from 3 on"},
      {{"--b", "-ctk q8_0", "--looks", "3,6", "--launches", "9"}, "give one of them"},
      {{"-t", "1", "-t", "1"}, "-t"},
      {{"one.jsonl"}, "needs two"}};
  for (const auto& [arguments, reason] : cases) {
    const auto ended = compare(arguments);
    EXPECT_EQ(ended.exit_code, 2) << reason;
    EXPECT_THAT(ended.errors, HasSubstr(reason));
  }
}

/// A repository whose commits are servers: from the second on drafts are worse, and the third does
/// not build.
class Bisect : public Compare {
 protected:
  Bisect() {
    const std::string mock = "exec " PACELINE_BINARY_DIR "/paceline mock --pass-ms 1 ";
    const std::string worse = mock + "--acceptance 0.1,0.1,0.1 --mock-seed ";
    const std::vector<std::string> servers{mock + "\"$@\"", worse + "2 \"$@\"", "no server",
                                           worse + "3 \"$@\""};
    std::string script = "cd '" + home() + "' && mkdir repo && cd repo && git init -q && " +
                         "git config user.email a@b && git config user.name somebody";
    for (std::size_t i = 0; i < servers.size(); ++i)
      script += " && printf '#!/bin/sh\\n%s\\n' '" + servers[i] + "' > server.in && git add . && " +
                "git commit -qm 'change " + std::to_string(i + 1) + "' && git tag c" +
                std::to_string(i + 1);
    EXPECT_EQ(std::system(script.c_str()), 0);
  }
};

TEST_F(Bisect, finds_the_commit_that_made_it_slower_and_leaves_the_repository_alone) {
  const auto ended = compare({"--server-bin", "out/server", "--prompts", "8", "--launches", "3",
                              "--bisect", "c1", "c4", "--repo", path("repo"), "--build",
                              "mkdir -p out && ! grep -q 'no server' server.in && cp server.in "
                              "out/server && chmod +x out/server"});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, ContainsRegex("change 3 +skip +does not build"));
  EXPECT_THAT(ended.output, ContainsRegex("change 2 +bad"));
  EXPECT_THAT(ended.output, HasSubstr("is the first bad commit"));
  EXPECT_EQ(std::system(("cd '" + path("repo") +
                         "' && test -z \"$(git status --porcelain)\" && "
                         "test $(git worktree list | wc -l) = 1")
                            .c_str()),
            0);
}

}  // namespace
}  // namespace paceline
