#include "workload/question.hpp"

#include <algorithm>
#include <array>

namespace paceline::workload {

namespace {

using util::Json;
using util::JsonMismatch;

struct TypeName {
  const char* name;
  bool (*holds)(const Json& value);
};

constexpr std::array types = {
    TypeName{"object", [](const Json& value) { return value.is_object(); }},
    TypeName{"array", [](const Json& value) { return value.is_array(); }},
    TypeName{"string", [](const Json& value) { return value.is_string(); }},
    TypeName{"number", [](const Json& value) { return value.is_number(); }},
    TypeName{"integer", [](const Json& value) { return value.is_number_integer(); }},
    TypeName{"boolean", [](const Json& value) { return value.is_boolean(); }},
    TypeName{"null", [](const Json& value) { return value.is_null(); }},
};

const TypeName* type_named(const std::string& name) {
  const auto found = std::find_if(types.begin(), types.end(),
                                  [&name](const TypeName& type) { return name == type.name; });
  return found == types.end() ? nullptr : &*found;
}

/// The schema's value under the key, null where there is none.
const Json& part(const Json& schema, const char* key) {
  static const Json none;
  const auto found = schema.find(key);
  return found == schema.end() ? none : *found;
}

void check_schema(const Json& schema);

void check_keyword(const std::string& keyword, const Json& value) {
  if (keyword == "type") {
    std::string name;
    util::read_json(value, name);
    if (type_named(name) == nullptr) throw JsonMismatch("schema: there is no type \"" + name + '"');
  } else if (keyword == "properties") {
    if (!value.is_object()) throw JsonMismatch("schema: properties: an object was expected");
    for (const auto& [name, property] : value.items()) check_schema(property);
  } else if (keyword == "required") {
    std::vector<std::string> names;
    util::read_json(value, names);
  } else if (keyword == "additionalProperties") {
    if (value != Json(false)) throw JsonMismatch("schema: additionalProperties can only be false");
  } else if (keyword != "const") {
    throw JsonMismatch("schema: the keyword \"" + keyword +
                       "\" is not read; those that are: type, const, properties, required, "
                       "additionalProperties");
  }
}

void check_schema(const Json& schema) {
  if (!schema.is_object()) throw JsonMismatch("schema: an object was expected");
  for (const auto& [keyword, value] : schema.items()) check_keyword(keyword, value);
}

bool fits_properties(const Json& schema, const Json& value) {
  const Json& properties = part(schema, "properties");
  const bool closed = part(schema, "additionalProperties") == Json(false);
  for (const auto& [name, member] : value.items()) {
    const bool known = properties.contains(name);
    if (known ? !fits(properties.at(name), member) : closed) return false;
  }
  const Json& required = part(schema, "required");
  return std::all_of(required.begin(), required.end(), [&value](const Json& name) {
    return value.contains(name.get<std::string>());
  });
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

bool fits(const Json& schema, const Json& value) {
  if (const auto constant = schema.find("const"); constant != schema.end() && *constant != value)
    return false;
  if (const auto type = schema.find("type");
      type != schema.end() && !type_named(type->get<std::string>())->holds(value))
    return false;
  return !value.is_object() || fits_properties(schema, value);
}

bool is_right(const Question& question, std::string_view output) {
  const auto answer = trimmed(output.substr(0, output.find('\n')));
  if (!question.schema) return answer == trimmed(question.answer);
  const auto value = util::parse_json(answer, "answer");
  return value && fits(*question.schema, *value);
}

Question read_question(const Json& record) {
  Question question;
  util::read_field(record, "answer", question.answer);
  util::read_field(record, "task", question.task);
  util::read_field(record, "chance", question.chance);
  if (record.contains("depth")) util::read_field(record, "depth", question.depth);
  if (question.task.empty()) throw JsonMismatch("\"task\" is empty");
  if (trimmed(question.answer).empty()) throw JsonMismatch("\"answer\" is empty");
  if (question.answer.find('\n') != std::string::npos)
    throw JsonMismatch(
        "\"answer\" is more than a line, and only the first line of an output counts");
  if (question.chance < 0 || question.chance > 1)
    throw JsonMismatch("\"chance\" is a probability, from 0 to 1");
  if (record.contains("schema")) {
    check_schema(record.at("schema"));
    question.schema = record.at("schema");
    if (!is_right(question, question.answer))
      throw JsonMismatch("\"answer\" is wrong by its own \"schema\"");
  }
  return question;
}

}  // namespace paceline::workload
