#pragma once

#include <functional>
#include <optional>

#include "trace/draft_map.hpp"
#include "trace/request.hpp"

namespace paceline::metrics {

/// What decides the passes of a request beside its text and its drafter.
struct WalkRules {
  int n_predict = 0;     ///< output cap in tokens; 0: the text's own length
  int n_ctx = 0;         ///< context that it has to end in; 0: any
  bool replays = false;  ///< a target that decodes again what it cannot roll back
};

/// The passes and emissions of a request that follows the mapped text and drafts so, without times.
/// Nothing where the map was not asked that way. A token accepted behind the text's end is unknown
/// and counted as not accepted; no pass depends on it.
std::optional<trace::Request> walk(const trace::DraftMap& map, const trace::Drafting& drafting,
                                   const WalkRules& rules);

/// Seconds of a pass that was made with a way of drafting; n_max 0: without any.
using PassSeconds = std::function<double(const trace::Drafting&, const trace::Pass&)>;

/// The fastest request along the text that chooses a length anew before every pass, knowing the
/// text, by shortest path from the end. It is chosen by `expected` times and takes `seconds`: where
/// both are one, the luck of these times is taken for speed. Nothing for a map that was walked:
/// what a drafter knows at a place depends on the way there.
std::optional<trace::Request> oracle(const trace::DraftMap& map, const WalkRules& rules,
                                     const PassSeconds& expected, const PassSeconds& seconds);

/// Gives a walked request its times, pass behind pass.
void put_times(trace::Request& request, const std::function<double(const trace::Pass&)>& seconds);

}  // namespace paceline::metrics
