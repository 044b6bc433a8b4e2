#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "util/json.hpp"

namespace paceline::workload {

/// What makes a prompt one whose answer can be checked. The answer is the rest of the prompt's last
/// line: what a model goes on with up to the end of the line, blanks around it aside.
struct Question {
  std::string task;                  ///< questions of one task are scored together
  std::string answer;                ///< a right one
  std::optional<util::Json> schema;  ///< any JSON value that fits it is right, not `answer` alone
  double chance = 0;         ///< that a blind answer of the right form is right, by theory; 0..1
  std::optional<int> depth;  ///< tokens between what has to be recalled and the prompt's end
};

/// Whether what a model wrote answers the question.
bool is_right(const Question& question, std::string_view output);

/// Whether a value is valid by a schema in this part of JSON Schema (draft 2020-12): type, const,
/// properties, required, additionalProperties false. A whole number is written without a point.
bool fits(const util::Json& schema, const util::Json& value);

/// The question of a record of ours that has an "answer", also "task", "chance" and, if wanted,
/// "schema" and "depth". Throws util::JsonMismatch at a schema with other keywords than those of
/// `fits`, a chance that is none, or an answer that is wrong by the schema.
Question read_question(const util::Json& record);

}  // namespace paceline::workload
