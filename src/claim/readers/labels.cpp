#include <algorithm>

#include "claim/number.hpp"
#include "claim/readers/reader.hpp"

// Blocks of "label: value" and "label = value": the ends of llama-speculative, of vLLM's and
// SGLang's bench_serving and of trtllm-bench.

namespace paceline::claim {

namespace {

using enum Figure;

constexpr long longest_gap = 12;  ///< lines between two of one block

struct Label {
  const char* label;  ///< by plain_head
  Figure figure;
  const char* unit;
  const char* definition;
};

constexpr std::array labels = {
    Label{"n draft", draft_limit, "", ""},
    Label{"n predict", tokens, "", ""},
    Label{"n drafted", offered, "", ""},
    Label{"n accept", accepted, "", ""},
    Label{"successful requests", requests, "", ""},
    Label{"maximum request concurrency", concurrency, "", ""},
    Label{"total generated tokens", tokens, "", ""},
    Label{"output token throughput tok/s", tokens_per_s, "", "of all requests together"},
    Label{"peak output token throughput tok/s", peak_tokens_per_s, "", "of all requests together"},
    Label{"mean tpot ms", seconds_per_token, "ms", ""},
    Label{"mean ttft ms", ttft_s, "ms", ""},
    Label{"acceptance rate %", acceptance, "%", "accepted / offered"},
    Label{"acceptance length", acceptance_length, "", ""},
    Label{"acceptance length benchmark", acceptance_length, "", ""},
    Label{"accept length", acceptance_length, "", ""},
    Label{"drafts", passes_speculative, "", ""},
    Label{"draft tokens", offered, "", ""},
    Label{"accepted tokens", accepted, "", ""},
    Label{"ar average", acceptance_length, "", "a length, though its name says rate"},
};

class Labels : public LineReader {
 public:
  bool take(const Line& line, Collector& out) override {
    const std::string_view text = trimmed(line.text);
    if (text.find("Benchmark Result") != std::string_view::npos ||
        text.find("DECODING STATISTICS") != std::string_view::npos) {
      begin(line, text.starts_with("= ") ? "trtllm-bench" : "bench_serving", out);
      return true;
    }
    if (text.starts_with("decoded ")) return decoded(line, text, out);
    const std::size_t sign = text.find_first_of(":=");
    if (sign == std::string_view::npos || sign > 60 || sign == 0) return false;
    const std::string label = plain_head(text.substr(0, sign));
    const std::string_view value = trimmed(text.substr(sign + 1));
    if (label.starts_with("position ")) return position(label, value, line);
    const auto found = std::find_if(labels.begin(), labels.end(),
                                    [&](const Label& one) { return label == one.label; });
    if (found == labels.end() || !parse_figure(first_word(value), found->figure, found->unit))
      return false;
    Row& row = row_of(line, found->figure, first_word(value), out);
    add_figure(row, found->figure, value, line, found->unit, found->definition);
    return true;
  }

  /// A block of one figure is no block: "accepted: 3" in some log.
  void end(Collector&) override { drop_single(); }

 private:
  void begin(const Line& line, const char* format, Collector& out) {
    drop_single();
    out.new_group();
    row_ = &out.add_row(format, line.source());
    row_->context["load"] = "yes";
    last_ = line.number;
    announced_ = true;
  }

  void drop_single() {
    if (row_ != nullptr && !announced_ && row_->stated.size() < 2) row_->stated.clear();
  }

  /// A figure that comes again with another value begins another block.
  Row& row_of(const Line& line, Figure figure, std::string_view text, Collector& out) {
    const bool too_far = line.number - last_ > longest_gap;
    const Stated* before = row_ == nullptr ? nullptr : row_->find(figure);
    if (row_ == nullptr || too_far || (before != nullptr && before->text != text)) {
      drop_single();
      out.new_group();
      row_ = &out.add_row("figures with labels", line.source());
      announced_ = false;
    }
    last_ = line.number;
    return *row_;
  }

  bool decoded(const Line& line, std::string_view text, Collector& out) {
    const auto speed = behind(text, "speed:");
    const auto time = behind(text, " in ");
    if (!speed || !time || !parse_figure(first_word(*speed), tokens_per_s)) return false;
    drop_single();
    out.new_group();
    row_ = &out.add_row("llama-speculative", line.source());
    announced_ = true;
    last_ = line.number;
    add_figure(*row_, tokens_per_s, *speed, line);
    add_figure(*row_, decode_s, *time, line);
    add_figure(*row_, tokens, text.substr(8), line);
    return true;
  }

  bool position(const std::string& label, std::string_view value, const Line& line) {
    const auto share = parse_figure(first_word(value), acceptance_at, "%");
    if (row_ == nullptr || !share) return false;
    const std::size_t index =
        row_->find(acceptance_at) == nullptr ? 0 : row_->find(acceptance_at)->values.size();
    if (label != "position " + std::to_string(index)) return false;
    if (index == 0)
      row_->add({acceptance_at, {}, {*share}, std::string(value), line.source(), {}});
    else
      for (Stated& one : row_->stated)
        if (one.figure == acceptance_at && one.values.size() < 4096) one.values.push_back(*share);
    last_ = line.number;
    return true;
  }

  Row* row_ = nullptr;
  long last_ = 0;
  bool announced_ = false;  ///< the block had a head of its own
};

}  // namespace

std::unique_ptr<LineReader> make_label_reader() { return std::make_unique<Labels>(); }

}  // namespace paceline::claim
