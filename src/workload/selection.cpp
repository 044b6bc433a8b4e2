#include "workload/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace paceline::workload {

namespace {

constexpr std::size_t warm_up_prompts = 2;

/// Used when nothing is left over, so that warming up stays disjoint.
Prompt own_warm_up() {
  return user_prompt("warm-up", "warm-up",
                     "The riders took turns at the front, and the ones behind them rested in the "
                     "still air. After a minute the first rider moved aside and");
}

std::set<std::string> classes_of(const std::vector<Prompt>& prompts) {
  std::set<std::string> classes;
  for (const auto& prompt : prompts) classes.insert(prompt.workload_class);
  return classes;
}

util::Result<void> check_classes(const std::vector<Prompt>& prompts,
                                 const std::vector<std::string>& classes) {
  const auto known = classes_of(prompts);
  for (const auto& wanted : classes)
    if (known.count(wanted) == 0)
      return util::fail(util::ErrorKind::usage,
                        fmt::format("the workload has no class \"{}\"; it has {}", wanted,
                                    fmt::join(known, ", ")));
  return {};
}

std::set<std::string> families_of(const std::vector<Prompt>& prompts) {
  std::set<std::string> families;
  for (const auto& prompt : prompts) families.insert(prompt.family);
  return families;
}

/// Prompts of the measured classes and of no measured family, the first ones of each class.
std::vector<Prompt> hold_out(const std::vector<Prompt>& prompts,
                             const std::vector<Prompt>& measured, int per_class) {
  const auto families = families_of(measured);
  const auto classes = classes_of(measured);
  std::map<std::string, int> taken;
  std::vector<Prompt> rest;
  for (const auto& prompt : prompts)
    if (classes.contains(prompt.workload_class) && !families.contains(prompt.family) &&
        taken[prompt.workload_class] < per_class) {
      ++taken[prompt.workload_class];
      rest.push_back(prompt);
    }
  return rest;
}

std::vector<Prompt> left_over(const std::vector<Prompt>& prompts,
                              const std::vector<Prompt>& measured,
                              const std::vector<Prompt>& held_out) {
  std::set<std::string> families = families_of(measured);
  families.merge(families_of(held_out));
  std::vector<Prompt> rest;
  for (const auto& prompt : prompts)
    if (rest.size() < warm_up_prompts && families.count(prompt.family) == 0) rest.push_back(prompt);
  return rest;
}

/// Those of the prompts that have that form, in it; `without` gets the ids of the others.
std::vector<Prompt> all_in_form(const std::vector<Prompt>& prompts, trace::PromptForm form,
                                std::vector<std::string>& without) {
  std::vector<Prompt> result;
  for (const auto& prompt : prompts) {
    auto formed =
        form == trace::PromptForm::chat ? std::optional(in_chat_form(prompt)) : in_raw_form(prompt);
    if (formed)
      result.push_back(std::move(*formed));
    else
      without.push_back(prompt.id);
  }
  return result;
}

}  // namespace

util::Result<Selection> select(const std::vector<Prompt>& prompts,
                               const std::vector<std::string>& classes, int per_class,
                               int held_out_per_class) {
  PACELINE_TRY(check_classes(prompts, classes));
  Selection selection;
  std::map<std::string, int> taken;
  for (const auto& prompt : prompts) {
    const bool wanted = classes.empty() || std::find(classes.begin(), classes.end(),
                                                     prompt.workload_class) != classes.end();
    if (!wanted || taken[prompt.workload_class] == per_class) continue;
    ++taken[prompt.workload_class];
    selection.measured.push_back(prompt);
  }
  for (const auto& [name, count] : taken)
    if (count < per_class)
      selection.notes.push_back(
          fmt::format("class {} has {} of the {} prompts asked for", name, count, per_class));
  selection.held_out = hold_out(prompts, selection.measured, held_out_per_class);
  selection.warm_up = left_over(prompts, selection.measured, selection.held_out);
  if (selection.warm_up.empty()) selection.warm_up.push_back(own_warm_up());
  return selection;
}

util::Result<Selection> in_form(Selection selection, trace::PromptForm form) {
  Selection result;
  result.notes = std::move(selection.notes);
  std::vector<std::string> without;
  result.measured = all_in_form(selection.measured, form, without);
  result.held_out = all_in_form(selection.held_out, form, without);
  if (!without.empty())
    return util::fail(
        util::ErrorKind::usage,
        fmt::format("{} of {} prompts are conversations without a raw form (the first is {}): give "
                    "them a \"text\", leave their classes out with --class, or send messages to a "
                    "model whose file has a chat template (--prompt-form chat)",
                    without.size(), selection.measured.size() + selection.held_out.size(),
                    without.front()));
  result.warm_up = all_in_form(selection.warm_up, form, without);
  if (result.warm_up.empty()) result.warm_up.push_back(*in_raw_form(own_warm_up()));
  return result;
}

Defaults defaults_for(const std::string& name, const std::string& architecture,
                      bool has_chat_template) {
  Defaults defaults;
  if (has_chat_template) defaults.form = trace::PromptForm::chat;
  const bool is_lab = (name == "Paceline laboratory target" && architecture == "qwen35") ||
                      (name == "Paceline laboratory small" && architecture == "qwen3");
  defaults.workload = is_lab ? "lab" : "paceline";
  if (!is_lab) defaults.classes = {"code", "prose", "json"};
  return defaults;
}

}  // namespace paceline::workload
