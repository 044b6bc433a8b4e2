#include <fmt/format.h>

#include <algorithm>

#include "claim/readers/reader.hpp"
#include "claim/readers/said.hpp"
#include "dialect/dialect.hpp"
#include "dialect/prometheus.hpp"

// Dumps of /metrics, by the parsers of the server dialects: the movement from nothing.

namespace paceline::claim {

namespace {

using enum Figure;

struct Server {
  const char* prefix;
  const char* dialect;
};
constexpr std::array servers = {Server{"llamacpp:", "llama-server"}, Server{"vllm:", "vllm"},
                                Server{"sglang:", "sglang"}, Server{"trtllm_", "tensorrt_llm"}};

bool is_sample(std::string_view line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return false;
  const std::size_t end = line.find_first_of(" {");
  return end != std::string_view::npos && end > prefix.size();
}

class Metrics : public LineReader {
 public:
  bool take(const Line& line, Collector& out) override {
    const std::string_view text = trimmed(line.text);
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const std::string_view prefix = servers[i].prefix;
      if (is_sample(text, prefix)) return keep(i, text, line);
      if (text.starts_with('#') && text.find(prefix) != std::string_view::npos) return true;
      // The whole body as one string of JSON.
      if (text.starts_with("\"#") && text.find(prefix) != std::string_view::npos) {
        read(servers[i].dialect, std::string(text), line.source(), out);
        return true;
      }
    }
    return rapid(text, line, out);
  }

  void end(Collector& out) override {
    for (std::size_t i = 0; i < servers.size(); ++i)
      if (!texts_[i].empty()) read(servers[i].dialect, texts_[i], sources_[i], out);
  }

 private:
  bool keep(std::size_t server, std::string_view text, const Line& line) {
    if (texts_[server].empty()) sources_[server] = line.source();
    texts_[server].append(text).push_back('\n');
    return true;
  }

  /// rapid-mlx counts attempts alone.
  static bool rapid(std::string_view text, const Line& line, Collector& out) {
    constexpr std::string_view name = "rapid_mlx_spec_decode_attempts_total";
    if (!text.starts_with(name)) return false;
    const auto counters = dialect::read_prometheus(text, {name});
    const auto count = counters ? dialect::counter(*counters, name) : std::nullopt;
    if (!count) return false;
    out.new_group();
    Row& row = out.add_row("rapid-mlx /metrics", line.source());
    row.since_start = true;
    row.add({attempts,
             exactly(*count),
             {},
             std::string(first_word(text.substr(name.size()))),
             line.source(),
             {}});
    return true;
  }

  static void read(const char* name, const std::string& text, const std::string& source,
                   Collector& out) {
    const dialect::Dialect* const dialect = dialect::find(name);
    auto after = dialect->read_counters(text);
    if (!after) return;
    dialect::Counters before = *after;
    for (auto& [metric, value] : before.values) value = 0;
    for (auto& [metric, list] : before.by_position) std::fill(list.begin(), list.end(), 0.0);
    // Gauges of load say whether somebody is served now, which does not spoil a sum.
    for (auto& [metric, value] : after->values)
      if (!metric.ends_with("_total")) value = 0;
    out.new_group();
    Row& row = out.add_row("/metrics", std::string(name) + " /metrics");
    row.since_start = true;
    add_said(dialect->moved(before, *after, std::nullopt).said, source, row);
    for (Stated& one : row.stated)
      if (one.definition.starts_with("what the counter moved by"))
        one.definition = "of every request since the server's start";
    read_v0(*after, source, row);
  }

  /// vLLM V0 counts matches behind a mismatch: what it emitted is what counts.
  static void read_v0(const dialect::Counters& counters, const std::string& source, Row& row) {
    const auto out_of_drafts =
        dialect::counter(counters, "vllm:spec_decode_num_emitted_tokens_total");
    if (!out_of_drafts) return;
    const auto add = [&](Figure figure, const char* metric, const char* definition) {
      if (const auto value = dialect::counter(counters, metric))
        row.add({figure,
                 exactly(*value),
                 {},
                 fmt::format("{:.15g}", *value),
                 source + ", " + metric,
                 definition});
    };
    add(emitted, "vllm:spec_decode_num_emitted_tokens_total", "");
    add(offered, "vllm:spec_decode_num_draft_tokens_total", "");
    add(accepted, "vllm:spec_decode_num_accepted_tokens_total", "matches, also behind a mismatch");
  }

  std::array<std::string, servers.size()> texts_;
  std::array<std::string, servers.size()> sources_;
};

}  // namespace

std::unique_ptr<LineReader> make_metrics_reader() { return std::make_unique<Metrics>(); }

}  // namespace paceline::claim
