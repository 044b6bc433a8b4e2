#include "claim/contradictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace paceline::claim {

namespace {

using enum Figure;
using document::ClaimContradiction;

constexpr double gap_share = 0.01;  ///< of the tokens of who knows how many requests
constexpr double gap_of_one = 2;    ///< tokens of one request

class Checks {
 public:
  Checks(const Worked& row, std::vector<ClaimContradiction>& found) : row_(row), found_(found) {}

  void run() {
    ranges();
    drafts();
    lengths();
    speeds();
    identity();
    positions();
    ceiling();
    meanings();
  }

 private:
  bool has(Figure figure) const { return row_.has(figure); }
  template <class... More>
  bool has(Figure first, More... more) const {
    return has(first) && has(more...);
  }
  const Range& at(Figure figure) const { return row_.at(figure); }
  bool is_stated(Figure figure) const { return row_.stated(figure) != nullptr; }

  void add(const char* rule, std::string says, const Range& one, const Range& other) {
    found_.push_back({rule, row_.row.label, std::move(says), middle(one), middle(other)});
  }
  /// `what` says what the second number is: "1 + accepted / passes is {}".
  void apart(const char* rule, Figure figure, const Range& other, const std::string& what,
             const std::string& more = "") {
    if (is_apart(at(figure), other))
      add(rule,
          fmt::format("{} is given as {}, but {} is {}{}", name_of(figure), shown(at(figure)), what,
                      shown(other), more),
          at(figure), other);
  }
  void above(const char* rule, Figure less, const Range& most, const std::string& what) {
    if (at(less).low > most.high * (1 + 1e-9))
      add(rule,
          fmt::format("{} of {} is more than {}, {}", name_of(less), shown(at(less)), what,
                      shown(most)),
          at(less), most);
  }

  void ranges() {
    for (const Figure share : {fire_rate, engaged_share, Figure::share})
      if (is_stated(share)) above("range", share, exactly(1), "the whole");
    // Any other meaning of an acceptance above one is among the readings.
    if (const Stated* one = row_.stated(acceptance);
        one != nullptr && (!one->definition.empty() || is_percent(*one)))
      above("range", acceptance, exactly(1), "all drafts");
    if (is_stated(tokens_per_pass) && at(tokens_per_pass).high < 1)
      add("range", fmt::format("{} tokens per pass are fewer than one", shown(at(tokens_per_pass))),
          at(tokens_per_pass), exactly(1));
  }

  void drafts() {
    if (has(accepted, offered)) above("accepted", accepted, at(offered), "what was offered");
    if (has(accepted, tokens)) above("accepted", accepted, at(tokens), "the output tokens");
    if (has(accepted, output_tokens))
      above("accepted", accepted, at(output_tokens), "the output tokens");
    for (const Figure count : {passes, passes_speculative})
      if (is_stated(count) && has(offered, draft_limit))
        above("offered", offered, at(draft_limit) * at(count), "the limit times the passes");
    if (has(offered_per_pass, draft_limit, offered) && !is_stated(passes))
      above("draft_length", offered_per_pass, at(draft_limit), "the draft limit");
    if (has(accepted_per_pass, draft_limit))
      above("draft_length", accepted_per_pass, at(draft_limit),
            "the draft limit (with the target's own token it could be that long)");
    if (is_stated(acceptance) && has(accepted, offered) && at(offered).low > 0)
      apart("acceptance", acceptance, at(accepted) / at(offered), "accepted / offered");
  }

  /// Other things that tools call tokens per pass, to name what a number that does not fit is.
  std::string other_meaning(const Range& printed) const {
    const Figure count = has(passes) ? passes : passes_speculative;
    const Figure all = has(output_tokens) ? output_tokens : tokens;
    if (has(accepted, count) && !is_apart(printed, at(accepted) / at(count) + exactly(2)))
      return "; accepted / passes + 2 is that number";
    if (has(accepted, count) && !is_apart(printed, at(accepted) / at(count)))
      return "; accepted / passes is that number, the target's own token left out";
    if (has(all, count) && !is_apart(printed, at(all) / at(count)))
      return "; tokens / passes is that number";
    return "";
  }

