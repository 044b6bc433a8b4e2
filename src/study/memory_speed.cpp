#include "study/memory_speed.hpp"

#include <algorithm>

#include "machine/machine.hpp"
#include "machine/probe/bandwidth.hpp"
#include "machine/probe/disk_pages.hpp"
#include "machine/probe/gather.hpp"
#include "machine/probe/topology.hpp"

namespace paceline::study {

namespace {

constexpr double read_for_s = 0.4;
constexpr double disk_for_s = 0.4;
constexpr int gather_samples = 5;
constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t seed = 1;

/// Weights lie in mapped files: on small pages.
std::optional<trace::GatherTime> time_gather(const model::RowsRead& table, std::uint64_t llc_bytes,
                                             std::uint64_t most_bytes) {
  trace::GatherTime time;
  time.name = table.name;
  time.row_bytes = (table.row_bytes + line_bytes - 1) / line_bytes * line_bytes;
  if (time.row_bytes == 0) return std::nullopt;
  time.table_bytes = std::min(table.table_bytes, most_bytes) / time.row_bytes * time.row_bytes;
  if (time.table_bytes <= llc_bytes) return std::nullopt;
  auto probe = machine::GatherProbe::make(time.table_bytes, machine::Pages::small, llc_bytes, seed);
  if (!probe) return std::nullopt;
  time.ns_per_row = probe->ns_per_row(
      {.row_bytes = time.row_bytes, .table_bytes = time.table_bytes}, gather_samples);
  return time;
}

}  // namespace

trace::MemorySpeed measure_memory(int threads, const std::vector<model::RowsRead>& tables,
                                  const std::optional<model::TensorRange>& on_disk,
                                  std::uint64_t launch_seed) {
  trace::MemorySpeed speed;
  speed.threads = threads;
  speed.llc_bytes = machine::read_topology().llc_bytes;
  if (auto probe = machine::read_probe(threads); !probe) {
    speed.reason = probe.error().message;
  } else if (auto samples = probe->samples(read_for_s); !samples) {
    speed.reason = samples.error().message;
  } else {
    speed.read_bytes_per_s = std::move(*samples);
  }
  const std::uint64_t most = machine::read_machine().memory_available_bytes.value_or(0) / 4;
  for (const model::RowsRead& table : tables)
    if (auto time = time_gather(table, speed.llc_bytes.value_or(0), most)) {
      if (on_disk && on_disk->bytes == table.table_bytes)
        time->ns_per_disk_page =
            machine::ns_per_disk_page(on_disk->path, on_disk->offset, on_disk->bytes,
                                      table.row_bytes, launch_seed, disk_for_s)
                .value_or(std::vector<double>());
      speed.gathers.push_back(std::move(*time));
    }
  return speed;
}

}  // namespace paceline::study
