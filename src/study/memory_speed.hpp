#pragma once

#include <vector>

#include "model/read_facts.hpp"
#include "trace/memory_speed.hpp"

namespace paceline::study {

/// Reads memory with so many threads for a part of a second, and rows in random order out of tables
/// as large as those of `tables` that no cache holds. Gives the memory back before it returns.
trace::MemorySpeed measure_memory(int threads, const std::vector<model::RowsRead>& tables);

}  // namespace paceline::study