  void lengths() {
    for (const Figure length : {tokens_per_pass, acceptance_length}) {
      if (!is_stated(length)) continue;
      const Range& given = at(length);
      if (has(draft_limit))
        above("length", length, at(draft_limit) + exactly(1), "a full draft + 1");
      const Figure count = has(passes) && length == tokens_per_pass ? passes : passes_speculative;
      if (has(accepted, count) && is_stated(count) && at(count).low > 0 &&
          row_.stated(length)->definition.empty())
        apart("length", length, exactly(1) + at(accepted) / at(count), "1 + accepted / passes",
              other_meaning(given));
      if (!is_stated(acceptance) || !has(draft_limit) || !is_share_of_drafts(row_.row)) continue;
      const Range full = exactly(1) + at(draft_limit) * at(acceptance);
      if (row_.row.full_drafts == true)
        apart("length", length, full, "1 + draft_limit * acceptance");
      else if (at(acceptance).high <= 1)
        above("length", length, full, "1 + draft_limit * acceptance");
    }
  }

  bool is_made_of_speedup(Figure figure) const {
    return std::any_of(row_.derived.begin(), row_.derived.end(), [figure](const auto& one) {
      return one.name == name_of(figure) && one.from.back() == name_of(speedup);
    });
  }

  void speeds() {
    if (has(tokens_per_s, base_tokens_per_s) && is_stated(speedup) &&
        !is_made_of_speedup(tokens_per_s) && !is_made_of_speedup(base_tokens_per_s))
      apart("speedup", speedup, at(tokens_per_s) / at(base_tokens_per_s),
            "tokens_per_s / base_tokens_per_s");
    if (has(tokens_per_s) && is_stated(passes_per_s) && is_stated(tokens_per_pass))
      apart("passes_per_s", passes_per_s, at(tokens_per_s) / at(tokens_per_pass),
            "tokens_per_s / tokens_per_pass");
    if (has(peak_tokens_per_s, tokens_per_s))
      above("peak", tokens_per_s, at(peak_tokens_per_s), "its own peak");
    if (has(seconds_per_token) && is_stated(tokens_per_s) && !row_.row.context.contains("load"))
      apart("rate", tokens_per_s, exactly(1) / at(seconds_per_token), "1 / seconds_per_token");
    const Figure all = has(output_tokens) ? output_tokens : tokens;
    if (is_stated(tokens_per_s) && has(all, decode_s) && at(decode_s).low > 0) {
      const Range whole = at(all) / at(decode_s);
      const Range but_first = (at(all) - exactly(1)) / at(decode_s);
      if (is_apart(at(tokens_per_s), whole) && is_apart(at(tokens_per_s), but_first))
        apart("rate", tokens_per_s, whole, "tokens / seconds",
              ": it is of another window or of other tokens");
    }
    if (has(tokens_per_pass, speedup) && at(tokens_per_pass).high < at(speedup).low)
      add("pass_cost",
          fmt::format("a speed-up of {} needs that many tokens per pass at least; {} would make a "
                      "pass cheaper than a plain one",
                      shown(at(speedup)), shown(at(tokens_per_pass))),
          at(speedup), at(tokens_per_pass));
    costs();
    bounds_of_length();
  }

  void costs() {
    if (!is_stated(pass_cost)) return;
    if (at(pass_cost).high < 1)
      add("pass_cost",
          fmt::format("a pass with a draft is said to cost {} of a plain one",
                      shown(at(pass_cost))),
          at(pass_cost), exactly(1));
    else if (is_stated(tokens_per_pass) && has(speedup))
      apart("pass_cost", pass_cost, at(tokens_per_pass) / at(speedup), "tokens_per_pass / speedup");
  }

  /// Where tokens per pass is not known, its bounds must still leave room.
  void bounds_of_length() {
    if (has(tokens_per_pass) || !has(speedup, draft_limit)) return;
    Range most = at(draft_limit) + exactly(1);
    if (has(acceptance) && at(acceptance).high <= 1 && is_share_of_drafts(row_.row))
      most = exactly(1) + at(draft_limit) * at(acceptance);
    above("pass_cost", speedup, most, "the tokens per pass that the drafts can give");
  }

