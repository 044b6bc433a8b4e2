#include <fmt/format.h>

#include <algorithm>

#include "machine/probe/survey.hpp"

namespace paceline::machine {

namespace {

constexpr double longest_bandwidth_s = 0.3;
constexpr double all_bandwidth_s = 8;
/// Beside its samples: taking the memory and touching it.
constexpr double setup_s = 0.15;
constexpr double gather_s = 0.06;
constexpr double table_s = 1;

constexpr std::uint64_t row_sizes[] = {64, 256, 1024, 4096, 8192};
constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t large_table = 1u << 30;
constexpr std::uint64_t table_step = 128u << 10;
constexpr int most_single_counts = 16;

std::vector<int> thread_counts(int cpus) {
  std::vector<int> counts;
  for (int threads = 1; threads < cpus;
       threads = cpus <= most_single_counts ? threads + 1 : 2 * threads)
    counts.push_back(threads);
  counts.push_back(cpus);
  return counts;
}

/// Half of the cache that a core has alone, half of the last one, four times the last one, and a
/// large one, as far as memory allows.
std::vector<std::uint64_t> table_sizes(const Topology& topology, std::uint64_t available_bytes) {
  const std::uint64_t last = topology.llc_each_bytes.value_or(0);
  const std::uint64_t most = available_bytes / 4;
  std::vector<std::uint64_t> sizes{topology.l2_bytes.value_or(0) / 2, last / 2, 4 * last,
                                   std::max(large_table, 8 * last)};
  for (auto& size : sizes) size = std::min(size, most) / table_step * table_step;
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (!sizes.empty() && sizes.front() == 0) sizes.erase(sizes.begin());
  return sizes;
}

void plan_bandwidth(SurveyPlan& plan, const Topology& topology, int cpus,
                    std::uint64_t available_bytes) {
  const auto add = [&](int threads, Pages pages, Access access, const MemoryNode* node) {
    plan.bandwidth.push_back({node != nullptr ? std::optional(node->id) : std::nullopt,
                              {threads, enough_bytes(topology, threads, available_bytes), pages,
                               access, node != nullptr ? node->cpus : std::vector<int>{}}});
  };
  for (const int threads : thread_counts(cpus)) {
    add(threads, Pages::huge, Access::read, nullptr);
    add(threads, Pages::small, Access::read, nullptr);
    add(threads, Pages::huge, Access::triad, nullptr);
  }
  if (topology.nodes.size() < 2) return;
  for (const auto& node : topology.nodes)
    if (!node.cpus.empty())
      add(static_cast<int>(node.cpus.size()), Pages::huge, Access::read, &node);
}

void plan_gather(SurveyPlan& plan, const std::vector<std::uint64_t>& tables) {
  for (const Pages pages : {Pages::huge, Pages::small}) {
    for (const std::uint64_t table : tables)
      for (const std::uint64_t row : row_sizes)
        for (const bool dependent : {false, true})
          plan.gather.push_back({pages, {row, table, 0, dependent}});
    // The same rows, each on two pages.
    if (!tables.empty())
      plan.gather.push_back({pages, {page_bytes, tables.back(), page_bytes / 2, false}});
  }
}

}  // namespace

SurveyPlan plan_survey(const Topology& topology, int cpus, std::uint64_t available_bytes) {
  SurveyPlan plan;
  plan.cache_bytes = topology.llc_each_bytes.value_or(0);
  plan_bandwidth(plan, topology, cpus, available_bytes);
  plan_gather(plan, table_sizes(topology, available_bytes));
  const auto setups = static_cast<double>(plan.bandwidth.size());
  plan.bandwidth_s = std::min(longest_bandwidth_s, all_bandwidth_s / setups);
  plan.expected_s = setups * (plan.bandwidth_s + setup_s) +
                    gather_s * static_cast<double>(plan.gather.size()) + 2 * table_s;
  return plan;
}

std::string SurveyPlan::says() const {
  std::string text = fmt::format("{} settings of threads, pages and access", bandwidth.size());
  if (!gather.empty())
    text += fmt::format(", rows of {} to {} bytes gathered out of tables of up to {} MiB",
                        gather.front().setup.row_bytes, row_sizes[std::size(row_sizes) - 1],
                        gather.back().setup.table_bytes >> 20);
  return text;
}

}  // namespace paceline::machine
