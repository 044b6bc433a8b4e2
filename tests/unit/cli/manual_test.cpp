#include "cli/manual.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace paceline::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Manual : public testing::Test {
 protected:
  Manual() {
    program_.footer("Exit codes: 0 done");
    CLI::App* run = program_.add_subcommand("run", "Runs a model");
    run->footer("Examples:\n.hidden 'x' \\n");
    run->add_option("-n,--n-predict", number_, "Output cap")
        ->type_name("TOKENS")
        ->capture_default_str();
  }

  int number_ = 128;
  CLI::App program_{"Measures models", "paceline"};
};

TEST_F(Manual, tells_every_option_with_its_unit_and_default) {
  EXPECT_THAT(manual_page(program_, "1.2"),
              HasSubstr(".TP\n\\fB\\-n, \\-\\-n\\-predict\\fR \\fITOKENS\\fR\nOutput cap.\n"
                        "[default: 128]\n"));
}

TEST_F(Manual, names_program_version_and_section) {
  EXPECT_THAT(manual_page(program_, "1.2"), HasSubstr(".TH PACELINE 1 \"\" \"paceline 1.2\""));
}

TEST_F(Manual, keeps_text_from_being_read_as_requests) {
  const std::string page = manual_page(program_, "1.2");
  EXPECT_THAT(page, Not(HasSubstr("\n.hidden")));
  EXPECT_THAT(page, HasSubstr("\n\\&.hidden 'x' \\en\n"));
}

}  // namespace
}  // namespace paceline::cli
