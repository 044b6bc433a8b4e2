#include "claim/figure.hpp"

#include <array>

namespace paceline::claim {

namespace {

struct Entry {
  Figure figure;
  const char* name;
  Dimension dimension;
  std::array<const char*, 7> also;  ///< what --given takes beside the name
};

using enum Figure;
using D = Dimension;

constexpr std::array entries = {
    Entry{tokens_per_s, "tokens_per_s", D::rate, {"spec", "tps", "speed", "tok/s", "decode", "tg"}},
    Entry{base_tokens_per_s, "base_tokens_per_s", D::rate, {"base", "plain", "baseline"}},
    Entry{peak_tokens_per_s, "peak_tokens_per_s", D::rate, {"peak"}},
    Entry{prefill_tokens_per_s, "prefill_tokens_per_s", D::rate, {"prefill", "pp"}},
    Entry{passes_per_s, "passes_per_s", D::rate, {"forwards/s", "passes/s"}},
    Entry{seconds_per_token, "seconds_per_token", D::seconds, {"tpot"}},
    Entry{base_seconds_per_token, "base_seconds_per_token", D::seconds, {"base_tpot"}},
    Entry{decode_s, "decode_s", D::seconds, {"seconds", "time"}},
    Entry{prefill_s, "prefill_s", D::seconds, {}},
    Entry{ttft_s, "ttft_s", D::seconds, {"ttft"}},
    Entry{output_tokens, "output_tokens", D::count, {}},
    Entry{tokens, "tokens", D::count, {"n"}},
    Entry{emitted, "emitted", D::count, {}},
    Entry{prompt_tokens, "prompt_tokens", D::count, {}},
    Entry{prompt_cached, "prompt_cached", D::count, {"cached"}},
    Entry{prompt_processed, "prompt_processed", D::count, {}},
    Entry{requests, "requests", D::count, {}},
    Entry{passes, "passes", D::count, {"forwards", "steps"}},
    Entry{passes_speculative, "passes_speculative", D::count, {"drafts", "rounds"}},
    Entry{offered, "offered", D::count, {"drafted", "proposed"}},
    Entry{accepted, "accepted", D::count, {}},
    Entry{generated, "generated", D::count, {}},
    Entry{attempts, "attempts", D::count, {}},
    Entry{acceptance, "acceptance", D::ratio, {"accept", "accept_rate", "ar"}},
    Entry{accepted_per_pass, "accepted_per_pass", D::length, {}},
    Entry{tokens_per_pass, "tokens_per_pass", D::length, {"tau", "mal"}},
    Entry{acceptance_length, "acceptance_length", D::length, {"al"}},
    Entry{offered_per_pass, "offered_per_pass", D::length, {}},
    Entry{draft_per_pass, "draft_per_pass", D::length, {"avg_draft"}},
    Entry{fire_rate, "fire_rate", D::ratio, {}},
    Entry{draft_limit, "draft_limit", D::count, {"k", "n_max", "draft_n_max"}},
    Entry{most_tokens_per_pass, "most_tokens_per_pass", D::length, {}},
    Entry{share_of_most, "share_of_most", D::ratio, {}},
    Entry{speedup, "speedup", D::ratio, {"gain"}},
    Entry{pass_cost, "pass_cost", D::ratio, {"c", "cost"}},
    Entry{identity_gap, "identity_gap", D::count, {}},
    Entry{engaged_share, "engaged_share", D::ratio, {}},
    Entry{acceptance_at, "acceptance_at", D::ratio, {"positions"}},
    Entry{bytes_per_pass, "bytes_per_pass", D::bytes, {"bytes"}},
    Entry{parameters, "parameters", D::count, {"params", "active"}},
    Entry{bits_per_weight, "bits_per_weight", D::length, {"bits", "bpw"}},
    Entry{file_bytes, "file_bytes", D::bytes, {"size"}},
    Entry{bandwidth, "bandwidth", D::bytes_per_s, {}},
    Entry{ceiling_passes_per_s, "ceiling_passes_per_s", D::rate, {}},
    Entry{ceiling_share, "ceiling_share", D::ratio, {}},
    Entry{share, "share", D::ratio, {"w"}},
    Entry{pat_decode, "pat_decode", D::rate, {"pat"}},
    Entry{perplexity, "perplexity", D::score, {"ppl"}},
    Entry{depth, "depth", D::count, {"kv_position"}},
    Entry{concurrency, "concurrency", D::count, {"np", "batch"}},
    Entry{memory_bytes, "memory_bytes", D::bytes, {"memory", "vram"}},
    Entry{launches, "launches", D::count, {}},
    Entry{prompts, "prompts", D::count, {}},
    Entry{n_eff, "n_eff", D::count, {}},
};
static_assert(entries.size() == figures, "a figure has no entry");

const Entry& entry_of(Figure figure) { return entries[static_cast<std::size_t>(figure)]; }

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].figure != static_cast<Figure>(i)) return false;
  return true;
}
static_assert(is_in_order(), "entries stand in the order of the enumeration");

bool stays(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '/' || c == '%' || c == '+' ||
         c == '@' || c == '#';
}

}  // namespace

const char* name_of(Figure figure) { return entry_of(figure).name; }

Dimension dimension_of(Figure figure) { return entry_of(figure).dimension; }

std::optional<Figure> figure_of(std::string_view name) {
  for (const Entry& entry : entries) {
    if (name == entry.name) return entry.figure;
    for (const char* other : entry.also)
      if (other != nullptr && name == other) return entry.figure;
  }
  return std::nullopt;
}

std::vector<std::string> given_names() {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.emplace_back(entry.also[0] ? entry.also[0] : entry.name);
  return names;
}

std::string plain_head(std::string_view text) {
  std::string plain;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (stays(c))
      plain += c;
    else if (!plain.empty() && plain.back() != ' ')
      plain += ' ';
  }
  if (!plain.empty() && plain.back() == ' ') plain.pop_back();
  return plain;
}

}  // namespace paceline::claim
