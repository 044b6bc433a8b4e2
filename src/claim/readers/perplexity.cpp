#include <cctype>

#include "claim/number.hpp"
#include "claim/readers/reader.hpp"

// The ends of llama-perplexity, of all generations.

namespace paceline::claim {

namespace {

using enum Figure;

class Perplexity : public LineReader {
 public:
  bool take(const Line& line, Collector& out) override {
    if (is_chunks(line.text)) return true;
    for (const char* const name :
         {"Final estimate: PPL =", "Mean PPL(Q)", "perplexity :", "Mean PPL(base)"})
      if (const auto value = behind(line.text, name)) return estimate(name, *value, line, out);
    return line.text.find("KLD:") != std::string_view::npos ||
           line.text.find("Same top p:") != std::string_view::npos ||
           line.text.find("Cor(ln(PPL(Q))") != std::string_view::npos;
  }

 private:
  /// "[1]6.2578,[2]7.0820,": per chunk, and the last one is the estimate so far.
  static bool is_chunks(std::string_view text) {
    text = trimmed(text);
    if (text.size() < 4 || text.front() != '[' || text[1] < '0' || text[1] > '9') return false;
    const std::size_t close = text.find(']');
    return close < 8 && close + 1 < text.size() &&
           (std::isdigit(static_cast<unsigned char>(text[close + 1])) != 0 ||
            text.substr(close + 1).starts_with("nan")) &&
           text.find(',') != std::string_view::npos;
  }

  bool estimate(const char* name, std::string_view text, const Line& line, Collector& out) {
    if (text.starts_with("nan") || text.starts_with("-nan") || text.starts_with("inf")) {
      out.remark("no_perplexity", line.source(), "the perplexity is no number: the run is broken");
      return true;
    }
    const auto range = parse_figure(trimmed(text), perplexity);
    if (!range) return false;
    out.new_group();
    Row& row = out.add_row("llama-perplexity", line.source());
    if (std::string_view(name) == "Mean PPL(base)") row.label += " (base)";
    row.add({perplexity,
             *range,
             {},
             std::string(trimmed(text)),
             line.source(),
             "\xC2\xB1 as printed: the standard error over tokens"});
    return true;
  }
};

}  // namespace

std::unique_ptr<LineReader> make_perplexity_reader() { return std::make_unique<Perplexity>(); }

}  // namespace paceline::claim
