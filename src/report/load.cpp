#include "report/load.hpp"

#include <fmt/format.h>

#include "report/fitted.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"

namespace paceline::report {

namespace {

using document::Document;
using document::Load;
using document::Quantity;
using util::Align;
using util::Cell;
using util::TextTable;

std::string load_name(const Load& load) {
  if (load.concurrency.value) return std::to_string(*load.concurrency.value);
  return fmt::format("{}/s", figure(load.rate_per_s.value.value_or(0)));
}

const Quantity* ratio_of(const Document& document, const Load& load) {
  if (!load.concurrency.value) return nullptr;
  for (const auto& crossover : document.crossover_concurrency)
    if (crossover.arm == load.arm)
      for (const auto& level : crossover.levels)
        if (level.concurrency == *load.concurrency.value) return &level.ratio;
  return nullptr;
}

std::string requests_of(const Load& load) {
  std::string text = fmt::format("{} of {}", load.requests_done, load.requests_planned);
  if (load.requests_failed > 0) text += fmt::format(", {} failed", load.requests_failed);
  if (load.requests_cancelled > 0) text += fmt::format(", {} cancelled", load.requests_cancelled);
  return text;
}

TextTable table_of(std::initializer_list<const char*> columns) {
  TextTable table;
  for (const char* name : columns) table.add_column(name, Align::left);
  return table;
}

/// The arm's name where a row is the first of its arm.
std::string arm_of(const Document& document, const Load& load) {
  const bool first = &load == document.loads.data() || (&load - 1)->arm != load.arm;
  return first ? util::printable(load.arm) : "";
}

TextTable rates(const Document& document, bool intervals, Notes& notes) {
  TextTable table =
      table_of({"arm", "load", "tok/s", "against plain", "passes/s of each", "requests done"});
  for (const Load& load : document.loads) {
    const Quantity* ratio = ratio_of(document, load);
    table.add_row({{arm_of(document, load)},
                   {load_name(load)},
                   {shown(load.tokens_per_s, plain_unit, intervals, notes)},
                   {ratio == nullptr ? "" : shown(*ratio, times, intervals, notes)},
                   {shown(load.experienced_passes_per_s, plain_unit, intervals, notes)},
                   {requests_of(load)}});
  }
  return table;
}

TextTable factors(const Document& document, bool intervals, Notes& notes) {
  TextTable table = table_of(
      {"arm", "load", "tok/s", "= forwards/s", "x sequences/forward", "x tok/sequence pass"});
  for (const Load& load : document.loads) {
    std::vector<Cell> cells = {{arm_of(document, load)}, {load_name(load)}};
    for (const Quantity* one : {&load.cell_tokens_per_s, &load.forwards_per_s,
                                &load.sequences_per_forward, &load.tokens_per_sequence_pass})
      cells.push_back({shown(*one, plain_unit, intervals, notes)});
    table.add_row(std::move(cells));
  }
  return table;
}

/// A share of latencies in milliseconds: no interval is made, so its reason is no news.
std::string share(const Quantity& quantity, Notes& notes) {
  if (!quantity.value) return "- " + notes.mark(quantity.reason);
  return figure(1000 * *quantity.value);
}

std::string client_cell(const document::Known<double>& value, double scale, Notes& notes) {
  return value.value ? figure(scale * *value.value) : "- " + notes.mark(value.reason);
}

TextTable latencies(const Document& document, Notes& notes) {
  TextTable table = table_of({"arm", "load", "first token p50", "p95", "p99", "burst gap p50",
                              "p99", "client CPU %", "lag p99"});
  for (const Load& load : document.loads)
    table.add_row({{arm_of(document, load)},
                   {load_name(load)},
                   {share(load.ttft_s.p50, notes)},
                   {share(load.ttft_s.p95, notes)},
                   {share(load.ttft_s.p99, notes)},
                   {share(load.inter_burst_s.p50, notes)},
                   {share(load.inter_burst_s.p99, notes)},
                   {client_cell(load.client.cpu_share, 100, notes)},
                   {client_cell(load.client.lag_p99_s, 1000, notes)}});
  return table;
}

std::string crossovers(const Document& document, const Style& style) {
  std::string text;
  for (const auto& crossover : document.crossover_concurrency)
    text +=
        wrapped(fmt::format(" crossover of {}: {}", util::printable(crossover.arm), crossover.says),
                4, style.width);
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string load_tables(const Document& document, const Style& style, Notes& notes) {
  if (document.loads.empty()) return "";
  const std::string text = fitted(1, style, notes, [&](Level level, Notes& attempt) {
    const bool intervals = level < 1;
    return std::vector{
        std::pair{std::string("Load: requests at once, or due per second; tok/s of all of them "
                              "while the load is steady"),
                  rates(document, intervals, attempt)},
        std::pair{std::string("Load, from its beginning to its end: what its tok/s are made of"),
                  factors(document, intervals, attempt)},
        std::pair{std::string("Load, ms: from when a request was due to its first token, between "
                              "bursts of tokens, and how late this client was"),
                  latencies(document, attempt)}};
  });
  return text + crossovers(document, style);
}

}  // namespace paceline::report
