// How long Paceline takes to start, against a program that does nothing: wall time from before the
// start of the process until it is gone, the commands taking turns.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "child.hpp"
#include "machine/machine.hpp"
#include "metrics/interval.hpp"

namespace {

using paceline::bench::run_to_end;

struct Contestant {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<double> milliseconds;
};

std::vector<Contestant> contestants(const std::string& programs) {
  std::vector<Contestant> all{{"true", {"/bin/true"}, {}},
                              {"paceline --version", {programs + "/paceline", "--version"}, {}},
                              {"paceline --help", {programs + "/paceline", "--help"}, {}}};
  const std::string llama_bench = programs + "/llama-bench";
  if (::access(llama_bench.c_str(), X_OK) == 0)
    all.push_back({"llama-bench --help", {llama_bench, "--help"}, {}});
  return all;
}

/// One turn each, the order moved on by one every time; the first turn warms the page cache.
paceline::util::Result<void> take_turns(std::vector<Contestant>& all, int turns) {
  for (int turn = 0; turn <= turns; ++turn) {
    for (auto& contestant : all) {
      PACELINE_TRY_ASSIGN(const auto ran, run_to_end(contestant.arguments));
      if (turn > 0) contestant.milliseconds.push_back(1000 * ran.seconds);
    }
    std::rotate(all.begin(), all.begin() + 1, all.end());
  }
  return {};
}

void print(std::vector<Contestant> all) {
  std::sort(all.begin(), all.end(),
            [](const auto& one, const auto& other) { return one.name < other.name; });
  fmt::print("{:<20} {:>8}  {}\n", "command", "ms", "95 % interval of the geometric mean");
  for (const auto& contestant : all) {
    const auto estimate = paceline::metrics::over_launches(contestant.milliseconds);
    fmt::print("{:<20} {:>8.2f}  [{:.2f}-{:.2f}]\n", contestant.name, *estimate.value,
               *estimate.low, *estimate.high);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Wall time of starting paceline, against a program that does nothing.", "startup");
  int turns = 100;
  app.add_option("--turns", turns, "starts of each command")
      ->type_name("STARTS")
      ->check(CLI::Range(3, 100000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  auto all = contestants(self.parent_path().string());
  if (const auto ran = take_turns(all, turns); !ran) {
    fmt::print(stderr, "startup: {}\n", ran.error().message);
    return 1;
  }
  fmt::print("{}; n = {} starts each, taking turns\n",
             paceline::machine::read_machine().processor.value_or("unknown processor"), turns);
  print(std::move(all));
  return 0;
}
