#pragma once

#include <string>
#include <string_view>

#include "trace/mix.hpp"
#include "util/result.hpp"

namespace paceline::workload {

/// A mix from "code=0.4,prose=0.3,json=0.3": shares of output tokens, and every request of so many
/// output tokens. Refused where a share is no number or they do not add up to 1.
util::Result<trace::Mix> parse_mix_shares(std::string_view text, int tokens_per_request);

/// A mix from hostile TOML: name, shares_of = "tokens" or "requests", and a table
/// [classes.NAME] each with share, tokens_per_request and depth. Shares of requests become shares
/// of output tokens by the tokens per request that are frozen there. Errors name `source` and the
/// line.
util::Result<trace::Mix> parse_mix_file(std::string_view text, std::string_view source);

/// What --mix names: a file when it ends in .toml, else shares.
util::Result<trace::Mix> load_mix(const std::string& shares_or_path, int tokens_per_request);

}  // namespace paceline::workload
