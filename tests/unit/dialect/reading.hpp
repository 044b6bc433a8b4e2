#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/dialect.hpp"
#include "util/json.hpp"

namespace paceline::dialect {

/// A message that must be readable.
inline Message read_message(std::string_view dialect, std::string_view text) {
  const auto message = find(dialect)->read(text);
  EXPECT_TRUE(message) << (message ? "" : message.error().message);
  return message.value_or(Message{});
}

/// The last thing that was said of a quantity; null when nothing was.
inline const trace::Said* said_of(const std::vector<trace::Said>& said, trace::Quantity quantity) {
  const auto found = std::find_if(said.rbegin(), said.rend(),
                                  [&](const trace::Said& one) { return one.quantity == quantity; });
  return found == said.rend() ? nullptr : &*found;
}

inline std::optional<double> value_of(const std::vector<trace::Said>& said,
                                      trace::Quantity quantity) {
  const trace::Said* one = said_of(said, quantity);
  return one == nullptr ? std::nullopt : std::optional(one->value);
}

inline std::vector<double> values_of(const std::vector<trace::Said>& said,
                                     trace::Quantity quantity) {
  const trace::Said* one = said_of(said, quantity);
  return one == nullptr ? std::vector<double>{} : one->values;
}

inline std::string rule_of(const std::vector<trace::Said>& said, trace::Quantity quantity) {
  const trace::Said* one = said_of(said, quantity);
  return one == nullptr ? "nothing was said" : one->rule;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

inline bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// The body of a request as JSON.
inline util::Json body_of(const net::Request& request) {
  const auto json = util::parse_json(request.body, "the request");
  EXPECT_TRUE(json);
  return json.value_or(util::Json::object());
}

inline Counters counters_of(std::string_view dialect, std::string_view text) {
  const auto counters = find(dialect)->read_counters(text);
  EXPECT_TRUE(counters) << (counters ? "" : counters.error().message);
  return counters.value_or(Counters{});
}

/// The answer of a server that has nothing but these routes.
inline Answers answers_of(std::initializer_list<std::pair<const char*, const char*>> bodies) {
  Answers answers;
  for (const auto& [target, body] : bodies) answers[target] = {200, {}, body};
  return answers;
}

}  // namespace paceline::dialect
