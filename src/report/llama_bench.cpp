#include "report/llama_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "report/format.hpp"
#include "util/json.hpp"
#include "util/printable.hpp"

namespace paceline::report {

namespace {

using document::Arm;
using document::Document;
using document::Workload;
using util::Json;

/// One test of llama-bench: prompt processing or generation, with the tokens/s of each launch.
struct Row {
  const Document* document = nullptr;
  const Arm* arm = nullptr;
  std::string label;  ///< class and drafter, behind the model's name; may be empty
  int n_prompt = 0;
  int n_gen = 0;
  int n_depth = 0;
  std::vector<double> rates;
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// As llama-bench has it: of one value it is 0.
double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean(values)) * (value - mean(values));
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<double> nanoseconds(const Row& row) {
  std::vector<double> times;
  for (const double rate : row.rates) times.push_back(1e9 * (row.n_prompt + row.n_gen) / rate);
  return times;
}

template <class T>
Json or_null(const document::Known<T>& fact) {
  return fact.value ? Json(*fact.value) : Json(nullptr);
}

/// "b1-de3ff81" as 1 and "de3ff81"; a build that is named otherwise has no number.
std::string build_commit(const Row& row) {
  if (!row.document->engine.value) return "unknown";
  const std::string build = row.document->engine.value->build.value.value_or("unknown");
  const std::string word = build.substr(0, build.find(' '));
  const std::size_t dash = word.find('-');
  return word.starts_with('b') && dash != std::string::npos ? word.substr(dash + 1) : word;
}

Json build_number(const Row& row) {
  if (!row.document->engine.value) return nullptr;
  const std::string build = row.document->engine.value->build.value.value_or("");
  int number = 0;
  std::size_t at = 1;
  while (at < build.size() && build[at] >= '0' && build[at] <= '9' && number < 100'000'000)
    number = 10 * number + (build[at++] - '0');
  return build.starts_with('b') && at > 1 ? Json(number) : Json(nullptr);
}

std::string model_type(const Row& row) {
  const auto& target = row.document->target.value;
  std::string type = "unknown model";
  if (target)
    type = fmt::format("{} {}B {}", target->architecture,
                       figure(static_cast<double>(target->parameters) / 1e9),
                       target->file_type.value.value_or("unknown type"));
  return util::printable(type + row.label);
}

Json model_size(const Row& row) {
  if (!row.document->target.value) return nullptr;
  std::uint64_t bytes = 0;
  for (const auto& part : row.document->target.value->recipe) {
    if (!part.bytes.value) return nullptr;
    bytes += *part.bytes.value;
  }
  return bytes;
}

/// What the embedded engine leaves as llama.cpp has it; of a server nobody knows.
template <class T>
Json untouched(const Row& row, T value) {
  return row.document->servers.empty() ? Json(value) : Json(nullptr);
}

Json of_engine(const Row& row, document::Known<int> document::Engine::*field) {
  const auto& engine = row.document->engine.value;
  return engine ? or_null((*engine).*field) : Json(nullptr);
}

Json flash_attention(const Row& row) {
  const auto& engine = row.document->engine.value;
  if (!engine || !engine->flash_attention.value) return nullptr;
  return *engine->flash_attention.value ? 1 : 0;
}

std::string backends(const Row& row) {
  const auto& engine = row.document->engine.value;
  if (!engine || engine->devices.empty()) return "unknown";
  std::string names;
  for (const auto& device : engine->devices) {
    const std::string name = device.substr(0, device.find(' '));
    if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ",") + name;
  }
  return util::printable(names);
}

long long rounded(double value) { return std::llround(value); }

/// A field of llama-bench: its name, its type in SQL, and what it is of a row.
struct Field {
  const char* name;
  const char* type;
  Json (*value)(const Row&);
};

constexpr const char* text = "TEXT";
constexpr const char* integer = "INTEGER";
constexpr const char* real = "REAL";

// test::get_fields() of tools/llama-bench/llama-bench.cpp, in its order.
const std::array fields = {
    Field{"build_commit", text, [](const Row& row) { return Json(build_commit(row)); }},
    Field{"build_number", integer, build_number},
    Field{"cpu_info", text,
          [](const Row& row) { return or_null(row.document->machine.processor); }},
    Field{"gpu_info", text, [](const Row&) { return Json(""); }},
    Field{"backends", text, [](const Row& row) { return Json(backends(row)); }},
    Field{"model_filename", text,
          [](const Row& row) {
            const auto& target = row.document->target.value;
            return target ? Json(target->file) : Json(nullptr);
          }},
    Field{"model_type", text, [](const Row& row) { return Json(model_type(row)); }},
    Field{"model_size", integer, model_size},
    Field{"model_n_params", integer,
          [](const Row& row) {
            const auto& target = row.document->target.value;
            return target ? Json(target->parameters) : Json(nullptr);
          }},
    Field{"n_batch", integer,
          [](const Row& row) { return of_engine(row, &document::Engine::n_batch); }},
    Field{"n_ubatch", integer,
          [](const Row& row) { return of_engine(row, &document::Engine::n_ubatch); }},
    Field{"n_threads", integer, [](const Row& row) { return or_null(row.arm->settings.threads); }},
    Field{"cpu_mask", text, [](const Row& row) { return untouched(row, "0x0"); }},
    Field{"cpu_strict", integer, [](const Row& row) { return untouched(row, false); }},
    Field{"poll", integer, [](const Row& row) { return untouched(row, 50); }},
    Field{"type_k", text, [](const Row& row) { return or_null(row.arm->settings.cache_type_k); }},
    Field{"type_v", text, [](const Row& row) { return or_null(row.arm->settings.cache_type_v); }},
    Field{"n_gpu_layers", integer, [](const Row& row) { return untouched(row, -1); }},
    Field{"n_cpu_moe", integer, [](const Row& row) { return untouched(row, 0); }},
    Field{"split_mode", text, [](const Row& row) { return untouched(row, "layer"); }},
    Field{"main_gpu", integer, [](const Row& row) { return untouched(row, 0); }},
    Field{"no_kv_offload", integer, [](const Row& row) { return untouched(row, false); }},
    Field{"flash_attn", integer, flash_attention},
    Field{"devices", text, [](const Row& row) { return untouched(row, "auto"); }},
    Field{"tensor_split", text, [](const Row& row) { return untouched(row, "0.00"); }},
    Field{"tensor_buft_overrides", text, [](const Row& row) { return untouched(row, "none"); }},
    Field{"load_mode", text, [](const Row& row) { return untouched(row, "auto"); }},
    Field{"lazy_mode", text, [](const Row& row) { return untouched(row, "auto"); }},
    Field{"embeddings", integer, [](const Row&) { return Json(false); }},
    Field{"no_op_offload", integer, [](const Row& row) { return untouched(row, 0); }},
    Field{"no_host", integer, [](const Row& row) { return untouched(row, false); }},
    Field{"fit_target", integer, [](const Row& row) { return untouched(row, 0); }},
    Field{"fit_min_ctx", integer, [](const Row& row) { return untouched(row, 0); }},
    Field{"n_prompt", integer, [](const Row& row) { return Json(row.n_prompt); }},
    Field{"n_gen", integer, [](const Row& row) { return Json(row.n_gen); }},
    Field{"n_depth", integer, [](const Row& row) { return Json(row.n_depth); }},
    Field{"test_time", text, [](const Row& row) { return Json(row.document->created); }},
    Field{"avg_ns", integer, [](const Row& row) { return Json(rounded(mean(nanoseconds(row)))); }},
    Field{"stddev_ns", integer,
          [](const Row& row) { return Json(rounded(deviation(nanoseconds(row)))); }},
    Field{"avg_ts", real, [](const Row& row) { return Json(mean(row.rates)); }},
    Field{"stddev_ts", real, [](const Row& row) { return Json(deviation(row.rates)); }},
};

/// A prompt's tokens in the mean, as one prompt of llama-bench.
int prompt_length(const Workload& workload) {
  const auto& tokens = workload.prefill.prefill_tokens.value;
  if (!tokens || workload.requests < 1) return 0;
  return static_cast<int>(
      std::lround(static_cast<double>(*tokens) / static_cast<double>(workload.requests)));
}

void add_rows(const Document& document, const Arm& arm, const Workload& workload,
              std::vector<Row>& rows) {
  Row row;
  row.document = &document;
  row.arm = &arm;
  if (arm.workloads.size() > 1) row.label += " [" + workload.workload_class + "]";
  if (speculates(arm)) row.label += " spec " + arm.name;
  row.n_depth = workload.filled_tokens;
  Row prefill = row;
  prefill.n_prompt = prompt_length(workload);
  row.n_gen = document.launches.n_predict;
  for (const auto& launch : workload.by_launch) {
    row.rates.push_back(launch.tokens_per_s);
    if (launch.prefill_tokens_per_s.value)
      prefill.rates.push_back(*launch.prefill_tokens_per_s.value);
  }
  if (!prefill.rates.empty() && prefill.n_prompt > 0) rows.push_back(std::move(prefill));
  if (!row.rates.empty()) rows.push_back(std::move(row));
}

std::vector<Row> rows_of(const Document& document) {
  std::vector<Row> rows;
  for (const Arm& arm : document.arms)
    for (const Workload& workload : arm.workloads) add_rows(document, arm, workload, rows);
  return rows;
}

/// As the printers of llama-bench write a value: true and false are 1 and 0.
std::string as_text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6f}", value.get<double>());
  return value.dump();
}

