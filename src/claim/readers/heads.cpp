#include "claim/readers/heads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "claim/number.hpp"
#include "util/printable.hpp"

namespace paceline::claim {

namespace {

using enum Figure;
using Kind = Head::Kind;

constexpr std::size_t longest_word = 200;

constexpr Head number(const char* head, Figure figure, const char* unit = "") {
  return {head, Kind::figure, figure, "", unit};
}
constexpr Head word(const char* head, const char* name) {
  return {head, Kind::word, tokens_per_s, name, ""};
}
constexpr Head known(const char* head, Kind kind = Kind::ignored) {
  return {head, kind, tokens_per_s, "", ""};
}

constexpr std::array heads = {
    number("t/s", tokens_per_s),
    number("tok/s", tokens_per_s),
    number("tokens/s", tokens_per_s),
    number("decode", tokens_per_s),
    number("decode tok/s", tokens_per_s),
    number("decode t/s", tokens_per_s),
    number("spec tok/s", tokens_per_s),
    number("code tps", tokens_per_s),
    number("tps", tokens_per_s),
    number("with drafter", tokens_per_s),
    number("s tg t/s", tokens_per_s),
    number("avg pred t/s", tokens_per_s),
    number("avg ts", tokens_per_s),
    number("base", base_tokens_per_s),
    number("bare", base_tokens_per_s),
    number("plain", base_tokens_per_s),
    number("baseline", base_tokens_per_s),
    number("baseline tok/s", base_tokens_per_s),
    number("vanilla", base_tokens_per_s),
    number("prefill", prefill_tokens_per_s),
    number("s pp t/s", prefill_tokens_per_s),
    number("avg prompt t/s", prefill_tokens_per_s),
    number("peak t/s", peak_tokens_per_s),
    number("forwards/s", passes_per_s),
    number("passes/s", passes_per_s),
    number("mal", tokens_per_pass),
    number("tau", tokens_per_pass),
    number("tokens/pass", tokens_per_pass),
    number("a len", acceptance_length),
    number("accept len", acceptance_length),
    number("acceptance length", acceptance_length),
    number("mean len", acceptance_length),
    number("acceptance", acceptance),
    number("acceptance rate", acceptance),
    number("accept rate", acceptance),
    number("accept", acceptance),
    number("rate", acceptance),
    number("accepted", accepted),
    number("drafted", offered),
    number("rounds", passes_speculative),
    number("drafts", passes_speculative),
    number("tokens", tokens),
    number("time s", decode_s),
    number("t tg s", decode_s),
    number("maximum draft", draft_limit),
    number("n max", draft_limit),
    number("draft max", draft_limit),
    number("k", draft_limit),
    number("speedup", speedup),
    number("speed up", speedup),
    number("ppl", perplexity),
    number("wikitext 2 ppl", perplexity),
    number("perplexity", perplexity),
    number("pos accept", acceptance_at),
    number("size", file_bytes),
    number("model size", file_bytes),
    number("b", concurrency),
    number("concurrency", concurrency),
    number("n depth", depth),
    number("depth", depth),
    number("samples", prompts),
    word("model", "model"),
    word("model type", "model"),
    word("target", "quant"),
    word("quant", "quant"),
    word("workload", "class"),
    word("task", "class"),
    word("category", "class"),
    word("class", "class"),
    word("config", "arm_name"),
    word("arm", "arm_name"),
    word("backend", "backend"),
    word("backends", "backend"),
    word("build", "build"),
    word("build commit", "build"),
    word("type k", "kv_type"),
    word("stop", "stop"),
    word("n batch", "n_batch"),
    known("test", Kind::test),
    known("n prompt", Kind::test),
    known("n gen", Kind::test),
    known("stddev ts", Kind::spread),
    known("params"),
    known("ngl"),
    known("n gpu layers"),
    known("threads"),
    known("n ubatch"),
    known("fa"),
    known("type v"),
    known("run"),
    known("stage"),
    known("pp"),
    known("tg"),
    known("n kv"),
    known("t pp s"),
    known("t s"),
    known("s t/s"),
    known("avg latency"),
    known("decision"),
    known("what it measures"),
    known("ttfr ms"),
    known("est ppt ms"),
    known("e2e ttft ms"),
};

bool add_list(std::string_view cell, const Line& line, Row& row) {
  Stated stated{acceptance_at, {}, {}, std::string(cell), line.source(), {}};
  while (!cell.empty() && stated.values.size() < 4096) {
    const std::string_view one = first_word(cell);
    const auto range = parse_figure(one, acceptance_at);
    if (!range) return false;
    stated.values.push_back(*range);
    cell = trimmed(cell.substr(static_cast<std::size_t>(one.data() - cell.data()) + one.size()));
  }
  if (stated.values.empty()) return false;
  row.add(std::move(stated));
  return true;
}

/// "538/660": accepted of offered, or the mean and the deviation of anything else.
bool add_pair(const Head& head, std::string_view cell, std::size_t slash, const Line& line,
              Row& row) {
  const auto first = parse_figure(cell.substr(0, slash), head.figure, head.unit);
  const Figure beside = head.figure == accepted ? offered : head.figure;
  const auto second = parse_figure(cell.substr(slash + 1), beside, head.unit);
  if (!first || !second) return false;
  row.add({head.figure, *first, {}, std::string(cell), line.source(), {}});
  if (head.figure == accepted)
    row.add({offered, *second, {}, std::string(cell), line.source(), {}});
  return true;
}

/// "20.30 / 20.45 / 20.80": several runs, of which only the bounds are kept.
bool add_runs(const Head& head, std::string_view cell, const Line& line, Row& row) {
  std::optional<Range> whole;
  std::string_view unit;
  if (const std::size_t last = cell.find_last_of("0123456789"); last != std::string_view::npos)
    unit = trimmed(cell.substr(last + 1));
  for (std::string_view rest = cell; !rest.empty();) {
    const std::size_t end = std::min(rest.find(" / "), rest.size());
    const auto one = parse_figure(rest.substr(0, end), head.figure, unit);
    if (!one) return false;
    whole = whole ? between(std::min(whole->low, one->low), std::max(whole->high, one->high))
                  : between(one->low, one->high);
    rest.remove_prefix(std::min(end + 3, rest.size()));
  }
  if (whole) row.add({head.figure, *whole, {}, std::string(cell), line.source(), "several runs"});
  return whole.has_value();
}

bool is_speed(Figure figure) { return figure == tokens_per_s; }

/// A speed whose test was of a prompt is of prefill; of prompt and output it is neither.
void settle_speed(Row& row, bool has_prompt, bool has_output) {
  for (Stated& one : row.stated) {
    if (!is_speed(one.figure)) continue;
    if (has_prompt && !has_output) one.figure = prefill_tokens_per_s;
    if (has_prompt && has_output) one.definition = "of prompt and output together";
  }
  std::erase_if(row.stated, [](const Stated& one) {
    return is_speed(one.figure) && one.definition == "of prompt and output together";
  });
}

/// "pp512", "tg128", "pp512+tg128", "tg128 @ d512", of 2023 "tg 128".
void settle_test(Row& row) {
  const auto found = row.context.find("test");
  if (found == row.context.end()) return;
  const std::string& test = found->second;
  settle_speed(row, test.find("pp") != std::string::npos, test.find("tg") != std::string::npos);
  if (const auto at = behind(test, "@ d")) add_figure(row, depth, *at, Line{test, 0});
  row.label = test;
}

}  // namespace

std::string_view bare(std::string_view cell) {
  cell = trimmed(cell);
  const auto is_mark = [](char c) { return c == '*' || c == '_' || c == '`'; };
  while (!cell.empty() && is_mark(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && is_mark(cell.back())) cell.remove_suffix(1);
  return trimmed(cell);
}

const Head* head_of(std::string_view text) {
  if (text.size() > longest_word) return nullptr;
  std::string plain = plain_head(text);
  const bool percent = plain.ends_with(" %");
  if (percent) plain.resize(plain.size() - 2);
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Head*> map;
    for (const Head& head : heads) map.emplace(head.head, &head);
    return map;
  }();
  const auto found = by_name.find(plain);
  return found == by_name.end() ? nullptr : found->second;
}

bool add_cell(const Head& head, std::string_view cell, const Line& line, Row& row) {
  cell = bare(cell);
  if (cell.empty() || cell.size() > longest_word) return false;
  switch (head.kind) {
    case Kind::ignored:
    case Kind::spread:
      return false;
    case Kind::word:
      row.context.emplace(head.word, std::string(cell));
      return true;
    case Kind::test:
      row.context.emplace(plain_head(head.head), std::string(cell));
      return true;
    case Kind::figure:
      break;
  }
  if (head.figure == acceptance_at) return add_list(cell, line, row);
  if (cell.find(" / ") != std::string_view::npos) return add_runs(head, cell, line, row);
  if (const std::size_t slash = cell.find('/');
      slash != std::string_view::npos && slash + 1 < cell.size() && cell[slash + 1] >= '0' &&
      cell[slash + 1] <= '9' && cell.find('+') == std::string_view::npos)
    return add_pair(head, cell, slash, line, row);
  // "43.30 (+56%)": the number stands before what is said of it.
  if (const std::size_t open = cell.find('('); open != std::string_view::npos && open > 0)
    cell = trimmed(cell.substr(0, open));
  const auto range = parse_figure(cell, head.figure, head.unit);
  if (!range) return false;
  row.add({head.figure, *range, {}, std::string(cell), line.source(), {}});
  return true;
}

void finish_row(Row& row) {
  settle_test(row);
  const auto is_some = [&](const char* name) {
    const auto found = row.context.find(name);
    return found != row.context.end() && found->second != "0";
  };
  if (row.context.contains("n gen") && row.context.contains("n prompt")) {
    settle_speed(row, is_some("n prompt"), is_some("n gen"));
    row.label = fmt::format("{}{}", is_some("n prompt") ? "pp" + row.context["n prompt"] : "",
                            is_some("n gen") ? "tg" + row.context["n gen"] : "");
    row.context.erase("n prompt");
    row.context.erase("n gen");
  }
  if (const auto found = row.context.find("class"); found != row.context.end()) {
    mark_plain(row, found->second);
    // "Regular decoding, code" is an arm's name: no class that the others of its table could have.
    if (is_plain(row) && !row.context.contains("arm_name")) {
      auto named = row.context.extract(found);
      named.key() = "arm_name";
      row.context.insert(std::move(named));
    }
  }
  for (const char* const name : {"arm_name", "model"})
    if (const auto found = row.context.find(name); found != row.context.end())
      mark_plain(row, found->second);
}

}  // namespace paceline::claim
