#include "study/carried.hpp"

namespace paceline::study {

void Carried::keep_text(const workload::Prompt& prompt, const trace::Request& request) {
  if (request.outcome.kind != trace::OutcomeKind::done) return;
  auto& text = texts_[{prompt.workload_class, prompt.id}];
  for (const auto& emission : request.emissions)
    text.insert(text.end(), emission.tokens.begin(), emission.tokens.end());
}

std::vector<std::int32_t> Carried::text_of(const workload::Prompt& prompt) const {
  const auto found = texts_.find({prompt.workload_class, prompt.id});
  return found == texts_.end() ? std::vector<std::int32_t>() : found->second;
}

void Carried::learn_bytes_per_token(const protocol::Generate& job, const trace::Request& request) {
  if (bytes_per_token_ || request.prefill.prompt_tokens < 1) return;
  std::size_t bytes = job.prompt.size();
  for (const auto& message : job.messages) bytes += message.content.size();
  bytes_per_token_ = static_cast<double>(bytes) / request.prefill.prompt_tokens;
}

}  // namespace paceline::study