/// In quotes of one kind, which are doubled inside.
std::string quoted(const std::string& value, char quote) {
  std::string result(1, quote);
  for (const char letter : value)
    result += letter == quote ? std::string(2, quote) : std::string(1, letter);
  return result + quote;
}

template <class Write>
std::string joined(const char* separator, Write write) {
  std::string line;
  for (const Field& field : fields) line += (line.empty() ? "" : separator) + write(field);
  return line;
}

std::string test_name(const Row& row) {
  std::string name =
      row.n_gen > 0 ? fmt::format("tg{}", row.n_gen) : fmt::format("pp{}", row.n_prompt);
  if (row.n_depth > 0) name += fmt::format(" @ d{}", row.n_depth);
  return name;
}

std::string size_text(const Row& row) {
  const Json size = model_size(row);
  if (size.is_null()) return "";
  const double mib = size.get<double>() / (1 << 20);
  return mib < 1024 ? fmt::format("{:.2f} MiB", mib) : fmt::format("{:.2f} GiB", mib / 1024);
}

std::string parameters_text(const Row& row) {
  const auto& target = row.document->target.value;
  if (!target) return "";
  const auto count = static_cast<double>(target->parameters);
  return count < 1e9 ? fmt::format("{:.2f} M", count / 1e6) : fmt::format("{:.2f} B", count / 1e9);
}

