#include <algorithm>

#include "claim/number.hpp"
#include "claim/readers/reader.hpp"

// Lines of vLLM, SGLang and others in which keys and values follow each other.

namespace paceline::claim {

namespace {

using enum Figure;

/// A value behind a key of such a line.
struct Item {
  const char* key;
  Figure figure;
  const char* unit = "";
  const char* definition = "";
};

/// A kind of line: what it is known by, and its items.
struct Kind {
  const char* format;
  const char* sign;
  std::vector<Item> items;
  const char* list = nullptr;  ///< the key before acceptance by position
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"vLLM log",
       "SpecDecoding metrics:",
       {{"Mean acceptance length", acceptance_length},
        {"Accepted:", accepted},
        {"Drafted:", offered},
        {"Avg Draft acceptance rate", acceptance, "", "accepted / offered"}},
       "Per-position acceptance rate:"},
      {"vLLM V0 log",
       "Speculative metrics:",
       {{"Draft acceptance rate", acceptance, "", "matches / offered, also behind a mismatch"},
        {"Number of speculative tokens", draft_limit},
        {"Number of accepted tokens", accepted, "", "matches, also behind a mismatch"},
        {"Number of draft tokens", offered},
        {"Number of emitted tokens", emitted}}},
      {"vLLM log",
       "Avg generation throughput:",
       {{"Avg generation throughput", tokens_per_s, "", "of all requests together"},
        {"Running", concurrency}}},
      {"SGLang log",
       "Decode batch",
       {{"gen throughput (token/s)", tokens_per_s, "", "of all requests together"},
        {"#running-req", concurrency},
        {"accept len", acceptance_length},
        {"accept rate", acceptance}}},
      {"trtllm-bench",
       "[AR] AVERAGE",
       {{"[AR] AVERAGE", acceptance_length, "", "a length, though its name says rate"}}},
      {"server log",
       "Decoded:",
       {{"Decoded", tokens}, {"tokens in", decode_s}, {"s (", tokens_per_s}}},
      {"server log",
       "avg_tok/step=",
       {{"steps", passes},
        {"proposed", offered},
        {"accepted", accepted},
        {"rate", acceptance, "", "accepted / offered"},
        {"avg_tok/step", tokens_per_pass}}},
      {"server log",
       "| tok/cycle",
       {{"accept ", accepted},
        {"/", offered},
        {"| tok/cycle", tokens_per_pass, "", "tokens / passes"},
        {"tok/s", tokens_per_s},
        {"cycles", passes}}},
  };
  return all;
}

class EngineLog : public LineReader {
 public:
  bool take(const Line& line, Collector& out) override {
    for (const Kind& kind : kinds()) {
      if (line.text.find(kind.sign) == std::string_view::npos) continue;
      if (read(kind, line, out)) return true;
    }
    return false;
  }

 private:
  bool read(const Kind& kind, const Line& line, Collector& out) {
    Row read;
    for (const Item& item : kind.items)
      if (const auto value = behind(line.text, item.key))
        add_figure(read, item.figure, number_of(*value), line, item.unit, item.definition);
    if (kind.list != nullptr)
      if (const auto list = behind(line.text, kind.list)) add_list(*list, line, read);
    if (read.stated.empty()) return false;
    Row& row = row_of(kind, read, line, out);
    for (Stated& one : read.stated) row.add(std::move(one));
    return true;
  }

  /// A second line of the same request or moment goes on with the first one's row.
  Row& row_of(const Kind& kind, const Row& read, const Line& line, Collector& out) {
    const bool goes_on =
        row_ != nullptr && line.number - last_ <= 3 && row_->format == kind.format &&
        std::none_of(read.stated.begin(), read.stated.end(),
                     [&](const Stated& one) { return row_->find(one.figure) != nullptr; });
    last_ = line.number;
    if (goes_on) return *row_;
    if (format_ != kind.format) out.new_group();
    format_ = kind.format;
    row_ = &out.add_row(kind.format, line.source());
    row_->context["load"] = "yes";
    return *row_;
  }

  /// A number ends where anything but one begins: "0.55s", "11,", "57/60".
  static std::string_view number_of(std::string_view text) {
    const std::string_view word = first_word(text);
    const std::size_t end = word.find_first_not_of("0123456789.%");
    return end == 0 ? word : word.substr(0, end);
  }

  static void add_list(std::string_view text, const Line& line, Row& row) {
    Stated stated{acceptance_at, {}, {}, {}, line.source(), {}};
    while (stated.values.size() < 4096) {
      const std::string_view word = first_word(text);
      const auto one = parse_figure(word, acceptance_at);
      if (!one) break;
      stated.values.push_back(*one);
      stated.text += (stated.text.empty() ? "" : " ") + std::string(word);
      const auto next = static_cast<std::size_t>(word.data() - text.data()) + word.size();
      if (next >= text.size() || text[next] != ',') break;
      text = text.substr(next + 1);
    }
    if (!stated.values.empty()) row.add(std::move(stated));
  }

  Row* row_ = nullptr;
  long last_ = 0;
  std::string format_;
};

}  // namespace

std::unique_ptr<LineReader> make_engine_log_reader() { return std::make_unique<EngineLog>(); }

}  // namespace paceline::claim
