#include "claim/judge.hpp"

#include <fmt/format.h>

#include <map>

#include "claim/contradictions.hpp"
#include "claim/derive.hpp"
#include "claim/facts.hpp"
#include "claim/mix.hpp"
#include "claim/readings.hpp"

namespace paceline::claim {

namespace {

using enum Figure;

/// What parts a plain row from another, of what both state; empty: nothing does.
std::string difference(const Row& plain, const Row& row) {
  constexpr const char* text = "of another {} ({}, not {})";
  for (const char* const name : {"quant", "build", "class"}) {
    const std::string& one = context_of(plain, name);
    const std::string& other = context_of(row, name);
    if (!one.empty() && !other.empty() && one != other) return fmt::format(text, name, one, other);
  }
  for (const Figure figure : {depth, concurrency}) {
    const Stated* one = plain.find(figure);
    const Stated* other = row.find(figure);
    if (one != nullptr && other != nullptr && is_apart(one->range, other->range))
      return fmt::format(text, name_of(figure), shown(one->range), shown(other->range));
  }
  return "";
}

/// A plain row of its group and model is what a row is compared with, where only one is not parted
/// from it by anything. Returns why there is none: empty where there is, or where none is plain.
std::string add_base(const std::vector<const Row*>& plain_rows, Row& row) {
  std::string reason;
  std::vector<const Row*> fitting;
  for (const Row* plain : plain_rows) {
    const std::string parted = difference(*plain, row);
    if (parted.empty())
      fitting.push_back(plain);
    else if (reason.empty())
      reason = fmt::format("the plain row \"{}\" is {}", plain->label, parted);
  }
  if (fitting.empty()) return reason;
  if (fitting.size() > 1)
    return fmt::format("{} plain rows could be what it is compared with", fitting.size());
  Stated base = *fitting.front()->find(tokens_per_s);
  base.figure = base_tokens_per_s;
  base.definition = "of the plain row";
  row.add(std::move(base));
  return "";
}

/// Of each row, why it has no base.
std::vector<std::string> share_base(std::vector<Row>& rows) {
  using Key = std::pair<int, std::string>;
  const auto key_of = [](const Row& row) { return Key{row.group, context_of(row, "model")}; };
  std::map<Key, std::vector<const Row*>> plain_rows;
  for (const Row& row : rows)
    if (is_plain(row) && row.find(tokens_per_s) != nullptr) plain_rows[key_of(row)].push_back(&row);
  std::vector<std::string> reasons(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!is_plain(rows[i]) && rows[i].find(tokens_per_s) != nullptr)
      reasons[i] = add_base(plain_rows[key_of(rows[i])], rows[i]);
  return reasons;
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

}  // namespace

document::Claim judge(Sheet sheet) {
  document::Claim claim;
  claim.inputs = std::move(sheet.inputs);
  claim.remarks = std::move(sheet.remarks);
  const std::vector<std::string> no_base = share_base(sheet.rows);
  std::vector<Worked> rows;
  rows.reserve(sheet.rows.size());
  for (Row& row : sheet.rows) {
    const std::string& reason = no_base[rows.size()];
    rows.push_back(derive(std::move(row)));
    if (!reason.empty() && !rows.back().has(speedup))
      rows.back().not_derived.push_back({name_of(speedup), reason});
  }
  std::vector<std::vector<document::ClaimReading>> readings;
  find_readings(rows, readings);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    find_contradictions(rows[i], claim.contradictions);
    find_remarks(rows[i], claim.remarks);
    claim.rows.push_back(to_row(rows[i], std::move(readings[i])));
  }
  compare_rows(rows, claim.contradictions, claim.remarks);
  find_mixes(rows, claim);
  claim.facts = find_facts(rows);
  return claim;
}

}  // namespace paceline::claim
