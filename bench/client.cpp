// What receiving an event costs: Paceline's client beside one made with libcurl, on the same loads
// of a server process. The two take turns in pairs, ABBA, so that a machine that drifts slows both
// alike; the ratio is of each pair, its interval over the pairs.

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>

#include "client_load.hpp"
#include "machine/machine.hpp"
#include "metrics/interval.hpp"

namespace {

namespace util = paceline::util;
using namespace paceline::bench;

struct Settings {
  int pairs = 6;
  int seconds = 5;
};

/// What one client saw, a value a round.
struct Rounds {
  std::vector<double> cpu_us;
  std::vector<double> p50_ms;
  std::vector<double> p99_ms;

  void add(const Seen& seen) {
    cpu_us.push_back(seen.cpu_us_per_event);
    p50_ms.push_back(seen.lag_p50_ms);
    p99_ms.push_back(seen.lag_p99_ms);
  }
};

struct Paired {
  Rounds ours;
  Rounds curl;
};

util::Result<void> allow_descriptors(int needed) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 65536));
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= static_cast<rlim_t>(needed))
    return {};
  return util::fail(util::ErrorKind::usage,
                    fmt::format("{} files may be open, {} are needed: raise the limit (ulimit -n).",
                                limit.rlim_cur, needed));
}

template <class Client>
util::Result<void> add_round(Client client, const Load& load, Rounds& rounds) {
  PACELINE_TRY_ASSIGN(const LoadServer server, LoadServer::start(load));
  PACELINE_TRY_ASSIGN(const Seen seen, client(server.port(), load));
  rounds.add(seen);
  return {};
}

util::Result<Paired> measure(const Load& load, int pairs) {
  Paired paired;
  for (int pair = 0; pair < pairs; ++pair) {
    const bool ours_first = pair % 2 == 0;
    if (ours_first) PACELINE_TRY(add_round(run_ours, load, paired.ours));
    PACELINE_TRY(add_round(run_curl, load, paired.curl));
    if (!ours_first) PACELINE_TRY(add_round(run_ours, load, paired.ours));
  }
  return paired;
}

std::string cell(const std::vector<double>& values) {
  const auto estimate = paceline::metrics::over_launches(values);
  if (!estimate.low) return estimate.reason;
  return fmt::format("{:7.3f} [{:.3f}-{:.3f}]", *estimate.value, *estimate.low, *estimate.high);
}

std::vector<double> ratios(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> each;
  for (std::size_t i = 0; i < over.size(); ++i) each.push_back(over[i] / under[i]);
  return each;
}

void print_row(const char* name, const Rounds& rounds) {
  fmt::print("  {:<10} {:>24} {:>24} {:>24}\n", name, cell(rounds.cpu_us), cell(rounds.p50_ms),
             cell(rounds.p99_ms));
}

void print(const Load& load, const Paired& paired) {
  fmt::print("{} streams x {} events/s\n", load.streams, load.rate);
  fmt::print("  {:<10} {:>24} {:>24} {:>24}\n", "", "CPU, us per event", "lag p50, ms",
             "lag p99, ms");
  print_row("paceline", paired.ours);
  print_row("libcurl", paired.curl);
  print_row("ratio", {ratios(paired.ours.cpu_us, paired.curl.cpu_us),
                      ratios(paired.ours.p50_ms, paired.curl.p50_ms),
                      ratios(paired.ours.p99_ms, paired.curl.p99_ms)});
}

util::Result<void> run(const Settings& settings) {
  const auto machine = paceline::machine::read_machine();
  fmt::print("{}, {} logical cores; {}\n", machine.processor.value_or("unknown processor"),
             machine.cores_online.value_or(0), curl_version());
  fmt::print("{} s a round; n = {} pairs of rounds, ABBA; 95 % intervals over pairs\n",
             settings.seconds, settings.pairs);
  for (Load load : {Load{2000, 20, 0}, Load{5000, 8, 0}}) {
    load.seconds = settings.seconds;
    PACELINE_TRY(allow_descriptors(load.streams + 100));
    PACELINE_TRY_ASSIGN(const Paired paired, measure(load, settings.pairs));
    print(load, paired);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("What an event costs Paceline's client, beside one made with libcurl.", "client");
  app.add_option("--pairs", settings.pairs, "pairs of rounds")
      ->type_name("PAIRS")
      ->check(CLI::Range(3, 10000))
      ->capture_default_str();
  app.add_option("--seconds", settings.seconds, "of events in each round")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  curl_global_init(CURL_GLOBAL_ALL);

  if (const auto measured = run(settings); !measured) {
    fmt::print(stderr, "client: {}\n", measured.error().message);
    return 1;
  }
  return 0;
}
