#include "metrics/sample.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "metrics/bytes_read.hpp"

namespace paceline::metrics {

namespace {

using PromptKey = std::pair<std::string, std::string>;  // class, prompt id

std::size_t done_prompts(const trace::Launch& launch) {
  std::set<PromptKey> done;
  for (const auto& request : launch.requests)
    if (is_measured(request) && count_request(request))
      done.insert({request.workload_class, request.prompt_id});
  return done.size();
}

std::size_t asked_prompts(const trace::Trace& trace) {
  std::set<PromptKey> asked;
  for (const auto& launch : trace.launches)
    if (!launch.held_out)
      for (const auto& request : launch.requests)
        if (is_measured(request)) asked.insert({request.workload_class, request.prompt_id});
  return asked.size();
}

/// A decode window of no length or no token has no rate.
bool has_rate(const Counts& counts) { return counts.decode_tokens > 0 && counts.decode_s > 0; }

using PromptMap = std::map<std::string, PromptCells>;

void count_bytes(const trace::Launch& launch, const trace::Setup* setup,
                 const trace::Request& request, Counts& counts) {
  if (setup == nullptr || !launch.facts) {
    counts.bytes_read = Bytes::unknown("what a pass reads was not asked for");
    return;
  }
  auto bytes = bytes_read(*launch.facts, *setup, request);
  if (!bytes) {
    counts.bytes_read = Bytes::unknown(bytes.error().message);
    return;
  }
  counts.bytes_read = total_bytes(*bytes);
  counts.bytes_by_class = std::move(bytes->by_class);
  counts.rows_gathered = std::move(bytes->rows_gathered);
  counts.bytes_are_modelled = bytes->has_model;
}

void collect_launch(const trace::Launch& launch, std::size_t index, std::size_t launches,
                    std::string_view workload_class, const trace::Setup* setup, PromptMap& prompts,
                    Sample& sample) {
  for (const auto& request : launch.requests) {
    if (!is_measured(request) || request.workload_class != workload_class) continue;
    sample.filled_tokens = request.filled_tokens;
    auto& cells = prompts[request.prompt_id];
    cells.prompt_id = request.prompt_id;
    cells.family = request.family.empty() ? request.prompt_id : request.family;
    cells.launches.resize(launches);
    if (auto counts = count_request(request)) {
      count_bytes(launch, setup, request, *counts);
      add(cells.launches[index], *counts);
    } else {
      ++sample.requests_failed;
    }
  }
}

using DeepClass = std::pair<std::string, int>;  // class, depth: "@16384" stands behind "@4096"

std::set<DeepClass> deep_classes_of(const trace::Trace& trace) {
  std::set<DeepClass> found;
  for (const auto& launch : trace.launches)
    for (const auto& request : launch.requests)
      if (is_measured(request))
        found.insert({trace::base_class(request.workload_class, request.filled_tokens),
                      request.filled_tokens});
  return found;
}

}  // namespace

bool is_measured(const trace::Request& request) {
  return !request.warm_up && !request.synced && !request.excluded;
}

std::vector<std::string> classes_of(const trace::Trace& trace) {
  std::vector<std::string> names;
  for (const auto& [name, depth] : deep_classes_of(trace))
    names.push_back(trace::class_at(name, depth));
  return names;
}

std::vector<std::string> shallowest_classes_of(const trace::Trace& trace) {
  const auto all = deep_classes_of(trace);
  const auto least =
      std::min_element(all.begin(), all.end(),
                       [](const DeepClass& a, const DeepClass& b) { return a.second < b.second; });
  std::vector<std::string> names;
  for (const auto& [name, depth] : all)
    if (depth == least->second) names.push_back(trace::class_at(name, depth));
  return names;
}

std::vector<const trace::Launch*> counted_launches(const trace::Trace& trace,
                                                   std::string_view arm) {
  const auto asked = asked_prompts(trace);
  std::vector<const trace::Launch*> counted;
  for (const auto& launch : trace.launches) {
    if (launch.arm != arm || launch.held_out) continue;
    if (std::none_of(launch.requests.begin(), launch.requests.end(), is_measured)) continue;
    const bool is_lost = launch.outcome.kind != trace::OutcomeKind::done;
    if (is_lost && 2 * done_prompts(launch) < asked) continue;
    counted.push_back(&launch);
  }
  std::sort(counted.begin(), counted.end(),
            [](const auto* a, const auto* b) { return a->index < b->index; });
  return counted;
}

Sample collect(const std::vector<const trace::Launch*>& launches, std::string_view workload_class,
               const trace::Setup* setup) {
  Sample sample;
  PromptMap prompts;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    sample.rounds.push_back(launches[i]->round);
    collect_launch(*launches[i], i, launches.size(), workload_class, setup, prompts, sample);
  }
  for (auto& [id, cells] : prompts) {
    if (std::all_of(cells.launches.begin(), cells.launches.end(), has_rate))
      sample.prompts.push_back(std::move(cells));
    else
      ++sample.prompts_excluded;
  }
  return sample;
}

