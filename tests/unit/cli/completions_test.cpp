#include "cli/completions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace paceline::cli {
namespace {

using testing::HasSubstr;

class Completions : public testing::Test {
 protected:
  Completions() {
    CLI::App* run = program_.add_subcommand("run", "Runs a model: it's fast");
    run->add_option("-m,--model", text_, "Target [GGUF]")->type_name("FILE");
    run->add_option("--form", text_, "Form")
        ->type_name("FORM")
        ->check(CLI::IsMember({"raw", "chat"}));
    run->add_flag("--phases", flag_, "It's more");
    program_.add_subcommand("demo", "Shows it");
  }

  std::string text_;
  bool flag_ = false;
  CLI::App program_{"", "paceline"};
};

TEST_F(Completions, for_fish_quote_text_and_tell_files_from_words) {
  const std::string script = fish_completions(program_);
  EXPECT_THAT(script, HasSubstr("-n '__fish_seen_subcommand_from run' -s m -l model -r -F "));
  EXPECT_THAT(script, HasSubstr("-l form -x -d 'Form' -a 'raw chat'\n"));
  EXPECT_THAT(script, HasSubstr("-l phases -d 'It\\'s more'\n"));
}

TEST_F(Completions, for_zsh_escape_brackets_and_colons) {
  const std::string script = zsh_completions(program_);
  EXPECT_THAT(script, HasSubstr("'--model[Target \\[GGUF\\]]:FILE:_files'"));
  EXPECT_THAT(script, HasSubstr("'--form[Form]:value:(raw chat)'"));
  EXPECT_THAT(script, HasSubstr("'run:Runs a model\\: it'\\''s fast'"));
}

TEST_F(Completions, for_bash_name_commands_and_values) {
  const std::string script = bash_completions(program_);
  EXPECT_THAT(script, HasSubstr("'run demo --help --version'"));
  EXPECT_THAT(script, HasSubstr("-m|--model) mapfile -t COMPREPLY < <(compgen -f -- \"$word\")"));
  EXPECT_THAT(script, HasSubstr("--form) mapfile -t COMPREPLY < <(compgen -W 'raw chat' "));
}

}  // namespace
}  // namespace paceline::cli
