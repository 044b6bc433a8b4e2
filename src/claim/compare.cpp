#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "claim/contradictions.hpp"
#include "metrics/arithmetic.hpp"

namespace paceline::claim {

namespace {

using enum Figure;
using document::ClaimContradiction;
using document::ClaimRemark;

constexpr double varies = 0.15;  ///< of passes per second, from there on it is worth a remark

const std::string& context_of(const Worked& row, const char* name) {
  return context_of(row.row, name);
}

/// Rows that may be held against each other at all: of one table or list, on one model.
bool is_comparable(const Worked& a, const Worked& b) {
  return a.row.group == b.row.group && context_of(a, "model") == context_of(b, "model") &&
         context_of(a, "quant") == context_of(b, "quant") &&
         context_of(a, "drafter") == context_of(b, "drafter");
}

/// A row as metrics' arithmetic has it: a draft length, an acceptance, a speed, drafts full.
std::optional<metrics::DraftLengthRow> draft_length_row(const Worked& row) {
  if (row.row.full_drafts != true) return std::nullopt;
  for (const Figure figure : {draft_limit, acceptance, tokens_per_s})
    if (!row.has(figure) || !row.at(figure).value) return std::nullopt;
  const double limit = *row.at(draft_limit).value;
  if (limit > 4096) return std::nullopt;
  return metrics::DraftLengthRow{static_cast<int>(limit), *row.at(acceptance).value,
                                 *row.at(tokens_per_s).value};
}

/// The fastest row with longer drafts whose passes are faster all the same.
const Worked* faster_and_wider(const std::vector<Worked>& rows, const Worked& row) {
  const Worked* fastest = nullptr;
  for (const Worked& other : rows) {
    if (!is_comparable(row, other) || !draft_length_row(other) || !other.has(passes_per_s))
      continue;
    if (other.at(draft_limit).low <= row.at(draft_limit).high) continue;
    if (other.at(passes_per_s).low <= row.at(passes_per_s).high) continue;
    if (fastest == nullptr || other.at(passes_per_s).low > fastest->at(passes_per_s).low)
      fastest = &other;
  }
  return fastest;
}

void compare_widths(const std::vector<Worked>& rows, std::vector<ClaimContradiction>& found) {
  for (const Worked& row : rows) {
    const auto narrow = draft_length_row(row);
    if (!narrow || !row.has(passes_per_s)) continue;
    const Worked* other = faster_and_wider(rows, row);
    if (other == nullptr) continue;
    for (const std::string& says :
         metrics::find_pass_order_contradictions({*narrow, *draft_length_row(*other)}))
      found.push_back({"pass_order", row.row.label, says, middle(row.at(passes_per_s)),
                       middle(other->at(passes_per_s))});
  }
}

bool is_same(const Worked& a, const Worked& b, Figure figure) {
  return a.stated(figure) != nullptr && b.stated(figure) != nullptr &&
         a.at(figure).value == b.at(figure).value;
}

void compare_speeds(const std::vector<Worked>& rows, std::vector<ClaimContradiction>& found) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto one = draft_length_row(rows[j]);
      const auto other = draft_length_row(rows[i]);
      if (!one || !other || !is_comparable(rows[i], rows[j])) continue;
      if (!is_same(rows[i], rows[j], draft_limit) || !is_same(rows[i], rows[j], acceptance))
        continue;
      const auto says = metrics::find_speed_contradiction(one->draft_length, one->acceptance,
                                                          one->tokens_per_s, other->tokens_per_s);
      if (says)
        found.push_back(
            {"same_acceptance", rows[i].row.label, *says, one->tokens_per_s, other->tokens_per_s});
    }
}

/// A stated ratio that is not its own row's: perhaps it is another's.
void find_owners(const std::vector<Worked>& rows, std::vector<ClaimContradiction>& found) {
  for (ClaimContradiction& one : found) {
    if (one.rule != "speedup") continue;
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Worked& candidate) {
      return candidate.row.label == one.row;
    });
    if (row == rows.end() || !row->has(base_tokens_per_s)) continue;
    for (const Worked& other : rows) {
      if (&other == &*row || !other.has(tokens_per_s)) continue;
      const Range ratio = other.at(tokens_per_s) / row->at(base_tokens_per_s);
      if (is_apart(ratio, row->at(speedup))) continue;
      one.says +=
          fmt::format("; {} / {} of row \"{}\" is that ratio", shown(other.at(tokens_per_s)),
                      shown(row->at(base_tokens_per_s)), other.row.label);
      break;
    }
  }
}

/// Facts in words that rows of one comparison should share.
void compare_context(const std::vector<Worked>& rows, std::vector<ClaimRemark>& remarks) {
  for (const char* const name : {"build", "model", "tool", "window"}) {
    std::set<std::string> different;
    for (const Worked& row : rows)
      if (const std::string text = context_of(row, name); !text.empty()) different.insert(text);
    if (different.size() < 2) continue;
    std::string says = fmt::format("rows are of different {}s: ", name);
    std::size_t shown_ones = 0;
    for (const std::string& one : different) {
      if (shown_ones == 4) says += ", ..";
      if (++shown_ones > 4) break;
      says += (shown_ones > 1 ? ", " : "") + one;
    }
    remarks.push_back({std::string("different_") + name + "s", "",
                       says + ": a difference between them is not of the drafter alone"});
  }
}

