#include "workload/selection.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/gguf.hpp"
#include "support/worker_process.hpp"
#include "workload/prompts.hpp"

namespace paceline::workload {
namespace {

Prompt text_prompt(const std::string& id, const std::string& name, const std::string& family) {
  Prompt prompt;
  prompt.id = id;
  prompt.workload_class = name;
  prompt.family = family;
  prompt.text = "text of " + id;
  return prompt;
}

TEST(Selection, warms_up_on_prompts_that_are_not_measured) {
  const auto lab = load_workload("lab");
  const auto selection = select(lab->prompts, {"json", "c"}, 10);
  ASSERT_TRUE(selection);
  EXPECT_EQ(selection->measured.size(), 20u);
  ASSERT_FALSE(selection->warm_up.empty());
  std::set<std::string> measured;
  for (const auto& prompt : selection->measured) measured.insert(prompt.id);
  for (const auto& prompt : selection->warm_up) EXPECT_EQ(measured.count(prompt.id), 0u);
}

TEST(Selection, warms_up_on_no_template_that_is_measured) {
  const auto selection = select(
      {text_prompt("a", "c", "f"), text_prompt("b", "c", "f"), text_prompt("d", "c", "g")}, {}, 1);
  ASSERT_EQ(selection->measured.size(), 1u);
  ASSERT_EQ(selection->warm_up.size(), 1u);
  EXPECT_EQ(selection->warm_up[0].id, "d") << "b has the template of a";
}

TEST(Selection, holds_out_prompts_of_the_same_classes_and_of_no_family_used_otherwise) {
  std::vector<Prompt> prompts;
  for (const char* name : {"c", "d", "e"})
    for (int i = 0; i < 6; ++i) {
      const std::string id = name + std::to_string(i);
      prompts.push_back(text_prompt(id, name, i == 2 ? name + std::string("0") : id));
    }
  const auto selection = select(prompts, {"c", "d"}, 2, 3);
  ASSERT_TRUE(selection);
  const auto sent = in_form(*selection, trace::PromptForm::raw);
  ASSERT_TRUE(sent);
  std::vector<std::string> held_out;
  for (const auto& prompt : sent->held_out) held_out.push_back(prompt.id);
  EXPECT_EQ(held_out, (std::vector<std::string>{"c3", "c4", "c5", "d3", "d4", "d5"}))
      << "c2 is of the family of c0, which is measured";
  for (const auto& prompt : sent->warm_up) EXPECT_EQ(prompt.workload_class, "e");
  EXPECT_TRUE(select(prompts, {"c"}, 2)->held_out.empty()) << "unless they are asked for";
}

TEST(Selection, that_measures_everything_still_has_a_disjoint_warm_up) {
  const auto selection = select({text_prompt("a", "c", "a")}, {}, 1);
  ASSERT_TRUE(selection);
  ASSERT_EQ(selection->warm_up.size(), 1u);
  EXPECT_NE(selection->warm_up[0].id, "a");
  for (const auto form : {trace::PromptForm::raw, trace::PromptForm::chat}) {
    const auto sent = in_form(*selection, form);
    ASSERT_TRUE(sent);
    EXPECT_NE(sent->warm_up[0].text.empty(), sent->warm_up[0].messages.empty());
  }
}

TEST(Selection, says_where_a_class_has_fewer_prompts_than_were_asked_for) {
  const auto selection =
      select({text_prompt("a", "c", "a"), text_prompt("b", "c", "b"), text_prompt("d", "sql", "d")},
             {}, 2);
  EXPECT_EQ(selection->notes,
            std::vector<std::string>{"class sql has 1 of the 2 prompts asked for"});
}

TEST(Selection, names_the_classes_there_are_when_one_is_unknown) {
  const auto lab = load_workload("lab");
  const auto selection = select(lab->prompts, {"rust"}, 10);
  ASSERT_FALSE(selection);
  EXPECT_NE(selection.error().message.find("c, json, novel, prose, python, tools"),
            std::string::npos);
}

TEST(Selection, in_raw_form_is_refused_where_a_conversation_is_measured) {
  auto talk = user_prompt("talk", "chat", "And then?");
  talk.messages.insert(talk.messages.begin(), {"system", "Be brief."});
  Selection selection;
  selection.measured = {text_prompt("a", "c", "a"), talk};
  selection.warm_up = {talk};
  const auto refused = in_form(selection, trace::PromptForm::raw);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.rfind("1 of 2 prompts are conversations without a raw form "
                                          "(the first is talk): give them a \"text\"",
                                          0),
            0u)
      << refused.error().message;
  EXPECT_EQ(refused.error().kind, util::ErrorKind::usage);
  selection.measured.pop_back();
  const auto sent = in_form(selection, trace::PromptForm::raw);
  ASSERT_TRUE(sent) << "a warm-up without that form is another one";
  ASSERT_EQ(sent->warm_up.size(), 1u);
  EXPECT_FALSE(sent->warm_up[0].text.empty());
}

TEST(Defaults, are_the_held_out_text_for_laboratory_models_only) {
  for (const char* file : {"target-mtp-f16.gguf", "small-f16.gguf"}) {
    const auto shipped = model::Gguf::open(support::lab_model(file)).value();
    const auto name = shipped.text("general.name").value();
    const Defaults defaults = defaults_for(name, shipped.architecture(), false);
    EXPECT_EQ(defaults.workload, "lab") << file << " is named " << name;
    EXPECT_TRUE(defaults.classes.empty());
  }
  EXPECT_EQ(defaults_for("Paceline laboratory target", "llama", false).workload, "paceline");
  EXPECT_EQ(defaults_for("Smollm2 135M", "llama", true).workload, "paceline");
  EXPECT_EQ(defaults_for("", "llama", true).classes,
            (std::vector<std::string>{"code", "prose", "json"}));
}

TEST(Defaults, send_messages_where_the_file_has_a_template) {
  EXPECT_EQ(defaults_for("Smollm2 135M", "llama", true).form, trace::PromptForm::chat);
  EXPECT_EQ(defaults_for("Smollm2 135M", "llama", false).form, trace::PromptForm::raw);
}

}  // namespace
}  // namespace paceline::workload
