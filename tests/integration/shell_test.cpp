#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using Words = std::vector<std::string>;

class Bash : public ::testing::Test {
 protected:
  /// What bash offers for the last of these words once it has read paceline's completions.
  Words offered(const std::string& words) {
    const auto script = folder_.path() / "complete.bash";
    const auto printed = support::run_program(folder_.path().string(), {"completions", "bash"});
    EXPECT_EQ(printed.exit_code, 0) << printed.errors;
    EXPECT_TRUE(util::write_file(script, printed.output + "COMP_WORDS=(paceline " + words +
                                             ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_paceline\n"
                                             "printf '%s\\n' \"${COMPREPLY[@]}\"\n"));
    const std::unique_ptr<FILE, int (*)(FILE*)> bash(
        popen(("bash " + script.string() + " 2>&1").c_str(), "r"), pclose);
    std::string text(65536, '\0');
    text.resize(fread(text.data(), 1, text.size(), bash.get()));
    std::istringstream lines(text);
    Words result;
    for (std::string line; std::getline(lines, line);) result.push_back(line);
    return result;
  }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(Bash, completes_commands_first) { EXPECT_THAT(offered("de"), ElementsAre("demo")); }

TEST_F(Bash, completes_the_options_of_the_command_that_stands_there) {
  EXPECT_THAT(offered("run --lau"), ElementsAre("--launches"));
  EXPECT_THAT(offered("run --"), Contains("--model-draft"));
  EXPECT_THAT(offered("demo --"), Not(Contains("--model-draft")));
}

TEST_F(Bash, completes_the_words_of_a_value) {
  EXPECT_THAT(offered("completions z"), ElementsAre("zsh"));
}

}  // namespace
}  // namespace paceline
