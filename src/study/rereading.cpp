#include "study/rereading.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "metrics/losslessness.hpp"

namespace paceline::study {

namespace {

/// Texts that are read in passes of every width too: each has a vocabulary of logits for every
/// token of it, of which a percentile needs no more.
constexpr std::size_t most_compared = 8;

using Key = std::pair<std::string, std::string>;  // class, prompt id

const workload::Prompt* find_prompt(const RunOptions& options, const Key& key) {
  for (const auto& prompt : options.prompts.measured)
    if (prompt.workload_class == key.first && prompt.id == key.second) return &prompt;
  return nullptr;
}

protocol::KnownText known_text(const workload::Prompt& prompt,
                               const std::vector<std::int32_t>& tokens) {
  protocol::KnownText text;
  text.workload_class = prompt.workload_class;
  text.prompt_id = prompt.id;
  text.prompt = prompt.text;
  text.messages = prompt.messages;
  text.tokens = tokens;
  return text;
}

}  // namespace

std::vector<protocol::Reread> plan_rereading(const trace::Trace& trace, const RunOptions& options,
                                             std::string_view plain) {
  std::map<Key, protocol::KnownText> texts;
  std::set<int> widths;
  for (const auto& found : metrics::find_divergences(trace)) {
    if (found.plain != plain) continue;
    const Key key{found.workload_class, found.prompt_id};
    const workload::Prompt* prompt = find_prompt(options, key);
    if (prompt == nullptr || std::cmp_greater(found.token, found.plain_tokens.size())) continue;
    auto& text = texts.try_emplace(key, known_text(*prompt, found.plain_tokens)).first->second;
    if (std::count(text.places.begin(), text.places.end(), found.token) == 0)
      text.places.push_back(found.token);
    if (found.width > 1) widths.insert(found.width);
  }
  if (texts.empty()) return {};
  protocol::Reread compared{{}, {widths.begin(), widths.end()}};
  protocol::Reread others;
  for (auto& [key, text] : texts) {
    auto& job = compared.texts.size() < most_compared ? compared : others;
    job.texts.push_back(std::move(text));
  }
  std::vector<protocol::Reread> jobs = {std::move(compared)};
  if (!others.texts.empty()) jobs.push_back(std::move(others));
  return jobs;
}

trace::Setup rereading_setup(trace::Setup plain, const std::vector<protocol::Reread>& jobs) {
  for (const auto& job : jobs)
    for (const int width : job.widths) plain.draft_n_max = std::max(plain.draft_n_max, width - 1);
  return plain;
}

}  // namespace paceline::study
