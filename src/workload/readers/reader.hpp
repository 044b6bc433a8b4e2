#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "util/json.hpp"
#include "workload/prompt.hpp"

namespace paceline::workload {

/// What a file held beyond the prompts that were made of it.
struct Tally {
  int records = 0;                      ///< read so far, the current one included
  int with_later_turns = 0;             ///< records of which only the first turn is used
  std::map<std::string, int> left_out;  ///< records that make no prompt, by reason
};

/// How one published format becomes prompts.
struct Reader {
  const char* format;  ///< its name for --workload-format
  /// Whether a file that begins with this record is of the format.
  bool (*recognises)(const util::Json& record);
  /// The prompt of a record; nothing where the tally says why there is none. Throws
  /// util::JsonMismatch at a record that is not of the format.
  std::optional<Prompt> (*read)(const util::Json& record, Tally& tally);
  bool makes_ids_unique;  ///< a repeated id gets a number; else it is refused
};

extern const Reader paceline_reader;
extern const Reader mt_bench_reader;
extern const Reader speed_bench_reader;
extern const Reader sharegpt_reader;
extern const Reader bfcl_reader;

/// True when the record is an object that has the key.
bool has_key(const util::Json& record, const char* key);

/// The id under `key`, text or a whole number; "record-N" where there is none.
std::string read_id(const util::Json& record, const char* key, const Tally& tally);

/// Conversation messages {"role", "content"}, the content text or a list of parts, text or images
/// as data: URLs; throws where a role is none of system, user and assistant, or the last message is
/// not the user's, so that there is nothing to answer.
std::vector<protocol::ChatMessage> read_messages(const util::Json& messages);

/// True for text that is nothing but white space.
bool is_blank(std::string_view text);

/// The class of a question set's category: coding is code, writing is prose, roleplay is chat; any
/// other category is a class of its own name, since no class of ours is what comes out of it.
std::string class_of_category(const std::string& category);

/// The prompt of a question with a category: its first turn. Later ones are counted in the tally.
Prompt first_turn(const util::Json& record, std::vector<std::string> turns, Tally& tally);

}  // namespace paceline::workload