/// Passes of one arm do not get faster by what is accepted, so their rate should stay.
void compare_passes(const std::vector<Worked>& rows, std::vector<ClaimRemark>& remarks) {
  using Arm = std::tuple<int, std::string, std::string, std::string, double>;
  std::map<Arm, std::pair<const Worked*, const Worked*>> arms;  ///< the slowest and the fastest
  for (const Worked& row : rows) {
    if (!row.has(passes_per_s) || !row.at(passes_per_s).value) continue;
    if (!row.has(draft_limit) || !row.at(draft_limit).value) continue;
    auto& [slow, fast] = arms[{row.row.group, context_of(row, "model"), context_of(row, "quant"),
                               context_of(row, "drafter"), *row.at(draft_limit).value}];
    if (slow == nullptr || row.at(passes_per_s).high < slow->at(passes_per_s).high) slow = &row;
    if (fast == nullptr || row.at(passes_per_s).low > fast->at(passes_per_s).low) fast = &row;
  }
  for (const auto& [arm, ends] : arms) {
    const auto& [slow, fast] = ends;
    const double ratio = fast->at(passes_per_s).low / slow->at(passes_per_s).high;
    if (ratio > 1 + varies)
      remarks.push_back(
          {"pass_rates_differ", fast->row.label,
           fmt::format("passes per second run from {} (\"{}\") to {} (\"{}\") at one draft limit: "
                       "depth, machine or counting differ between these rows",
                       shown(slow->at(passes_per_s)), slow->row.label,
                       shown(fast->at(passes_per_s)), fast->row.label)});
  }
}

/// Perplexities of two runs are not paired: a difference between them is no verdict.
void compare_quality(const std::vector<Worked>& rows, std::vector<ClaimRemark>& remarks) {
  const Worked* first = nullptr;
  for (const Worked& row : rows) {
    if (!row.has(perplexity) || !row.at(perplexity).value) continue;
    if (first == nullptr || first->row.group != row.row.group) {
      first = &row;
      continue;
    }
    const double change =
        metrics::relative_change(*first->at(perplexity).value, *row.at(perplexity).value);
    std::string says = fmt::format(
        "perplexity {} is {:.2f} % {} than {} of \"{}\": unpaired, so nobody can tell whether the "
        "model is better",
        shown(row.at(perplexity)), 100 * std::abs(change), change < 0 ? "lower" : "higher",
        shown(first->at(perplexity)), first->row.label);
    if (row.has(tokens_per_s) && first->has(tokens_per_s) && row.at(tokens_per_s).value &&
        first->at(tokens_per_s).value && first->at(tokens_per_s).low > 0)
      says += fmt::format("; its speed is {:+.1f} %",
                          100 * metrics::relative_change(*first->at(tokens_per_s).value,
                                                         *row.at(tokens_per_s).value));
    remarks.push_back({"quality_unpaired", row.row.label, std::move(says)});
  }
}

/// A mixture is no faster than its fastest class and no slower than its slowest.
void compare_mixed(const std::vector<Worked>& rows, std::vector<ClaimContradiction>& found) {
  for (const Worked& mixed : rows) {
    if (context_of(mixed, "class") != "mixed" || !mixed.has(tokens_per_s)) continue;
    const Worked* fastest = nullptr;
    int classes = 0;
    for (const Worked& row : rows) {
      const std::string name = context_of(row, "class");
      if (!is_comparable(mixed, row) || name.empty() || name == "mixed" || !row.has(tokens_per_s))
        continue;
      ++classes;
      if (fastest == nullptr || row.at(tokens_per_s).high > fastest->at(tokens_per_s).high)
        fastest = &row;
    }
    if (classes < 2 || mixed.at(tokens_per_s).low <= fastest->at(tokens_per_s).high) continue;
    found.push_back({"mixture", mixed.row.label,
                     fmt::format("the mixture runs at {}, faster than its fastest class, \"{}\" at "
                                 "{}",
                                 shown(mixed.at(tokens_per_s)), fastest->row.label,
                                 shown(fastest->at(tokens_per_s))),
                     middle(mixed.at(tokens_per_s)), middle(fastest->at(tokens_per_s))});
  }
}

}  // namespace

void compare_rows(const std::vector<Worked>& rows, std::vector<ClaimContradiction>& found,
                  std::vector<ClaimRemark>& remarks) {
  find_owners(rows, found);
  compare_widths(rows, found);
  compare_speeds(rows, found);
  compare_mixed(rows, found);
  compare_context(rows, remarks);
  compare_passes(rows, remarks);
  compare_quality(rows, remarks);
}

}  // namespace paceline::claim
