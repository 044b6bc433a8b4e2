#include "cli/option_table.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/program.hpp"

namespace paceline::cli {
namespace {

class OptionTable : public testing::Test {
 protected:
  /// The row of the option that `add` puts into an otherwise empty command.
  OptionRow row(const std::string& name) { return row_of(*app_.get_option(name)); }

  CLI::App app_{"about", "tool"};
  int number_ = 3;
  bool flag_ = false;
  std::vector<std::string> words_;
};

TEST_F(OptionTable, gives_names_with_their_dashes_short_ones_first) {
  app_.add_option("--model-draft,-m", words_);
  EXPECT_EQ(row("-m").names, (std::vector<std::string>{"-m", "-md", "--model-draft"}));
}

TEST_F(OptionTable, takes_unit_and_limits_apart) {
  app_.add_option("--length", number_, "Longest")->check(CLI::Range(1, 64))->type_name("TOKENS");
  EXPECT_EQ(row("--length").unit, "TOKENS");
  EXPECT_EQ(row("--length").limits, "1 - 64");
}

TEST_F(OptionTable, has_neither_unit_nor_default_for_a_flag) {
  app_.add_flag("--phases", flag_, "More");
  EXPECT_EQ(row("--phases").unit, "");
  EXPECT_EQ(value_note(row("--phases")), "");
}

TEST_F(OptionTable, notes_range_and_default_together) {
  app_.add_option("--a", number_)->check(CLI::Range(1, 64))->capture_default_str();
  app_.add_option("--b", number_)->default_str("none");
  app_.add_option("--c", number_)->check(CLI::Range(0, 9));
  EXPECT_EQ(value_note(row("--a")), "[1 - 64; default: 3]");
  EXPECT_EQ(value_note(row("--b")), "[default: none]");
  EXPECT_EQ(value_note(row("--c")), "[0 - 9]");
}

TEST_F(OptionTable, knows_the_words_of_an_option_that_takes_no_others) {
  app_.add_option("--form", words_)->check(CLI::IsMember({"auto", "raw", "chat"}));
  app_.add_option("--file", words_)->type_name("NAME|FILE");
  EXPECT_EQ(choices(row("--form")), (std::vector<std::string>{"auto", "raw", "chat"}));
  EXPECT_TRUE(choices(row("--file")).empty());
}

TEST_F(OptionTable, tells_what_may_be_repeated_and_what_is_required) {
  app_.add_option("--arm", words_)->required();
  app_.add_option("--n", number_);
  EXPECT_TRUE(row("--arm").repeatable);
  EXPECT_TRUE(row("--arm").required);
  EXPECT_FALSE(row("--n").repeatable);
}

/// What a user has to know about every option of every command of ours.
TEST(OptionsOfPaceline, say_what_they_do_their_unit_and_their_default) {
  CLI::App app("", "paceline");
  Action action;
  add_commands(app, action);
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  ASSERT_GE(commands.size(), 4u);
  for (const CLI::App* command : commands) {
    EXPECT_FALSE(command->get_footer().empty()) << command->get_name() << " shows no example";
    for (const auto& option : option_rows(*command)) {
      const std::string name = command->get_name() + " " + option.names.back();
      EXPECT_GE(option.description.size(), 8u) << name;
      const bool flag = option.unit.empty();
      const bool bare_type = option.unit == "TEXT" || option.unit == "INT" ||
                             option.unit == "UINT" || option.unit == "FLOAT";
      EXPECT_FALSE(bare_type) << name << " has no unit, only the type " << option.unit;
      EXPECT_TRUE(flag || option.required || !option.default_text.empty())
          << name << " does not say its default";
    }
  }
}

}  // namespace
}  // namespace paceline::cli
