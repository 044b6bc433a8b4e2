#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/result.hpp"

namespace paceline::workload {

/// One text to continue.
struct Prompt {
  std::string id;
  std::string workload_class;
  std::string text;
  std::string family;  ///< prompts of one template or source; its own id when not given
};

/// Prompts of a JSON Lines text: {"id", "class", "text"} a line, "family" and "note" if wanted.
/// Errors name `source` and the line. Ids must differ; texts must not be empty.
util::Result<std::vector<Prompt>> read_prompts(std::string_view text, std::string_view source);

/// The prompts of a workload: "lab" (held-out prose, c, python and json), or a path.
util::Result<std::vector<Prompt>> load_workload(const std::string& name_or_path);

/// What a run measures, and what it warms up on: never the same prompts.
struct Selection {
  std::vector<Prompt> measured;  ///< at most `per_class` of each wanted class, in file order
  std::vector<Prompt> warm_up;
};

/// Takes the first `per_class` prompts of each class in `classes` (all classes when empty).
/// The warm-up comes from prompts that are left over, else from a fixed sentence of our own.
util::Result<Selection> select(const std::vector<Prompt>& prompts,
                               const std::vector<std::string>& classes, int per_class);

}  // namespace paceline::workload