  /// Tokens that one pass can have past the end of a request.
  double longest_pass() const { return has(draft_limit) ? at(draft_limit).high + 1 : 16; }

  /// tokens = passes + accepted, but for the first token, what lies past an end, and replays.
  void identity() {
    if (has(engaged_share) && !is_stated(engaged_share) && at(engaged_share).low > 1 + gap_share &&
        has(accepted, passes_speculative)) {
      const Figure all = has(output_tokens) ? output_tokens : tokens;
      const Range sum = at(accepted) + at(passes_speculative);
      if ((sum - at(all)).low > longest_pass())
        add("identity",
            fmt::format(
                "accepted + passes_speculative is {}, more than the {} tokens that came out",
                shown(sum), shown(at(all))),
            sum, at(all));
    }
    if (!has(identity_gap)) return;
    const Range& gap = at(identity_gap);
    const Range& all = has(output_tokens) ? at(output_tokens) : at(tokens);
    const double requests = has(Figure::requests) ? at(Figure::requests).high : 1;
    const double longest = longest_pass();
    const double slack = gap_share * all.high;
    const double size = gap.low > 0 ? gap.low : -gap.high;
    const double allowed = std::max(slack, requests * (gap.low > 0 ? gap_of_one : longest));
    if (size <= allowed) return;
    const Range sum = at(accepted) + at(passes);
    add("identity",
        fmt::format("accepted + passes is {}, but {} tokens came out: {} are unaccounted for ({})",
                    shown(sum), shown(all), shown(gap),
                    gap.low > 0 ? "passes without a draft, or passes that emit two tokens of their "
                                  "own"
                                : "tokens past the end that were counted, or counters of another "
                                  "window"),
        sum, all);
  }

  void positions() {
    const Stated* list = row_.stated(acceptance_at);
    if (list == nullptr || list->values.empty()) return;
    Range sum = exactly(0);
    for (std::size_t i = 0; i < list->values.size(); ++i) {
      const Range& one = list->values[i];
      sum = sum + one;
      if (one.low > 1)
        add("positions",
            fmt::format("position {} was accepted in {} of all passes", i + 1, shown(one)), one,
            exactly(1));
      if (i > 0 && one.low > list->values[i - 1].high)
        add("positions",
            fmt::format("position {} was accepted more often ({}) than position {} before it ({})",
                        i + 1, shown(one), i, shown(list->values[i - 1])),
            one, list->values[i - 1]);
    }
    const bool is_whole =
        !has(draft_limit) || static_cast<double>(list->values.size()) >= at(draft_limit).low;
    if (!is_whole) return;
    if (has(acceptance_length))
      apart("positions", acceptance_length, exactly(1) + sum, "1 + the sum of all positions");
    else if (is_stated(tokens_per_pass))
      above("positions", tokens_per_pass, exactly(1) + sum, "1 + the sum of all positions");
  }

  void ceiling() {
    if (!has(ceiling_share) || at(ceiling_share).low <= 1) return;
    const Figure speed = has(passes_per_s) ? passes_per_s : base_tokens_per_s;
    above("ceiling", speed, at(ceiling_passes_per_s), "what the bandwidth permits");
  }

  /// vLLM V0 counts matches behind the first mismatch.
  void meanings() {
    if (!has(emitted, accepted, offered, draft_limit, tokens_per_pass)) return;
    const Range naive = exactly(1) + at(draft_limit) * at(accepted) / at(offered);
    if (is_apart(naive, at(tokens_per_pass)))
      add("definition",
          fmt::format("1 + draft_limit * acceptance is {}, but passes emitted {} tokens each: "
                      "accepted counts matches behind the first mismatch (vLLM V0)",
                      shown(naive), shown(at(tokens_per_pass))),
          naive, at(tokens_per_pass));
  }

  const Worked& row_;
  std::vector<ClaimContradiction>& found_;
};

}  // namespace

void find_contradictions(const Worked& row, std::vector<ClaimContradiction>& found) {
  Checks(row, found).run();
}

}  // namespace paceline::claim
