#include "metrics/losslessness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "metrics/sample.hpp"

namespace paceline::metrics {

namespace {

using Tokens = std::vector<std::int32_t>;

/// What one request emitted, and its place in the run, which decides which one is first.
struct Text {
  std::tuple<int, int, trace::Nanoseconds> place;  // launch, repetition, start
  Tokens tokens;
};

Tokens tokens_of(const trace::Request& request) {
  Tokens tokens;
  for (const auto& emission : request.emissions)
    tokens.insert(tokens.end(), emission.tokens.begin(), emission.tokens.end());
  return tokens;
}

std::map<std::string, Text> first_texts(const trace::Trace& trace, std::string_view arm,
                                        std::string_view workload_class) {
  std::map<std::string, Text> texts;
  for (const auto& launch : trace.launches) {
    if (launch.arm != arm) continue;
    for (const auto& request : launch.requests) {
      if (!is_measured(request) || request.workload_class != workload_class) continue;
      if (!count_request(request)) continue;
      const std::tuple place{launch.index, request.repetition, request.prefill.began_ns};
      const auto found = texts.find(request.prompt_id);
      if (found != texts.end() && found->second.place <= place) continue;
      texts[request.prompt_id] = {place, tokens_of(request)};
    }
  }
  return texts;
}

/// Number of the first token that differs, from 1; the end of the shorter text counts as one.
std::size_t first_difference(const Tokens& a, const Tokens& b) {
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(at - a.begin()) + 1;
}

bool is_greedy(const trace::Trace& trace) {
  return std::all_of(trace.header.arms.begin(), trace.header.arms.end(),
                     [](const trace::Arm& arm) { return arm.sampling.temp == 0.0; });
}

}  // namespace

std::optional<Lossless> compare_texts(const trace::Trace& trace, std::string_view arm,
                                      std::string_view plain, std::string_view workload_class) {
  if (!is_greedy(trace)) return std::nullopt;
  const auto expected = first_texts(trace, plain, workload_class);
  Lossless lossless;
  lossless.says = "equal";
  for (const auto& [prompt, text] : first_texts(trace, arm, workload_class)) {
    const auto reference = expected.find(prompt);
    if (reference == expected.end()) continue;
    ++lossless.texts;
    if (text.tokens == reference->second.tokens) {
      ++lossless.equal;
    } else if (lossless.says == "equal") {
      lossless.says = fmt::format("differs, cause unknown: first at token {} of prompt {}",
                                  first_difference(text.tokens, reference->second.tokens), prompt);
    }
  }
  if (lossless.texts == 0) return std::nullopt;
  return lossless;
}

}  // namespace paceline::metrics