std::string in_cell(std::string value) {
  for (std::size_t bar = value.find('|'); bar != std::string::npos; bar = value.find('|', bar + 2))
    value.insert(bar, "\\");
  return value;
}

}  // namespace

std::string llama_bench_json(const Document& document) {
  Json tests = Json::array();
  for (const Row& row : rows_of(document)) {
    Json test;
    for (const Field& field : fields) test[field.name] = field.value(row);
    Json samples_ns = Json::array();
    for (const double time : nanoseconds(row)) samples_ns.push_back(rounded(time));
    test["samples_ns"] = std::move(samples_ns);
    test["samples_ts"] = row.rates;
    tests.push_back(std::move(test));
  }
  return tests.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string llama_bench_csv(const Document& document) {
  std::string lines =
      joined(",", [](const Field& field) { return std::string(field.name); }) + "\n";
  for (const Row& row : rows_of(document))
    lines += joined(",",
                    [&](const Field& field) {
                      return quoted(util::printable(as_text(field.value(row))), '"');
                    }) +
             "\n";
  return lines;
}

std::string llama_bench_markdown(const Document& document) {
  std::string lines =
      "| model                          |       size |     params | backend    | threads | type_k "
      "| "
      "type_v |            test |                  t/s |\n"
      "| ------------------------------ | ---------: | ---------: | ---------- | ------: | -----: "
      "| "
      "-----: | --------------: | -------------------: |\n";
  const auto rows = rows_of(document);
  for (const Row& row : rows)
    lines += fmt::format(
        "| {:<30} | {:>10} | {:>10} | {:<10} | {:>7} | {:>6} | {:>6} | {:>15} | {:>20} |\n",
        in_cell(model_type(row)), size_text(row), parameters_text(row), in_cell(backends(row)),
        as_text(or_null(row.arm->settings.threads)),
        in_cell(util::printable(as_text(or_null(row.arm->settings.cache_type_k)))),
        in_cell(util::printable(as_text(or_null(row.arm->settings.cache_type_v)))), test_name(row),
        fmt::format("{:.2f} ± {:.2f}", mean(row.rates), deviation(row.rates)));
  if (rows.empty()) return lines;
  return lines + fmt::format("\nbuild: {} ({})\n", util::printable(build_commit(rows.front())),
                             as_text(build_number(rows.front())));
}

std::string llama_bench_sql(const Document& document) {
  std::string lines =
      "CREATE TABLE IF NOT EXISTS llama_bench (\n" +
      joined(",\n",
             [](const Field& field) { return fmt::format("  {} {}", field.name, field.type); }) +
      "\n);\n\n";
  const std::string names =
      joined(", ", [](const Field& field) { return std::string(field.name); });
  for (const Row& row : rows_of(document))
    lines += "INSERT INTO llama_bench (" + names + ") VALUES (" +
             joined(", ",
                    [&](const Field& field) {
                      const Json value = field.value(row);
                      if (value.is_null()) return std::string("NULL");
                      return quoted(util::printable(as_text(value)), '\'');
                    }) +
             ");\n";
  return lines;
}

}  // namespace paceline::report
