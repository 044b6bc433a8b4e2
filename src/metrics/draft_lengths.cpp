#include "metrics/draft_lengths.hpp"

#include <algorithm>
#include <map>

#include "trace/json.hpp"

namespace paceline::metrics {

namespace {

/// The same of arms that differ in nothing but their longest draft.
std::string all_but_length(trace::Arm arm) {
  arm.name.clear();
  arm.setup.draft_n_max = 0;
  return util::dump_json(arm);
}

/// "ctk=q8_0 threads=2": the values that every cell of a group has, of options that have others.
std::string group_name(const trace::Sweep& sweep, const std::vector<DraftLengthCell>& group) {
  std::string name;
  for (std::size_t option = 0; option < sweep.options.size(); ++option) {
    const auto& value = sweep.points[group.front().cell].values[option];
    const bool shared = std::all_of(group.begin(), group.end(), [&](const auto& row) {
      return sweep.points[row.cell].values[option] == value;
    });
    if (shared && sweep.options[option].values.size() > 1)
      name += (name.empty() ? "" : " ") + sweep.options[option].name + "=" + value;
  }
  return name;
}

void add_findings(SweepSummary& summary, const std::vector<DraftLengthCell>& group,
                  const SurelyFaster& surely_faster) {
  std::vector<DraftLengthRow> rows;
  std::vector<std::size_t> cells;
  for (const auto& row : group) {
    const auto& cell = summary.cells[row.cell];
    if (cell.left_out_after || !cell.acceptance || !cell.tokens_per_s.value || !cell.passes_per_s)
      continue;
    rows.push_back(
        {row.draft_length, *cell.acceptance, *cell.tokens_per_s.value, *cell.passes_per_s});
    cells.push_back(row.cell);
  }
  const std::string where = group.front().group.empty() ? "" : group.front().group + ": ";
  const auto trap = find_acceptance_trap(rows, [&](std::size_t one, std::size_t other) {
    return surely_faster(cells[one], cells[other]);
  });
  if (trap) summary.findings.push_back(where + *trap);
  for (const auto& contradiction : find_pass_order_contradictions(rows))
    summary.findings.push_back(where + contradiction);
}

}  // namespace

void fill_draft_lengths(SweepSummary& summary, const trace::Header& header,
                        const SurelyFaster& surely_faster) {
  std::map<std::string, std::vector<DraftLengthCell>> groups;
  for (std::size_t i = 0; i < summary.cells.size(); ++i) {
    const trace::Arm* arm = trace::find_arm(header.arms, summary.cells[i].arm);
    if (arm == nullptr || arm->setup.draft_n_max < 1) continue;
    groups[all_but_length(*arm)].push_back({"", arm->setup.draft_n_max, i});
  }
  for (auto& [key, group] : groups) {
    if (group.size() < 2) continue;
    for (auto& row : group) row.group = group_name(*header.sweep, group);
    std::sort(group.begin(), group.end(), [](const auto& one, const auto& other) {
      return one.draft_length < other.draft_length;
    });
    add_findings(summary, group, surely_faster);
    summary.draft_lengths.insert(summary.draft_lengths.end(), group.begin(), group.end());
  }
}

}  // namespace paceline::metrics
