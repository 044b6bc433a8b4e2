#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "support/measuring_test.hpp"
#include "trace/trace_file.hpp"

namespace paceline {
namespace {

using support::Ended;
using ::testing::HasSubstr;

const std::string target = std::string(PACELINE_SOURCE_DIR) + "/models/target-mtp-f16.gguf";

class SweepCommand : public support::MeasuringTest {
 protected:
  Ended sweep(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"sweep", "-m", target, "-t", "1", "--class", "json"});
    return support::run_program(home(), arguments);
  }
};

TEST_F(SweepCommand, measures_its_winner_again_on_prompts_that_nothing_was_chosen_by) {
  const Ended ended =
      sweep({"--spec-type", "draft-mtp", "--vary", "spec-draft-n-max=1,3", "--prompts", "8", "-n",
             "12", "--json", path("report.json"), "--trace", path("t.jsonl")});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("hold of all of them together, plain's are ordinary ones"));
  EXPECT_THAT(ended.output, HasSubstr("To quote: n-max="));
  const auto sweep = document().at("sweep");
  EXPECT_EQ(sweep.at("points").size(), 2U);
  EXPECT_EQ(sweep.at("held_out").at("arm"), sweep.at("best"));
  EXPECT_EQ(sweep.at("held_out").at("launches"), 3);
  const auto& most = sweep.at("held_out").at("speedup").at("high");
  EXPECT_EQ(ended.output.find("Plain decoding with its settings is faster") != std::string::npos,
            most.is_number() && most < 1.0);
  const auto trace = trace::read_trace(util::read_file(path("t.jsonl")).value_or(""));
  ASSERT_TRUE(trace);
  std::set<std::string> chosen_by;
  std::set<std::string> held_out;
  for (const auto& launch : trace->launches)
    for (const auto& request : launch.requests)
      if (!request.warm_up) (launch.held_out ? held_out : chosen_by).insert(request.family);
  EXPECT_EQ(chosen_by.size(), 8U);
  EXPECT_GE(held_out.size(), 8U);
  for (const auto& family : held_out) EXPECT_FALSE(chosen_by.contains(family)) << family;
}

TEST_F(SweepCommand, plans_without_measuring_and_says_what_will_not_be_quoted) {
  const Ended ended =
      sweep({"--vary", "ctk=f16,q8_0", "--vary", "t=1..13", "--prompts", "1000", "--dry-run"});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("in rounds of 26, 13, 7, 4"));
  EXPECT_THAT(ended.errors, HasSubstr("nothing is to be quoted"));
  EXPECT_THAT(sweep({"--vary", "launches=1,2"}).errors, HasSubstr("no option that one arm"));
  EXPECT_EQ(sweep({"--vary", "t=1,2", "--phases"}).exit_code, 2);
}

}  // namespace
}  // namespace paceline
