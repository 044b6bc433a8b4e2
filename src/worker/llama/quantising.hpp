#pragma once

#include <string>

#include "protocol/job.hpp"
#include "util/result.hpp"

namespace paceline::worker {

/// Writes `source` with its matrices stored as `quant`, as `llama-quantize --pure` does: norms,
/// other vectors and convolutions stay as they are, the embedding and the head are of the same type
/// as the rest, and a matrix whose rows don't fill whole blocks of 32 becomes F16. F32 from F16 is
/// exact. What is quantised already is refused, as it would be rounded twice.
util::Result<void> quantise(const std::string& source, protocol::Quant quant,
                            const std::string& destination);

}  // namespace paceline::worker
