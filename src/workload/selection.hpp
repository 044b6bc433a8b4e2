#pragma once

#include <string>
#include <vector>

#include "trace/setup.hpp"
#include "util/result.hpp"
#include "workload/prompt.hpp"

namespace paceline::workload {

/// What a run measures, and what it warms up on: never the same prompts.
struct Selection {
  std::vector<Prompt> measured;  ///< at most `per_class` of each wanted class, in file order
  std::vector<Prompt> warm_up;
  std::vector<Prompt> held_out;    ///< of the same classes, of families of which nothing else is
  std::vector<std::string> notes;  ///< classes that have fewer prompts than were asked for
};

/// Takes the first `per_class` prompts of each class in `classes` (all classes when empty). The
/// warm-up comes from families of which nothing is measured, else it is a sentence of our own. The
/// next prompts of each class, at most `held_out_per_class`, are held out.
util::Result<Selection> select(const std::vector<Prompt>& prompts,
                               const std::vector<std::string>& classes, int per_class,
                               int held_out_per_class = 0);

/// The selection with every prompt in one form and no other. Refused where a measured prompt has
/// no raw form.
util::Result<Selection> in_form(Selection selection, trace::PromptForm form);

/// What to measure a model on, and how to send it, where the user does not say.
struct Defaults {
  std::string workload;
  std::vector<std::string> classes;  ///< empty: all of the workload's
  trace::PromptForm form = trace::PromptForm::raw;
};

/// From what the model's file says: the laboratory models are measured on the text held out for
/// them, every other model on three classes; messages are sent where the file has a chat template.
Defaults defaults_for(const std::string& name, const std::string& architecture,
                      bool has_chat_template);

}  // namespace paceline::workload
