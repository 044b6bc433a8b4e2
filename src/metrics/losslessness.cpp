#include "metrics/losslessness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "metrics/sample.hpp"
#include "util/sha256.hpp"

namespace paceline::metrics {

namespace {

using Tokens = std::vector<std::int32_t>;

/// What one request emitted, and its place in the run, which decides which one is first.
struct Text {
  std::tuple<int, int, trace::Nanoseconds> place;  // launch, repetition, start
  const trace::Request* request = nullptr;
  Tokens tokens;

  bool has_ids() const {
    return std::count(tokens.begin(), tokens.end(), trace::unknown_token) == 0;
  }
};

using Texts = std::map<std::string, std::vector<Text>>;  // by prompt, the first one first

Tokens tokens_of(const trace::Request& request) {
  Tokens tokens;
  for (const auto& emission : request.emissions)
    tokens.insert(tokens.end(), emission.tokens.begin(), emission.tokens.end());
  return tokens;
}

Texts texts_of(const trace::Trace& trace, std::string_view arm, std::string_view workload_class) {
  Texts texts;
  for (const auto& launch : trace.launches) {
    if (launch.arm != arm) continue;
    for (const auto& request : launch.requests) {
      if (!is_measured(request) || request.workload_class != workload_class) continue;
      if (!count_request(request)) continue;
      const std::tuple place{launch.index, request.repetition, request.prefill.began_ns};
      texts[request.prompt_id].push_back({place, &request, tokens_of(request)});
    }
  }
  for (auto& [prompt, all] : texts)
    std::sort(all.begin(), all.end(),
              [](const Text& a, const Text& b) { return a.place < b.place; });
  return texts;
}

/// Number of the first token that differs, from 1; the end of the shorter text counts as one. 0
/// when none does.
int first_difference(const Tokens& a, const Tokens& b) {
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return at == a.end() && other == b.end() ? 0 : static_cast<int>(at - a.begin()) + 1;
}

/// By ids, or by what they spell where a server does not say its ids.
bool are_equal(const Text& a, const Text& b) {
  return a.has_ids() && b.has_ids() ? a.tokens == b.tokens : a.request->text == b.request->text;
}

/// As first_difference of the tokens; 0 where ids are not known too.
int first_difference(const Text& a, const Text& b) {
  return a.has_ids() && b.has_ids() ? first_difference(a.tokens, b.tokens) : 0;
}

/// Index of the pass that a token came from, or -1.
int pass_of(const trace::Request& request, int token) {
  int emitted = 0;
  for (const auto& emission : request.emissions) {
    emitted += static_cast<int>(emission.tokens.size());
    if (emitted >= token) return emission.pass;
  }
  return -1;
}

int width_of(const trace::Request& request, int token) {
  const int last = pass_of(request, token);
  int width = 0;
  int widest = 0;
  for (const auto& pass : request.passes) {
    if (pass.index > last) continue;
    widest = std::max(widest, pass.width);
    if (pass.index == last) width = pass.width;
  }
  return width == 1 ? widest : width;
}

bool makes_its_own_text(const trace::Arm& arm) {
  return arm.sampling.temp == 0.0 && !arm.setup.forced;
}

bool has_greedy_texts(const trace::Trace& trace) {
  return !trace.header.force_text &&
         std::all_of(trace.header.arms.begin(), trace.header.arms.end(),
                     [](const trace::Arm& arm) { return arm.sampling.temp == 0.0; });
}

/// The SHA-256 of the ids, each as four bytes, the lowest first; empty where one is not known.
std::string digest_of(const Text& text) {
  if (!text.has_ids()) return "";
  util::Sha256 sha256;
  for (const std::int32_t token : text.tokens) {
    const auto bits = static_cast<std::uint32_t>(token);
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<char>(bits >> shift & 0xff));
    sha256.add(bytes);
  }
  return sha256.digits().value_or("");
}

/// The arm's first text that is not plain's, else its first one.
const Text& telling_text(const std::vector<Text>& texts, const Text& plain) {
  const auto other = std::find_if(texts.begin(), texts.end(),
                                  [&](const Text& text) { return !are_equal(text, plain); });
  return other == texts.end() ? texts.front() : *other;
}

std::optional<double> margin_at(const trace::Trace& trace, std::string_view plain,
                                std::string_view workload_class, const ComparedText& text) {
  for (const auto& launch : trace.launches) {
    if (launch.arm != plain) continue;
    for (const auto& rereading : launch.rereadings)
      for (const auto& margin : rereading.margins)
        if (margin.workload_class == workload_class && margin.prompt_id == text.prompt_id &&
            margin.token == text.first_difference)
          return margin.top2;
  }
  return std::nullopt;
}

std::optional<double> near_tie_limit(const trace::Trace& trace, std::string_view plain, int width) {
  for (const auto& launch : trace.launches) {
    if (launch.arm != plain) continue;
    for (const auto& rereading : launch.rereadings)
      for (const auto& difference : rereading.widths)
        if (difference.width == width && difference.logits > 0)
          return near_tie_factor * difference.p99;
  }
  return std::nullopt;
}

/// One text beside that of the arm `plain`.
ComparedText compare(const trace::Trace& trace, std::string_view plain_arm,
                     std::string_view workload_class, const std::string& prompt, const Text& text,
                     const Text& plain) {
  ComparedText compared;
  compared.prompt_id = prompt;
  compared.digest = digest_of(text);
  compared.plain_digest = digest_of(plain);
  if (are_equal(text, plain)) return compared;
  compared.verdict = Verdict::unknown;
  compared.first_difference = first_difference(text, plain);
  if (compared.first_difference == 0) return compared;
  compared.width = width_of(*text.request, compared.first_difference);
  compared.margin = margin_at(trace, plain_arm, workload_class, compared);
  compared.limit = near_tie_limit(trace, plain_arm, compared.width);
  if (compared.margin && compared.limit)
    compared.verdict = *compared.margin < *compared.limit ? Verdict::near_tie : Verdict::wrong;
  return compared;
}

int Lossless::*counter_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::equal:
      return &Lossless::equal;
    case Verdict::near_tie:
      return &Lossless::near_tie;
    case Verdict::unknown:
      return &Lossless::unknown;
    case Verdict::wrong:
      break;
  }
  return &Lossless::wrong;
}

