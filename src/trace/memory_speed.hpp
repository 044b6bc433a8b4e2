#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paceline::trace {

/// Rows read in random order from a table as large as one of the model's, as far as there is
/// memory.
struct GatherTime {
  std::string name;  ///< of the class of tensors
  std::uint64_t row_bytes = 0;
  std::uint64_t table_bytes = 0;   ///< of what was gathered from
  std::vector<double> ns_per_row;  ///< a sample each
  /// Of the file's own table where the engine leaves it on disk: what each page took that had to
  /// come from there. Empty: memory held all that were looked at, or the table is loaded whole.
  std::vector<double> ns_per_disk_page = {};
};

/// What the main memory gave just before a launch, to as many threads as the launch has.
struct MemorySpeed {
  int threads = 0;
  std::vector<double> read_bytes_per_s;    ///< a sample for each turn through a buffer; empty: see
                                           ///< `reason`
  std::optional<std::uint64_t> llc_bytes;  ///< of all caches before memory; absent: not known
  std::vector<GatherTime> gathers;
  std::string reason;  ///< why nothing was measured; empty when it was
};

}  // namespace paceline::trace
