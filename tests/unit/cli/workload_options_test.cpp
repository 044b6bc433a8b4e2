#include "cli/workload_options.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <set>

#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::cli {
namespace {

const workload::Defaults lab =
    workload::defaults_for("Paceline laboratory target", "qwen35", false);

std::set<std::string> classes_of(const study::RunOptions& run) {
  std::set<std::string> classes;
  for (const auto& prompt : run.prompts.measured) classes.insert(prompt.workload_class);
  return classes;
}

TEST(ChooseWorkload, takes_what_fits_the_model_where_nothing_is_asked) {
  study::RunOptions run;
  ASSERT_TRUE(choose_workload({}, lab, run));
  EXPECT_EQ(run.workload, "lab");
  EXPECT_EQ(run.prompt_form, trace::PromptForm::raw);
  EXPECT_EQ(classes_of(run),
            (std::set<std::string>{"c", "json", "novel", "prose", "python", "tools"}));
  EXPECT_EQ(run.prompts.measured.size(), 72u) << "twelve of each class";
  EXPECT_FALSE(run.mix);
}

TEST(ChooseWorkload, keeps_default_classes_to_the_default_workload) {
  workload::Defaults defaults = lab;
  defaults.classes = {"json"};
  study::RunOptions run;
  ASSERT_TRUE(choose_workload({}, defaults, run));
  EXPECT_EQ(classes_of(run), std::set<std::string>{"json"});
  WorkloadSettings settings;
  settings.workload = "lab";
  ASSERT_TRUE(choose_workload(settings, defaults, run));
  EXPECT_EQ(classes_of(run).size(), 6u) << "a workload asked for by name is measured whole";
}

TEST(ChooseWorkload, measures_the_classes_of_a_mix) {
  WorkloadSettings settings;
  settings.mix = "prose=0.75,json=0.25,c=0";
  study::RunOptions run;
  run.n_predict = 33;
  ASSERT_TRUE(choose_workload(settings, lab, run));
  EXPECT_EQ(classes_of(run), (std::set<std::string>{"json", "prose"}));
  ASSERT_TRUE(run.mix);
  EXPECT_EQ(run.mix->classes.at("prose").share, 0.75);
  EXPECT_EQ(run.mix->classes.at("prose").tokens_per_request, 33);
  settings.classes = {"prose"};
  ASSERT_TRUE(choose_workload(settings, lab, run));
  EXPECT_EQ(classes_of(run), std::set<std::string>{"prose"}) << "classes asked for come first";
}

TEST(ChooseWorkload, sends_the_form_that_is_asked_for) {
  WorkloadSettings settings;
  settings.form = "chat";
  study::RunOptions run;
  ASSERT_TRUE(choose_workload(settings, lab, run));
  EXPECT_EQ(run.prompt_form, trace::PromptForm::chat);
  for (const auto& prompt : run.prompts.measured) {
    EXPECT_TRUE(prompt.text.empty());
    ASSERT_EQ(prompt.messages.size(), 1u);
  }
}

TEST(ChooseWorkload, passes_on_how_a_file_was_read) {
  const support::TemporaryFolder folder;
  WorkloadSettings settings;
  settings.workload = (folder.path() / "q.json").string();
  settings.prompts_per_class = 2;
  ASSERT_TRUE(util::write_file(
      *settings.workload, R"([{"question_id": 1, "category": "qa", "turns": ["Why?", "And?"]}])"));
  study::RunOptions run;
  ASSERT_TRUE(choose_workload(settings, lab, run));
  EXPECT_EQ(run.workload_notes.size(), 2u);
  EXPECT_EQ(run.prompts.notes.size(), 1u) << "one prompt where two were asked for";
  settings.format = "bfcl";
  EXPECT_FALSE(choose_workload(settings, lab, run));
}

TEST(WorkloadOptions, name_their_kind_and_default) {
  CLI::App app;
  WorkloadSettings settings;
  add_workload_options(app, settings);
  for (const auto* option :
       app.get_options([](const CLI::Option* one) { return one->get_name() != "--help"; })) {
    const bool is_flag = option->get_expected_max() == 0;
    EXPECT_TRUE(is_flag || !option->get_type_name().empty()) << option->get_name();
    EXPECT_TRUE(is_flag || !option->get_default_str().empty()) << option->get_name();
    EXPECT_FALSE(option->get_description().empty()) << option->get_name();
  }
}

}  // namespace
}  // namespace paceline::cli
