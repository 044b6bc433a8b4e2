#pragma once

#include "trace/facts.hpp"
#include "util/result.hpp"

namespace paceline::worker {

/// What ggml's backends can compute on, with its memory now; the error says why no backend started.
util::Result<trace::Devices> list_devices();

}  // namespace paceline::worker
