#pragma once

#include <functional>
#include <vector>

#include "util/result.hpp"

namespace paceline::machine {

/// Runs `turn` with the numbers 0 to threads - 1 on a thread each, all starting together, again and
/// again as long as `again`, asked before every turn while all wait, says so. With `cpus` they run
/// on those alone. The error says why threads could not be started or bound.
util::Result<void> in_turns(int threads, const std::vector<int>& cpus,
                            const std::function<bool()>& again,
                            const std::function<void(int)>& turn);

}  // namespace paceline::machine
