#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/request.hpp"
#include "workload/prompt.hpp"

namespace paceline::study {

/// What plain said to each prompt, for all arms to follow.
class Texts {
 public:
  /// Keeps the tokens of a request that ended well.
  void keep(const workload::Prompt& prompt, const trace::Request& request) {
    if (request.outcome.kind != trace::OutcomeKind::done) return;
    auto& text = texts_[{prompt.workload_class, prompt.id}];
    for (const auto& emission : request.emissions)
      text.insert(text.end(), emission.tokens.begin(), emission.tokens.end());
  }

  /// Its tokens; none where plain gave none.
  std::vector<std::int32_t> of(const workload::Prompt& prompt) const {
    const auto found = texts_.find({prompt.workload_class, prompt.id});
    return found == texts_.end() ? std::vector<std::int32_t>() : found->second;
  }

  bool empty() const { return texts_.empty(); }

 private:
  std::map<std::pair<std::string, std::string>, std::vector<std::int32_t>> texts_;
};

}  // namespace paceline::study