std::string sentence(const ComparedText& text) {
  if (text.verdict == Verdict::equal) return util::enum_name(text.verdict);
  if (text.first_difference == 0)
    return fmt::format("{}: prompt {}, whose token ids are not known",
                       util::enum_name(text.verdict), text.prompt_id);
  std::string says =
      fmt::format("{}: first at token {} of prompt {}", util::enum_name(text.verdict),
                  text.first_difference, text.prompt_id);
  if (text.margin && text.limit)
    says += fmt::format(
        ", where plain's two best logits are {:.3g} apart and width {} accounts "
        "for {:.3g}",
        *text.margin, text.width, *text.limit);
  return says;
}

void add(Lossless& lossless, ComparedText text) {
  ++lossless.texts;
  ++(lossless.*counter_of(text.verdict));
  if (lossless.texts == 1 || text.verdict > lossless.verdict) {
    lossless.verdict = text.verdict;
    lossless.says = sentence(text);
  }
  lossless.each.push_back(std::move(text));
}

}  // namespace

std::vector<Divergence> find_divergences(const trace::Trace& trace) {
  std::vector<Divergence> found;
  if (!has_greedy_texts(trace)) return found;
  for (const auto& workload_class : classes_of(trace)) {
    for (const auto& arm : trace.header.arms) {
      if (trace::is_denominator(arm) || !makes_its_own_text(arm)) continue;
      const Texts plain = texts_of(trace, arm.plain, workload_class);
      for (const auto& [prompt, texts] : texts_of(trace, arm.name, workload_class)) {
        const auto reference = plain.find(prompt);
        if (reference == plain.end()) continue;
        const Text& expected = reference->second.front();
        const Text& text = telling_text(texts, expected);
        if (const int token = first_difference(text, expected); token > 0)
          found.push_back({workload_class, prompt, arm.plain, token, width_of(*text.request, token),
                           expected.tokens});
      }
    }
  }
  return found;
}

std::optional<Lossless> compare_texts(const trace::Trace& trace, std::string_view arm,
                                      std::string_view plain, std::string_view workload_class) {
  if (!has_greedy_texts(trace)) return std::nullopt;
  const Texts expected = texts_of(trace, plain, workload_class);
  Lossless lossless;
  for (const auto& [prompt, texts] : texts_of(trace, arm, workload_class)) {
    const auto reference = expected.find(prompt);
    if (reference == expected.end()) continue;
    const Text& wanted = reference->second.front();
    add(lossless,
        compare(trace, plain, workload_class, prompt, telling_text(texts, wanted), wanted));
  }
  if (lossless.texts == 0) return std::nullopt;
  return lossless;
}

}  // namespace paceline::metrics
