#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/read_facts.hpp"
#include "model/table_on_disk.hpp"
#include "trace/memory_speed.hpp"

namespace paceline::study {

/// Reads memory with so many threads for a part of a second, and rows in random order out of tables
/// as large as those of `tables` that no cache holds; and, where one of them is `on_disk`, rows of
/// that one itself, other ones in every launch. Gives the memory back before it returns.
trace::MemorySpeed measure_memory(int threads, const std::vector<model::RowsRead>& tables,
                                  const std::optional<model::TensorRange>& on_disk,
                                  std::uint64_t seed);

}  // namespace paceline::study
