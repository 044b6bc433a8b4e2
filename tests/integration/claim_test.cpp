#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

namespace paceline {
namespace {

using support::Ended;
using testing::HasSubstr;
using testing::Not;

const std::string article = "base=17.98,spec=84.64,accept=38.67%,k=15,full=yes";

class ClaimCommand : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  Ended run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "claim");
    return support::run_program(folder_.path().string(), arguments);
  }
  static std::string seed(const std::string& name) {
    return std::string(PACELINE_SOURCE_DIR) + "/fuzz/seeds/claim_fuzz/" + name;
  }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(ClaimCommand, SaysWhatFollowsAndWritesAValidDocument) {
  const std::string document = path("c.json");
  const Ended ended =
      run({"--given", article, seed("C132.txt"), seed("post.md"), "--json", document});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("screenshot: "));
  EXPECT_THAT(ended.output, testing::ContainsRegex("passes_per_s +12\\.45"));
  EXPECT_THAT(ended.output, testing::ContainsRegex("pass_cost +1\\.44"));
  EXPECT_THAT(ended.output, HasSubstr("10 are unaccounted for"));
  const std::string source = PACELINE_SOURCE_DIR;
  const std::string said = path("said.txt");
  const std::string validate = "python3 '" + source + "/tests/support/validate_json.py' '" +
                               source + "/docs/claim.schema.json' '" + document + "' > '" + said +
                               "' 2>&1";
  EXPECT_EQ(std::system(validate.c_str()), 0) << util::read_file(said).value_or("");
}

TEST_F(ClaimCommand, EndsWithOneBelowTheLevelThatIsAskedFor) {
  EXPECT_EQ(run({"--given", article, "--strict", "incomplete"}).exit_code, 1);
  EXPECT_EQ(run({"--given", article}).exit_code, 0);
  const std::string known = article + ",build=b9030,tool=llama-server";
  EXPECT_EQ(run({"--given", known, "--strict", "incomplete"}).exit_code, 0);
  EXPECT_EQ(run({"--given", known, "--strict", "benchmark"}).exit_code, 1);
}

TEST_F(ClaimCommand, WhatMakesNoSenseIsRefusedWithTheReason) {
  for (const char* const text : {"base", "base=fast", "colour=3", "base=1,base=2", "full=yes"}) {
    const Ended ended = run({"--given", text});
    EXPECT_EQ(ended.exit_code, 2) << text;
    EXPECT_THAT(ended.errors, HasSubstr("--given")) << text;
  }
  EXPECT_EQ(run({}).exit_code, 2);
  const std::string noise = path("noise.txt");
  ASSERT_TRUE(util::write_file(noise, "nothing to see\n"));
  const Ended nothing = run({noise});
  EXPECT_EQ(nothing.exit_code, 4);
  EXPECT_THAT(nothing.errors, HasSubstr("--given"));
}

TEST_F(ClaimCommand, NothingInTheTextReachesTheTerminalAsACommand) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{seed("escapes.txt")},
        {seed("escapes.txt"), "--markdown"},
        {"--given", "name=\x1b[2J,tps=20,model=\x1b]0;x\x07", "--markdown"},
        {"--given", "name=\x1b[2J,tps=20,model=\x1b]0;x\x07"}}) {
    const Ended ended = run(arguments);
    ASSERT_EQ(ended.exit_code, 0) << ended.errors;
    const bool clean = std::all_of(ended.output.begin(), ended.output.end(), [](char c) {
      return static_cast<unsigned char>(c) >= 0x20 || c == '\n';
    });
    EXPECT_TRUE(clean);
    EXPECT_THAT(ended.output, HasSubstr("x1b"));
  }
}

TEST_F(ClaimCommand, AReplyIsPoliteAndQuotesNothingThatMarkdownWouldObey) {
  const Ended ended =
      run({"--given", "name=<b>|x|,base=12.7,spec=49.8,accepted_per_pass=7.3,k=7", "--markdown"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, testing::StartsWith("Thank you"));
  EXPECT_THAT(ended.output, HasSubstr("could you look at them again?"));
  EXPECT_THAT(ended.output, HasSubstr("| \\<b\\>\\|x\\| |"));
  EXPECT_THAT(ended.output, Not(HasSubstr("<b>")));
}

TEST_F(ClaimCommand, TheFileOfAModelGivesTheCeiling) {
  const Ended ended = run({"--given", "tps=500,tau=1.00", "--model",
                           support::lab_model("target-mtp-f16.gguf"), "--bandwidth", "10GB/s"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("ceiling_share"));
  const Ended impossible = run({"--given", "tps=500,tau=1.00", "--model",
                                support::lab_model("target-mtp-f16.gguf"), "--bandwidth", "1GB/s"});
  EXPECT_THAT(impossible.output, HasSubstr("what the bandwidth permits"));
}

}  // namespace
}  // namespace paceline
