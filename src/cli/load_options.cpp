#include "cli/load_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "study/load.hpp"

namespace paceline::cli {

namespace {

constexpr const char* group = "Load";
constexpr int most_at_once = 100'000;
constexpr double lowest_rate = 1e-3;
constexpr double highest_rate = 1e5;
constexpr int most_requests = 10'000'000;

template <class Value>
bool has_twice(const std::vector<Value>& values) {
  return std::set<Value>(values.begin(), values.end()).size() != values.size();
}

}  // namespace

void add_load_options(CLI::App& command, study::LoadOptions& loads) {
  command
      .add_option("--concurrency", loads.levels,
                  "Keep so many requests in flight, each level once a launch; a server that is "
                  "started gets as many slots as the highest level")
      ->delimiter(',')
      ->check(CLI::Range(1, most_at_once))
      ->type_name("N[,N..]")
      ->default_str("none")
      ->group(group);
  command
      .add_option("--rate", loads.rates,
                  "Send so many requests a second at times drawn before the run, whatever still "
                  "runs; latency counts from when a request was due")
      ->delimiter(',')
      ->check(CLI::Range(lowest_rate, highest_rate))
      ->type_name("R[,R..]")
      ->default_str("none")
      ->group(group);
  command
      .add_option("--requests", loads.requests,
                  "Requests of each load; prompts are taken again where they are fewer")
      ->check(CLI::Range(1, most_requests))
      ->type_name("N")
      ->default_str("one a prompt, and at least two for each in flight")
      ->group(group);
}

util::Result<void> check_load_options(const study::LoadOptions& loads,
                                      const ServerSettings& server) {
  const auto misused = [](std::string message) {
    return util::fail(util::ErrorKind::usage, std::move(message));
  };
  if (!loads.any())
    return loads.requests ? misused("--requests is of a load: add --concurrency or --rate")
                          : util::Result<void>{};
  if (!server.is_managed() && !server.is_remote())
    return misused(
        "the embedded engine runs one request at a time: add --server-bin FILE or --url URL to "
        "measure many at once");
  if (has_twice(loads.levels) || has_twice(loads.rates))
    return misused("--concurrency or --rate names the same load twice");
  const int highest = slots_for(loads);
  if (!loads.levels.empty() && loads.requests && *loads.requests < highest)
    return misused(fmt::format("{} requests cannot keep {} in flight: raise --requests",
                               *loads.requests, highest));
  return {};
}

int slots_for(const study::LoadOptions& loads) {
  return loads.levels.empty() ? 1 : *std::max_element(loads.levels.begin(), loads.levels.end());
}

std::vector<std::string> describe_loads(const study::LoadOptions& loads, std::size_t prompts) {
  std::vector<std::string> levels, lines;
  for (const int level : loads.levels)
    levels.push_back(
        fmt::format("{} ({} requests)", level, study::requests_of_cell(loads, level, prompts)));
  if (!levels.empty())
    lines.push_back(fmt::format("loads: in every launch also {} at once", fmt::join(levels, ", ")));
  if (!loads.rates.empty())
    lines.push_back(fmt::format("loads: in every launch also {} requests a second, {} each",
                                fmt::join(loads.rates, ", "),
                                study::requests_of_cell(loads, 0, prompts)));
  return lines;
}

}  // namespace paceline::cli
