#include <fmt/format.h>

#include "claim/readers/reader.hpp"
#include "claim/readers/said.hpp"
#include "dialect/dialect.hpp"
#include "dialect/fields.hpp"

// Answers of servers, streamed or whole, by the parsers of the server dialects.

namespace paceline::claim {

namespace {

using enum Figure;
using util::Json;

bool has(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && !found->is_null();
}

const Json* object_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_object() ? &*found : nullptr;
}

/// The dialect whose shape the object has; null when it has none.
const char* dialect_of(const Json& json) {
  if (const Json* timings = object_in(json, "timings")) {
    if (has(*timings, "draft_rounds") || has(*timings, "draft_kind")) return "mlx_vlm";
    if (has(*timings, "draft_by_depth")) return "ik_llama";
    return "llama-server";
  }
  if (has(json, "sglext") || has(json, "meta_info")) return "sglang";
  if (has(json, "avg_decoded_tokens_per_iter")) return "tensorrt_llm";
  const Json* metrics = object_in(json, "metrics");
  if (metrics != nullptr && has(*metrics, "speculative_decoding")) return "vllm";
  if (has(json, "eval_count") || has(json, "eval_duration")) return "ollama";
  const Json* stats = object_in(json, "stats");
  if (stats != nullptr && has(*stats, "tokens_per_second")) return "lm_studio";
  if (object_in(json, "usage") != nullptr) return "openai";
  return nullptr;
}

std::string text_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? dialect::short_line(found->get<std::string>())
                                                   : "";
}

/// Running totals stand in for what only the last message says.
void add_chunk(const trace::Chunk& chunk, const std::string& source, Row& row) {
  const auto add = [&](Figure figure, std::optional<long> value) {
    if (value)
      row.add({figure,
               exactly(static_cast<double>(*value)),
               {},
               std::to_string(*value),
               source,
               "running total"});
  };
  add(output_tokens, chunk.output_tokens);
  add(offered, chunk.offered);
  add(accepted, chunk.accepted);
  if (chunk.decode_ms && *chunk.decode_ms > 0)
    row.add({decode_s,
             machine_number(*chunk.decode_ms / 1000),
             {},
             fmt::format("{:.10g} ms", *chunk.decode_ms),
             source,
             "running total"});
}

/// What beside the figures the object says of model and build.
void add_context(const Json& json, Row& row) {
  const std::string build = text_in(json, "system_fingerprint");
  if (!build.empty()) row.context["build"] = build;
  const std::string model = text_in(json, "model");
  if (!model.empty()) row.context["model"] = model;
  if (const Json* info = object_in(json, "model_info")) {
    const std::string quant = text_in(*info, "quant");
    if (!quant.empty()) row.context["quant"] = quant;
  }
  if (const Json* runtime = object_in(json, "runtime"))
    row.context["build"] = text_in(*runtime, "name") + " " + text_in(*runtime, "version");
}

/// The times of an Ollama answer are parts of one whole.
void check_parts(const Json& json, const Row& row, Collector& out) {
  const auto nanoseconds = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? found->get<double>() : 0;
  };
  const double whole = nanoseconds("total_duration");
  const double parts = nanoseconds("load_duration") + nanoseconds("prompt_eval_duration") +
                       nanoseconds("eval_duration");
  if (whole > 0 && parts > whole)
    out.remark("other_unit", row.label,
               fmt::format("the parts of total_duration add up to {:.3g} of it", parts / whole));
}

/// A part of an answer, pasted without what stood around it, is a last message.
Json completed(Json json) {
  if (json.contains("timings") && !json.contains("choices") && !json.contains("stop"))
    json["stop"] = true;
  return json;
}

/// Messages of one stream repeat their totals: the last one counts.
Row& row_of(const Json& json, const char* format, const Line& line, Collector& out) {
  const std::string id = text_in(json, "id");
  if (!id.empty()) return out.stream_row(format, id);
  if (trimmed(line.text).starts_with("data:")) return out.stream_row(format, "stream");
  out.new_group();
  return out.add_row(format, line.source());
}

}  // namespace

bool read_server_object(const Json& json, const Line& line, Collector& out) {
  if (json.is_array()) {
    bool any = false;
    for (const Json& one : json)
      any = (one.is_object() && read_server_object(one, line, out)) || any;
    return any;
  }
  if (!json.is_object()) return false;
  const char* const name = dialect_of(json);
  if (name == nullptr) return false;
  const auto message = dialect::find(name)->read(util::dump_json(completed(json)));
  if (!message) return false;
  Row read;
  add_said(message->said, line.source(), read);
  add_chunk(message->chunk, line.source(), read);
  if (read.stated.empty()) return false;
  add_context(json, read);
  if (message->stop == trace::StopReason::eos) read.context["stop"] = "eos";
  if (message->stop == trace::StopReason::limit) read.context["stop"] = "length";
  Row& row = row_of(json, name, line, out);
  read.format = name;
  read.group = row.group;
  read.label = row.label;
  row = std::move(read);
  for (const std::string& oddity : message->oddities) out.remark("oddity", row.label, oddity);
  check_parts(json, row, out);
  return true;
}

}  // namespace paceline::claim
