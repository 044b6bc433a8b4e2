#pragma once

#include <vector>

#include "document/document.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// The servers behind the arms, in the order of the arms; an arm whose server never answered, or
/// that ran in no server, has none.
std::vector<Server> to_servers(const trace::Trace& trace);

}  // namespace paceline::document
