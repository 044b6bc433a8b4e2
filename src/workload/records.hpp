#pragma once

#include <functional>
#include <string_view>

#include "util/json.hpp"
#include "util/result.hpp"

namespace paceline::workload {

/// Takes one record; throws util::JsonMismatch at one that makes no sense.
using TakeRecord = std::function<void(const util::Json& record)>;

/// Calls `take` with each record of hostile text: a JSON array, or JSON Lines with blank lines
/// between. One record is held at a time. Errors name `source` and the line, or the record of an
/// array; records are counted from 1.
util::Result<void> for_each_record(std::string_view text, std::string_view source,
                                   const TakeRecord& take);

}  // namespace paceline::workload
