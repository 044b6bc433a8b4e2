#include "workload/prompts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "util/files.hpp"
#include "util/json.hpp"

namespace paceline::workload {

namespace {

constexpr std::size_t warm_up_prompts = 2;

void read_optional(const util::Json& json, const char* key, std::string& value) {
  if (json.contains(key)) util::read_field(json, key, value);
}

Prompt read_prompt(const util::Json& json) {
  Prompt prompt;
  util::read_field(json, "id", prompt.id);
  util::read_field(json, "class", prompt.workload_class);
  util::read_field(json, "text", prompt.text);
  prompt.family = prompt.id;
  read_optional(json, "family", prompt.family);
  if (prompt.id.empty()) throw util::JsonMismatch("\"id\" is empty");
  if (prompt.workload_class.empty()) throw util::JsonMismatch("\"class\" is empty");
  if (prompt.text.empty()) throw util::JsonMismatch("\"text\" is empty");
  return prompt;
}

/// Used when every prompt of a workload is measured, so that warming up stays disjoint.
Prompt own_warm_up() {
  return {"warm-up", "warm-up",
          "The riders took turns at the front, and the ones behind them rested in the still air. "
          "After a minute the first rider moved aside and",
          "warm-up"};
}

std::set<std::string> classes_of(const std::vector<Prompt>& prompts) {
  std::set<std::string> classes;
  for (const auto& prompt : prompts) classes.insert(prompt.workload_class);
  return classes;
}

}  // namespace

util::Result<std::vector<Prompt>> read_prompts(std::string_view text, std::string_view source) {
  std::vector<Prompt> prompts;
  std::set<std::string> ids;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = fmt::format("{}, line {}", source, number);
    PACELINE_TRY_ASSIGN(const util::Json json, util::parse_json(line, where));
    try {
      prompts.push_back(read_prompt(json));
    } catch (const std::exception& problem) {
      return util::fail(util::ErrorKind::usage,
                        fmt::format("{}: {}; each line needs {{\"id\": .., \"class\": .., "
                                    "\"text\": ..}}",
                                    where, problem.what()));
    }
    if (!ids.insert(prompts.back().id).second)
      return util::fail(util::ErrorKind::usage,
                        fmt::format("{}: the id \"{}\" was used before", where, prompts.back().id));
  }
  if (prompts.empty())
    return util::fail(util::ErrorKind::usage, fmt::format("{} holds no prompts", source));
  return prompts;
}

util::Result<std::vector<Prompt>> load_workload(const std::string& name_or_path) {
  const auto path = name_or_path == "lab" ? util::shipped("workloads/held-out-prompts.jsonl")
                                          : std::filesystem::path(name_or_path);
  PACELINE_TRY_ASSIGN(const std::string text, util::read_file(path));
  return read_prompts(text, path.filename().string());
}

util::Result<Selection> select(const std::vector<Prompt>& prompts,
                               const std::vector<std::string>& classes, int per_class) {
  const auto known = classes_of(prompts);
  for (const auto& wanted : classes)
    if (known.count(wanted) == 0)
      return util::fail(util::ErrorKind::usage,
                        fmt::format("the workload has no class \"{}\"; it has {}", wanted,
                                    fmt::join(known, ", ")));
  Selection selection;
  std::map<std::string, int> taken;
  for (const auto& prompt : prompts) {
    const bool wanted = classes.empty() || std::find(classes.begin(), classes.end(),
                                                     prompt.workload_class) != classes.end();
    if (wanted && taken[prompt.workload_class] < per_class) {
      ++taken[prompt.workload_class];
      selection.measured.push_back(prompt);
    } else if (selection.warm_up.size() < warm_up_prompts) {
      selection.warm_up.push_back(prompt);
    }
  }
  if (selection.warm_up.empty()) selection.warm_up.push_back(own_warm_up());
  return selection;
}

}  // namespace paceline::workload
