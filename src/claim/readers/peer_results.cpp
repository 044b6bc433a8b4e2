#include <fmt/format.h>

#include "claim/readers/reader.hpp"
#include "claim/readers/said.hpp"

// Result files of AIPerf, GuideLLM and llama-benchy, and the iterations that TensorRT-LLM lists.

namespace paceline::claim {

namespace {

using enum Figure;
using util::Json;

/// A number behind keys, one within the other; nothing when it is not there.
std::optional<double> at(const Json& json, std::initializer_list<const char*> keys) {
  const Json* here = &json;
  for (const char* const key : keys) {
    if (!here->is_object()) return std::nullopt;
    const auto found = here->find(key);
    if (found == here->end()) return std::nullopt;
    here = &*found;
  }
  return here->is_number() ? std::optional(here->get<double>()) : std::nullopt;
}

void add(Row& row, Figure figure, std::optional<double> value, const Line& line, double scale = 1,
         const char* definition = "") {
  if (!value || !(*value >= 0)) return;
  const bool whole = dimension_of(figure) == Dimension::count;
  row.add({figure,
           whole ? exactly(*value * scale) : machine_number(*value * scale),
           {},
           fmt::format("{:.6g}", *value),
           line.source(),
           definition});
}

constexpr const char* of_all = "of all requests together";

bool read_aiperf(const Json& json, const Line& line, Collector& out) {
  const auto rate = at(json, {"output_token_throughput", "avg"});
  if (!rate) return false;
  out.new_group();
  Row& row = out.add_row("AIPerf", "AIPerf");
  row.context["load"] = "yes";
  row.context["tool"] = "AIPerf";
  const auto per_user = at(json, {"output_token_throughput_per_user", "avg"});
  add(row, tokens_per_s, per_user ? per_user : rate, line, 1,
      per_user ? "mean over requests" : of_all);
  add(row, seconds_per_token, at(json, {"inter_token_latency", "avg"}), line, 1e-3);
  add(row, ttft_s, at(json, {"time_to_first_token", "avg"}), line, 1e-3);
  add(row, requests, at(json, {"request_count", "avg"}), line);
  add(row, acceptance_length, at(json, {"spec_decode_token_weighted_acceptance_length", "avg"}),
      line);
  add(row, acceptance_length, at(json, {"spec_decode_acceptance_length", "avg"}), line, 1,
      "mean of the requests' own means");
  add(row, acceptance, at(json, {"spec_decode_overall_draft_acceptance_rate", "avg"}), line, 0.01,
      "accepted / offered");
  add(row, acceptance, at(json, {"spec_decode_draft_acceptance_rate", "avg"}), line, 0.01,
      "accepted / offered, the mean of the requests' own");
  return true;
}

bool read_guidellm(const Json& one, const Line& line, Collector& out) {
  const auto found = one.find("metrics");
  if (found == one.end() || !at(*found, {"output_tokens_per_second", "successful", "mean"}))
    return false;
  Row& row = out.add_row("GuideLLM", "GuideLLM");
  row.context["load"] = "yes";
  row.context["tool"] = "GuideLLM";
  add(row, tokens_per_s, at(*found, {"output_tokens_per_second", "successful", "mean"}), line, 1,
      of_all);
  add(row, seconds_per_token, at(*found, {"inter_token_latency_ms", "successful", "mean"}), line,
      1e-3);
  add(row, ttft_s, at(*found, {"time_to_first_token_ms", "successful", "mean"}), line, 1e-3);
  add(row, concurrency, at(*found, {"request_concurrency", "successful", "mean"}), line);
  return true;
}

bool read_benchy(const Json& one, const Line& line, Collector& out) {
  if (!at(one, {"tg_throughput", "mean"})) return false;
  Row& row = out.add_row("llama-benchy", "llama-benchy");
  row.context["load"] = "yes";
  row.context["tool"] = "llama-benchy";
  const auto each = at(one, {"tg_req_throughput", "mean"});
  add(row, tokens_per_s, each ? each : at(one, {"tg_throughput", "mean"}), line, 1,
      each ? "mean over requests" : of_all);
  add(row, prefill_tokens_per_s, at(one, {"pp_req_throughput", "mean"}), line);
  add(row, peak_tokens_per_s, at(one, {"peak_throughput", "mean"}), line);
  add(row, concurrency, at(one, {"concurrency"}), line);
  add(row, depth, at(one, {"context_size"}), line);
  return true;
}

/// Iterations of TensorRT-LLM's /metrics, drained by whoever reads them.
bool read_iterations(const Json& json, const Line& line, Collector& out) {
  if (!json.is_array() || json.empty() || !json.front().is_object() ||
      !json.front().contains("inflightBatchingStats"))
    return false;
  double sum = 0;
  int count = 0;
  for (const Json& one : json) {
    if (!one.is_object()) continue;
    const auto length = at(one, {"inflightBatchingStats", "avgNumDecodedTokensPerIter"});
    if (!length || !(*length > 0)) continue;
    sum += *length;
    ++count;
  }
  out.new_group();
  Row& row = out.add_row("TensorRT-LLM iterations", line.source());
  row.context["load"] = "yes";
  if (count > 0)
    add(row, tokens_per_pass, sum / count, line, 1, "mean of iteration means, not pooled");
  return true;
}

}  // namespace

bool read_peer_results(const Json& json, const Line& line, Collector& out) {
  if (read_iterations(json, line, out)) return true;
  if (!json.is_object()) return false;
  if (read_aiperf(json, line, out)) return true;
  const auto list = json.find("benchmarks");
  if (list == json.end() || !list->is_array()) return false;
  out.new_group();
  bool any = false;
  for (const Json& one : *list)
    if (one.is_object()) any = read_guidellm(one, line, out) || read_benchy(one, line, out) || any;
  return any;
}

}  // namespace paceline::claim
