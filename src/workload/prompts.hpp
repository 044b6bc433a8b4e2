#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/result.hpp"
#include "workload/prompt.hpp"

namespace paceline::workload {

/// What a file of prompts gave.
struct Workload {
  std::vector<Prompt> prompts;     ///< ids differ
  std::vector<std::string> notes;  ///< how it was read and what was left out, a sentence each
};

/// Names of the formats that can be read: "paceline", "mt-bench", "speed-bench", "sharegpt",
/// "bfcl".
std::vector<std::string> format_names();

/// The format's name where any of them may come, found from the first record.
inline constexpr const char* any_format = "auto";

/// Prompts of hostile text in one of those formats, a JSON array or JSON Lines. Errors name
/// `source` and the line or record.
util::Result<Workload> read_workload(std::string_view text, std::string_view source,
                                     const std::string& format = any_format);

/// The prompts of a workload: "paceline" (six classes, two forms), "lab" (held-out text by class,
/// for the laboratory models), "evaluation" (questions with answers), or a file.
util::Result<Workload> load_workload(const std::string& name_or_path,
                                     const std::string& format = any_format);

}  // namespace paceline::workload
