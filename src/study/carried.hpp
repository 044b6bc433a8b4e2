#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "protocol/job.hpp"
#include "trace/request.hpp"
#include "workload/prompt.hpp"

namespace paceline::study {

/// What the launches of a run leave for those to come.
class Carried {
 public:
  /// The tokens that plain said to a prompt, when it came to its end.
  void keep_text(const workload::Prompt& prompt, const trace::Request& request);

  /// Empty: plain gave none.
  std::vector<std::int32_t> text_of(const workload::Prompt& prompt) const;
  bool has_texts() const { return !texts_.empty(); }

  /// From the first request that says how many tokens its prompt has: the text below others is the
  /// same in all launches.
  void learn_bytes_per_token(const protocol::Generate& job, const trace::Request& request);

  /// Of a server's prompts; a usual one before any was learned.
  double bytes_per_token() const { return bytes_per_token_.value_or(usual_bytes_per_token); }

 private:
  static constexpr double usual_bytes_per_token = 4;

  std::optional<double> bytes_per_token_;
  std::map<std::pair<std::string, std::string>, std::vector<std::int32_t>>
      texts_;  ///< by class and prompt
};

}  // namespace paceline::study
