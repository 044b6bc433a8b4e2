#include "worker/recording.hpp"

#include <utility>

#include "util/assert.hpp"

namespace paceline::worker {

Recording::Recording(std::size_t tokens, std::size_t passes, std::size_t longest_draft,
                     bool keep_gaps)
    : keep_drafts_(longest_draft > 0), keep_gaps_(keep_gaps) {
  passes_.reserve(passes);
  drafts_.reserve(passes);
  draft_ids_.reserve(passes * longest_draft);
  emissions_.reserve(tokens);
  emitted_.reserve(tokens);
  tokens_.reserve(tokens);
  if (keep_gaps) gaps_.reserve(tokens);
}

trace::Pass& Recording::add(trace::Pass pass, std::span<const std::int32_t> offered) {
  PACELINE_ASSERT(pass.index == passes());
  drafts_.push_back({draft_ids_.size(), keep_drafts_ ? offered.size() : 0});
  if (keep_drafts_) draft_ids_.insert(draft_ids_.end(), offered.begin(), offered.end());
  return passes_.emplace_back(std::move(pass));
}

void Recording::emit(trace::Emission emission, std::span<const std::int32_t> tokens) {
  emitted_.push_back({tokens_.size(), tokens.size()});
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  emissions_.push_back(std::move(emission));
}

void Recording::send_pass(std::size_t index, JobPort& port) const {
  trace::Pass pass = passes_[index];
  const auto begin = draft_ids_.begin() + static_cast<std::ptrdiff_t>(drafts_[index].begin);
  pass.draft.assign(begin, begin + static_cast<std::ptrdiff_t>(drafts_[index].size));
  port.say(std::move(pass));
}

void Recording::send_emission(std::size_t index, JobPort& port) const {
  trace::Emission emission = emissions_[index];
  const auto offset = static_cast<std::ptrdiff_t>(emitted_[index].begin);
  const auto size = static_cast<std::ptrdiff_t>(emitted_[index].size);
  emission.tokens.assign(tokens_.begin() + offset, tokens_.begin() + offset + size);
  if (keep_gaps_) emission.top2_gaps.assign(gaps_.begin() + offset, gaps_.begin() + offset + size);
  port.say(std::move(emission));
}

void Recording::flush(JobPort& port) const {
  port.say(prefill);
  std::size_t sent = 0;
  for (std::size_t i = 0; i < emissions_.size(); ++i) {
    for (; sent < passes_.size() && passes_[sent].index <= emissions_[i].pass; ++sent)
      send_pass(sent, port);
    send_emission(i, port);
  }
  for (; sent < passes_.size(); ++sent) send_pass(sent, port);
}

}  // namespace paceline::worker
