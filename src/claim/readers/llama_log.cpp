#include <fmt/format.h>

#include <cctype>

#include "claim/number.hpp"
#include "claim/readers/reader.hpp"

// Lines of llama-server and of other programs of llama.cpp, of all generations: with and without a
// prefix, one item or one request a line.

namespace paceline::claim {

namespace {

using enum Figure;

constexpr const char* format = "llama.cpp log";

class LlamaLog : public LineReader {
 public:
  bool take(const Line& line, Collector& out) override {
    const std::string_view text = line.text;
    if (text.find("statistics ") != std::string_view::npos &&
        text.find("#gen tokens") != std::string_view::npos)
      return statistics(line, out);
    if (text.find("eval time") != std::string_view::npos) return timing(line, out);
    if (text.find("draft acceptance") != std::string_view::npos) return drafts(line, out);
    if (const auto rate = behind(text, "tg =")) return progress(line, *rate, out);
    if (text.find("slot print_timing: id") != std::string_view::npos) {
      row_ = nullptr;
      return true;
    }
    if (const auto id = behind(text, "build_info")) return build(*id, out);
    if (text.starts_with("build: ")) return build(text.substr(7), out);
    return false;
  }

 private:
  Row& row_of(const Line& line, Collector& out, bool begins) {
    const auto task = behind(line.text, "| task ");
    const std::string label =
        task ? "task " + std::string(first_word(*task)) : "line " + std::to_string(line.number);
    const bool other_task =
        task && row_ != nullptr && row_->label.starts_with("task ") && row_->label != label;
    if (row_ == nullptr || begins || other_task) {
      out.new_group();
      row_ = &out.add_row(format, label);
      if (!build_.empty()) row_->context["build"] = build_;
    }
    return *row_;
  }

  /// llama-bench says it below its table, llama-server before all else.
  bool build(std::string_view text, Collector& out) {
    build_ = std::string(trimmed(text.substr(0, 80)));
    if (out.group() != named_group_) out.add_context("build", build_);
    named_group_ = out.group();
    return true;
  }

  /// "eval time = 23038.87 ms / 275 tokens (..)"; a time of 0 or a rate of inf is no measurement.
  bool timing(const Line& line, Collector& out) {
    const bool prompt = line.text.find("prompt eval time") != std::string_view::npos;
    const auto value = behind(line.text, "eval time");
    const std::size_t slash = value ? value->find('/') : std::string_view::npos;
    if (slash == std::string_view::npos) return false;
    const std::string_view ms = first_word(*value);
    const std::string_view count = first_word(value->substr(slash + 1));
    const auto time = parse_figure(ms, decode_s, "ms");
    if (!time) return false;
    Row& row = row_of(line, out, prompt && row_ != nullptr && row_->find(decode_s) != nullptr);
    if (!(time->high > 1e-5)) {
      out.remark("no_measurement", row.label,
                 fmt::format("{} has no time in it: nothing was measured there", line.source()));
      return true;
    }
    const bool runs = value->find("runs") != std::string_view::npos;
    if (prompt) {
      add_figure(row, prefill_s, ms, line, "ms");
      add_figure(row, prompt_processed, count, line);
      return true;
    }
    add_figure(row, decode_s, ms, line, "ms");
    // Programs with "runs" count decode calls: the first token came with the prompt.
    add_figure(row, tokens, count, line, {}, runs ? "decode calls" : "");
    const auto rate = behind(*value, "ms per token,");
    if (rate && rate->find("per second") != std::string_view::npos)
      add_figure(row, tokens_per_s, *rate, line);
    return true;
  }

  /// "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length = .."
  bool drafts(const Line& line, Collector& out) {
    const auto open = behind(line.text, "(");
    const std::size_t slash = open ? open->find('/') : std::string_view::npos;
    if (slash == std::string_view::npos) return false;
    const auto rate =
        behind(line.text, line.text.find("acceptance rate =") != std::string_view::npos
                              ? "acceptance rate"
                              : "draft acceptance");
    Row& row = row_of(line, out, false);
    if (!add_figure(row, accepted, *open, line)) return false;
    add_figure(row, offered, open->substr(slash + 1), line);
    if (rate) add_figure(row, acceptance, *rate, line, {}, "accepted / offered");
    for (const char* const name : {"mean acceptance length", "mean len"})
      if (const auto length = behind(line.text, name))
        add_figure(row, acceptance_length, *length, line);
    for (const char* const name : {"acceptance rate per position = (", "acc per pos = ("})
      if (const auto list = behind(line.text, name)) positions(*list, line, row);
    return true;
  }

  void positions(std::string_view list, const Line& line, Row& row) {
    Stated stated{acceptance_at, {}, {}, std::string(list.substr(0, list.find(')'))),
                  line.source(), {}};
    for (std::string_view rest = stated.text; !rest.empty() && stated.values.size() < 4096;) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      const auto one = parse_figure(rest.substr(0, end), acceptance_at);
      if (!one) return;
      stated.values.push_back(*one);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (!stated.values.empty()) row.add(std::move(stated));
  }

  /// "n_decoded = 140, tg = 13.64 t/s": a running total; the last one of a request counts, and only
  /// where nothing better comes.
  bool progress(const Line& line, std::string_view rate, Collector& out) {
    const auto speed = parse_figure(first_word(rate), tokens_per_s);
    if (!speed) return false;
    const bool known = row_ != nullptr && row_->find(decode_s) != nullptr;
    Row& row = row_of(line, out, known);
    std::erase_if(row.stated, [](const Stated& one) {
      return one.figure == tokens_per_s || one.figure == tokens;
    });
    add_figure(row, tokens_per_s, rate, line, {}, "so far");
    for (const char* const name : {"n_decoded", "n_gen"})
      if (const auto count = behind(line.text, name)) add_figure(row, tokens, *count, line);
    return true;
  }

  /// One line for each kind of drafter, since the server's start.
  bool statistics(const Line& line, Collector& out) {
    const auto name = behind(line.text, "statistics ");
    std::string drafter(first_word(*name));
    while (drafter.ends_with(':')) drafter.pop_back();
    out.new_group();
    Row& row = out.add_row("llama.cpp statistics", "statistics " + drafter);
    row.since_start = true;
    row.context["drafter"] = drafter;
    if (const auto calls = behind(line.text, "#calls(b,g,a)")) {
      add_figure(row, requests, *calls, line);
      const auto drafted = trimmed(calls->substr(first_word(*calls).size()));
      add_figure(row, attempts, drafted, line);
    }
    const std::array<std::pair<const char*, Figure>, 4> items = {
        {{"#gen drafts", passes_speculative},
         {"#gen tokens", offered},
         {"#acc tokens", accepted},
         {"#mean acc len", acceptance_length}}};
    for (const auto& [key, figure] : items)
      if (const auto value = behind(line.text, key)) add_figure(row, figure, *value, line);
    return true;
  }

  Row* row_ = nullptr;
  std::string build_;
  int named_group_ = 0;  ///< whose rows have their build
};

}  // namespace

std::unique_ptr<LineReader> make_llama_log_reader() { return std::make_unique<LlamaLog>(); }

}  // namespace paceline::claim
