#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/result.hpp"

namespace paceline::cli {

/// The words of a text as a shell would part them: at spaces, with 'quotes', "quotes" and \ before
/// a single character; nothing is expanded. An open quote is an error.
util::Result<std::vector<std::string>> split_words(std::string_view text);

/// A share as "3%" or "0.03", above 0 and under 1; `option` is named where it is none.
util::Result<double> read_share(const std::string& option, const std::string& text);

/// Seconds as "90s", "10m" or "1.5h".
util::Result<double> read_duration(const std::string& option, const std::string& text);

}  // namespace paceline::cli
