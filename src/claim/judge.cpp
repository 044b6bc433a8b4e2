#include "claim/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "claim/contradictions.hpp"
#include "claim/derive.hpp"
#include "claim/facts.hpp"
#include "claim/readings.hpp"
#include "metrics/arithmetic.hpp"

namespace paceline::claim {

namespace {

using enum Figure;

bool is_plain(const Row& row) {
  const auto found = row.context.find("arm");
  return found != row.context.end() && found->second == "plain";
}

/// A plain row is what the others of its group and model are compared with, where they say nothing
/// else and there is only one.
void share_base(std::vector<Row>& rows) {
  using Key = std::pair<int, std::string>;
  const auto key_of = [](const Row& row) {
    const auto model = row.context.find("model");
    return Key{row.group, model == row.context.end() ? "" : model->second};
  };
  std::map<Key, std::vector<const Stated*>> bases;
  for (const Row& row : rows)
    if (const Stated* speed = row.find(tokens_per_s); speed != nullptr && is_plain(row))
      bases[key_of(row)].push_back(speed);
  std::map<Key, Stated> base_of;
  for (const auto& [key, speeds] : bases)
    if (speeds.size() == 1) base_of[key] = *speeds.front();
  for (Row& row : rows) {
    const auto found = base_of.find(key_of(row));
    if (found == base_of.end() || is_plain(row) || row.find(tokens_per_s) == nullptr) continue;
    Stated base = found->second;
    base.figure = base_tokens_per_s;
    base.definition = "of the plain row";
    row.add(std::move(base));
  }
}

std::optional<double> finite(double bound) {
  return std::isfinite(bound) ? std::optional(bound) : std::nullopt;
}

document::GivenFigure to_given(const Stated& stated) {
  document::GivenFigure given;
  given.name = name_of(stated.figure);
  for (const Range& one : stated.values) given.values.push_back(middle(one));
  if (stated.values.empty()) {
    given.value = stated.range.value;
    given.low = finite(stated.range.low);
    given.high = finite(stated.range.high);
  }
  given.text = stated.text;
  given.source = stated.source;
  given.definition = stated.definition;
  return given;
}

document::ClaimRow to_row(const Worked& worked, std::vector<document::ClaimReading> readings) {
  document::ClaimRow row;
  row.label = worked.row.label;
  row.format = worked.row.format;
  row.context = worked.row.context;
  if (worked.row.full_drafts) row.context["full"] = *worked.row.full_drafts ? "yes" : "no";
  for (const Stated& one : worked.row.stated) row.given.push_back(to_given(one));
  row.derived = worked.derived;
  row.not_derived = worked.not_derived;
  row.readings = std::move(readings);
  return row;
}

/// Tokens over total time of a stated mix: DEFINITIONS 7.
void add_pat(const std::vector<Worked>& rows, document::Claim& claim) {
  Range whole = exactly(0);
  Range seconds = exactly(0);
  double mean = 0;
  std::vector<metrics::ClassRate> classes;
  for (const Worked& row : rows) {
    if (!row.has(share)) continue;
    if (!row.has(tokens_per_s) || !(row.at(tokens_per_s).low > 0)) return;
    whole = whole + row.at(share);
    seconds = seconds + row.at(share) / row.at(tokens_per_s);
    mean += middle(row.at(share)) * middle(row.at(tokens_per_s));
    classes.push_back({middle(row.at(share)), middle(row.at(tokens_per_s))});
  }
  if (classes.size() < 2) return;
  if (is_apart(whole, exactly(1))) {
    claim.contradictions.push_back(
        {"mix", "", fmt::format("the shares of the mix add up to {}, not to 1", shown(whole)),
         middle(whole), 1});
    return;
  }
  Range pat = exactly(1) / seconds;
  pat.value = metrics::predictability_adjusted(classes);
  claim.across.push_back(to_derived(
      pat_decode, pat,
      fmt::format("1 / sum(share / tokens_per_s); the mean of the rates would say {}", shown(mean)),
      {share, tokens_per_s}));
}

}  // namespace

document::Claim judge(Sheet sheet) {
  document::Claim claim;
  claim.inputs = std::move(sheet.inputs);
  claim.remarks = std::move(sheet.remarks);
  share_base(sheet.rows);
  std::vector<Worked> rows;
  rows.reserve(sheet.rows.size());
  for (Row& row : sheet.rows) rows.push_back(derive(std::move(row)));
  std::vector<std::vector<document::ClaimReading>> readings;
  find_readings(rows, readings);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    find_contradictions(rows[i], claim.contradictions);
    find_remarks(rows[i], claim.remarks);
    claim.rows.push_back(to_row(rows[i], std::move(readings[i])));
  }
  compare_rows(rows, claim.contradictions, claim.remarks);
  add_pat(rows, claim);
  claim.facts = find_facts(rows);
  return claim;
}

}  // namespace paceline::claim
