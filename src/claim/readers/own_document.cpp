#include <fmt/format.h>

#include "claim/readers/reader.hpp"
#include "dialect/fields.hpp"

// paceline.report/1: our own figures with their intervals, and our own verdict on each fact.

namespace paceline::claim {

namespace {

using enum Figure;
using util::Json;

const Json* find(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? &*found : nullptr;
}

std::string text_in(const Json& json, const char* key) {
  const Json* found = find(json, key);
  return found != nullptr && found->is_string() ? dialect::short_line(found->get<std::string>())
                                                : "";
}

std::optional<double> number_in(const Json& json, const char* key) {
  const Json* found = find(json, key);
  return found != nullptr && found->is_number() ? std::optional(found->get<double>())
                                                : std::nullopt;
}

/// A quantity with its interval; an unknown one is left out.
void add(Row& row, Figure figure, const Json* part, const char* key, const Line& line) {
  const Json* quantity = part == nullptr ? nullptr : find(*part, key);
  if (quantity == nullptr) return;
  const auto value = quantity->is_number() ? std::optional(quantity->get<double>())
                                           : number_in(*quantity, "value");
  if (!value || !(*value >= 0)) return;
  const double low = number_in(*quantity, "low").value_or(*value);
  const double high = number_in(*quantity, "high").value_or(*value);
  if (low > *value || high < *value) return;
  row.add({figure,
           {*value, std::max(low, 0.0), high},
           {},
           fmt::format("{:.6g}", *value),
           line.source() + ", " + key,
           {}});
}

void add_facts(const Json& document, Row& row) {
  const Json* facts = find(document, "facts");
  if (facts == nullptr) return;
  if (const Json* known = find(*facts, "known"); known != nullptr && known->is_array())
    for (const Json& one : *known)
      if (one.is_string()) row.own_facts[one.get<std::string>()] = "";
  for (const char* const key : {"missing", "not_applicable"}) {
    const Json* list = find(*facts, key);
    if (list == nullptr || !list->is_array()) continue;
    auto& into = std::string_view(key) == "missing" ? row.own_facts : row.own_not_applicable;
    for (const Json& one : *list)
      if (const std::string fact = text_in(one, "fact"); !fact.empty())
        into[fact] = text_in(one, "reason").empty() ? "no reason is given" : text_in(one, "reason");
  }
}

void add_context(const Json& document, Row& row) {
  if (const Json* target = find(document, "target"))
    row.context["model"] = text_in(*target, "file");
  if (const Json* engine = find(document, "engine"))
    row.context["build"] = text_in(*engine, "build");
  row.context["tool"] = "paceline";
}

void read_workload(const Json& arm, const Json& workload, Row& row, const Line& line) {
  row.context["class"] = text_in(workload, "class");
  row.context["arm_name"] = text_in(arm, "name");
  const Json* settings = find(arm, "settings");
  if (settings != nullptr && text_in(*settings, "spec_type") == "none")
    row.context["arm"] = "plain";
  const Json* decode = find(workload, "decode");
  add(row, tokens_per_s, decode, "tokens_per_s", line);
  add(row, passes_per_s, decode, "passes_per_s", line);
  add(row, tokens_per_pass, decode, "tokens_per_pass", line);
  add(row, speedup, decode, "speedup", line);
  add(row, pass_cost, decode, "pass_cost", line);
  add(row, prefill_tokens_per_s, find(workload, "prefill"), "prefill_tokens_per_s", line);
  const Json* drafts = find(workload, "acceptance");
  add(row, acceptance, drafts, "rate", line);
  add(row, fire_rate, drafts, "fire_rate", line);
  add(row, draft_per_pass, drafts, "draft_per_pass", line);
  add(row, acceptance_length, drafts, "acceptance_length", line);
  add(row, ceiling_share, find(workload, "ceiling"), "share", line);
  for (Stated& one : row.stated)
    if (one.figure == acceptance) one.definition = "accepted / offered";
}

}  // namespace

bool read_own_document(const Json& json, const Line& line, Collector& out) {
  if (text_in(json, "schema") != "paceline.report/1") return false;
  const Json* arms = find(json, "arms");
  if (arms == nullptr || !arms->is_array()) return false;
  out.new_group();
  bool first = true;
  for (const Json& arm : *arms) {
    const Json* workloads = find(arm, "workloads");
    if (workloads == nullptr || !workloads->is_array()) continue;
    for (const Json& workload : *workloads) {
      Row& row = out.add_row("paceline.report/1",
                             text_in(arm, "name") + ", " + text_in(workload, "class"));
      add_context(json, row);
      read_workload(arm, workload, row, line);
      if (first) add_facts(json, row);
      first = false;
    }
  }
  return !first;
}

}  // namespace paceline::claim