std::vector<std::size_t> Sample::units() const {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> result;
  for (const auto& prompt : prompts)
    result.push_back(numbers.try_emplace(prompt.family, numbers.size()).first->second);
  return result;
}

std::size_t Sample::families() const {
  const auto numbers = units();
  return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end()) + 1;
}

Counts Sample::pooled() const {
  Counts total;
  for (const auto& prompt : prompts)
    for (const auto& cell : prompt.launches) add(total, cell);
  return total;
}

double Sample::n_eff() const {
  std::map<std::string, double> tokens;
  for (const auto& prompt : prompts)
    for (const auto& cell : prompt.launches)
      tokens[prompt.family] += static_cast<double>(cell.output_tokens);
  std::vector<double> by_family;
  for (const auto& [family, count] : tokens) by_family.push_back(count);
  return effective_prompts(by_family);
}

Sample shared_part(const Sample& sample, const Sample& other) {
  Sample part;
  part.filled_tokens = sample.filled_tokens;
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < sample.rounds.size(); ++i) {
    const int round = sample.rounds[i];
    const bool is_taken = std::count(part.rounds.begin(), part.rounds.end(), round) > 0;
    if (is_taken || std::count(other.rounds.begin(), other.rounds.end(), round) == 0) continue;
    part.rounds.push_back(round);
    columns.push_back(i);
  }
  // Launches of one round stand side by side in both arms, whichever of the arms came first.
  std::sort(columns.begin(), columns.end(), [&sample](std::size_t a, std::size_t b) {
    return sample.rounds[a] < sample.rounds[b];
  });
  std::sort(part.rounds.begin(), part.rounds.end());
  for (const auto& prompt : sample.prompts) {
    if (std::none_of(other.prompts.begin(), other.prompts.end(), [&prompt](const auto& candidate) {
          return candidate.prompt_id == prompt.prompt_id;
        }))
      continue;
    PromptCells cells{prompt.prompt_id, prompt.family, {}};
    for (const auto column : columns) cells.launches.push_back(prompt.launches[column]);
    part.prompts.push_back(std::move(cells));
  }
  return part;
}

std::optional<Figure> mean_per_token(const Sample& sample, Field field) {
  const auto units = sample.units();
  const auto launches = sample.rounds.size();
  const auto prompts = static_cast<double>(sample.prompts.size());
  std::vector<double> per_token;
  Figure figure;
  for (const auto& prompt : sample.prompts) {
    double sum = 0;
    double tokens = 0;
    for (const auto& cell : prompt.launches) {
      sum += field(cell);
      tokens += static_cast<double>(cell.decode_tokens);
    }
    per_token.push_back(sum / tokens);
    figure.value += per_token.back();
  }
  if (!(figure.value > 0)) return std::nullopt;
  figure.value /= prompts;

  figure.deviations = Grid(sample.families(), launches);
  const double unit_weight = static_cast<double>(sample.families()) / prompts;
  for (std::size_t p = 0; p < sample.prompts.size(); ++p) {
    const auto& cells = sample.prompts[p].launches;
    double mean_tokens = 0;
    for (const auto& cell : cells)
      mean_tokens += static_cast<double>(cell.decode_tokens) / static_cast<double>(launches);
    for (std::size_t l = 0; l < launches; ++l) {
      const double rest =
          field(cells[l]) - per_token[p] * static_cast<double>(cells[l].decode_tokens);
      const double cell_value = per_token[p] + rest / mean_tokens;
      figure.deviations.at(units[p], l) += unit_weight * (cell_value / figure.value - 1);
    }
  }
  return figure;
}

std::optional<Figure> pooled_ratio(const Sample& sample, Field numerator, Field denominator) {
  double top = 0;
  double bottom = 0;
  for (const auto& prompt : sample.prompts) {
    for (const auto& cell : prompt.launches) {
      top += numerator(cell);
      bottom += denominator(cell);
    }
  }
  if (!(bottom > 0) || std::isnan(top)) return std::nullopt;
  Figure figure;
  figure.value = top / bottom;
  const auto units = sample.units();
  const auto launches = sample.rounds.size();
  figure.deviations = Grid(sample.families(), launches);
  if (!(top > 0)) return figure;
  const double cells = static_cast<double>(sample.families() * launches);
  for (std::size_t p = 0; p < sample.prompts.size(); ++p) {
    for (std::size_t l = 0; l < launches; ++l) {
      const auto& cell = sample.prompts[p].launches[l];
      figure.deviations.at(units[p], l) +=
          cells * (numerator(cell) - figure.value * denominator(cell)) / top;
    }
  }
  return figure;
}

}  // namespace paceline::metrics
