#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "claim/given.hpp"
#include "claim/judge.hpp"
#include "claim/text.hpp"

// For tests of claims: what was judged of rows as --given takes them, or of a text.
namespace paceline::claim {

inline document::Claim judge_given(const std::vector<std::string>& rows) {
  Sheet sheet;
  int number = 0;
  for (const std::string& text : rows) {
    auto row = parse_given(text, ++number);
    EXPECT_TRUE(row) << row.error().message;
    if (row) sheet.rows.push_back(std::move(*row));
  }
  return judge(std::move(sheet));
}

inline document::Claim judge_text(const std::string& text) {
  return judge(read_text(text, "text"));
}

/// A figure with its bounds, given or derived; all empty where it is neither.
struct Found {
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
  std::string rule;
};

inline Found find(const document::ClaimRow& row, const std::string& name) {
  for (const auto& one : row.derived)
    if (one.name == name) return {one.value, one.low, one.high, one.rule};
  for (const auto& one : row.given)
    if (one.name == name) return {one.value, one.low, one.high, one.definition};
  return {};
}

inline double value(const document::ClaimRow& row, const std::string& name) {
  return find(row, name).value.value_or(-1);
}

/// Why a figure does not follow; empty: nothing says so.
inline std::string reason(const document::ClaimRow& row, const std::string& name) {
  for (const auto& one : row.not_derived)
    if (one.name == name) return one.reason;
  return "";
}

inline bool contradicts(const document::Claim& claim, const std::string& rule) {
  return std::any_of(claim.contradictions.begin(), claim.contradictions.end(),
                     [&](const auto& one) { return one.rule == rule; });
}

inline bool remarks(const document::Claim& claim, const std::string& kind) {
  return std::any_of(claim.remarks.begin(), claim.remarks.end(),
                     [&](const auto& one) { return one.kind == kind; });
}

/// All sentences about contradictions, one a line.
inline std::string contradictions(const document::Claim& claim) {
  std::string all;
  for (const auto& one : claim.contradictions) all += one.rule + ": " + one.says + "\n";
  return all;
}

}  // namespace paceline::claim
