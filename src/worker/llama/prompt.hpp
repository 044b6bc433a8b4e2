#pragma once

#include <vector>

#include "protocol/job.hpp"
#include "util/result.hpp"

namespace paceline::worker {

struct LoadedModel;

/// Refuses a request of which no seed, prompt or output length could come true. `n_ctx` and
/// `vocabulary` are the loaded model's.
util::Result<void> check_request(const std::vector<std::int32_t>& prompt, int n_predict,
                                 std::uint32_t seed, int n_ctx, int vocabulary);

/// The token ids of a job's prompt, checked against the model; messages go through the chat
/// template first.
util::Result<std::vector<std::int32_t>> read_prompt(LoadedModel& model,
                                                    const protocol::Generate& job);

}  // namespace paceline::worker
