#include <fmt/format.h>

#include "claim/readers/heads.hpp"
#include "dialect/fields.hpp"

// Objects whose keys are those of llama-bench's table, and those of MTP bench tools.

namespace paceline::claim {

namespace {

using util::Json;

std::string text_of(const Json& value) {
  if (value.is_string()) return dialect::short_line(value.get<std::string>());
  if (value.is_number_integer()) return std::to_string(value.get<long long>());
  if (value.is_number()) return fmt::format("{:.10g}", value.get<double>());
  return "";
}

bool read_bench_row(const Json& json, const Line& line, Collector& out) {
  Row read;
  for (const auto& [key, value] : json.items())
    if (const Head* head = head_of(key)) add_cell(*head, text_of(value), line, read);
  if (read.stated.empty()) return false;
  Row& row = out.add_row("llama-bench", line.source());
  read.format = row.format;
  read.group = row.group;
  read.label = row.label;
  row = std::move(read);
  row.context["arm"] = "plain";
  row.context["tool"] = "llama-bench";
  finish_row(row);
  return true;
}

/// "aggregate_accept_rate": null is unknown, not 0.
bool read_aggregate(const Json& json, const Line& line, Collector& out) {
  const auto rate = json.find("aggregate_accept_rate");
  if (rate == json.end()) return false;
  out.new_group();
  Row& row = out.add_row("MTP bench", line.source());
  if (rate->is_number())
    add_figure(row, Figure::acceptance, text_of(*rate), line, {}, "accepted / offered");
  if (const auto requests = json.find("n_requests"); requests != json.end())
    add_figure(row, Figure::requests, text_of(*requests), line);
  return true;
}

bool is_bench_row(const Json& json) {
  return json.is_object() && json.contains("build_commit") && json.contains("avg_ts");
}

}  // namespace

bool read_bench_object(const Json& json, const Line& line, Collector& out) {
  if (is_bench_row(json)) {
    if (out.group() == 0) out.new_group();
    return read_bench_row(json, line, out);
  }
  if (json.is_object()) return read_aggregate(json, line, out);
  if (!json.is_array() || json.empty() || !is_bench_row(json.front())) return false;
  out.new_group();
  for (const Json& one : json)
    if (is_bench_row(one)) read_bench_row(one, line, out);
  return true;
}

}  // namespace paceline::claim
