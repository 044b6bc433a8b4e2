// What receiving an event costs: Paceline's client beside one made with libcurl and beside a bare
// loop that only reads, on the same loads of a server process. They take turns, in the order
// reversed each time, so that a machine that drifts slows all alike; a ratio is of the clients'
// rounds in one turn, its interval over the turns.

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
  int turns = 6;
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

struct Turns {
  Rounds ours;
  Rounds curl;
  Rounds bare;
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

util::Result<Turns> measure(const Load& load, int count) {
  Turns turns;
  for (int turn = 0; turn < count; ++turn) {
    const bool forward = turn % 2 == 0;
    PACELINE_TRY(forward ? add_round(run_ours, load, turns.ours)
                         : add_round(run_bare, load, turns.bare));
    PACELINE_TRY(add_round(run_curl, load, turns.curl));
    PACELINE_TRY(forward ? add_round(run_bare, load, turns.bare)
                         : add_round(run_ours, load, turns.ours));
  }
  return turns;
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

Rounds ratios(const Rounds& over, const Rounds& under) {
  return {ratios(over.cpu_us, under.cpu_us), ratios(over.p50_ms, under.p50_ms),
          ratios(over.p99_ms, under.p99_ms)};
}

void print(const Load& load, const Turns& turns) {
  fmt::print("{} streams x {} events/s\n", load.streams, load.rate);
  fmt::print("  {:<10} {:>24} {:>24} {:>24}\n", "", "CPU, us per event", "lag p50, ms",
             "lag p99, ms");
  print_row("paceline", turns.ours);
  print_row("libcurl", turns.curl);
  print_row("bare loop", turns.bare);
  print_row("over curl", ratios(turns.ours, turns.curl));
  print_row("over bare", ratios(turns.ours, turns.bare));
}

util::Result<void> run(const Settings& settings) {
  const auto machine = paceline::machine::read_machine();
  fmt::print("{}, {} logical cores; {}\n", machine.processor.value_or("unknown processor"),
             machine.cores_online.value_or(0), curl_version());
  fmt::print("{} s a round; n = {} turns of a round each; 95 % intervals over turns\n",
             settings.seconds, settings.turns);
  for (Load load : {Load{2000, 20, 0}, Load{5000, 8, 0}}) {
    load.seconds = settings.seconds;
    PACELINE_TRY(allow_descriptors(load.streams + 100));
    PACELINE_TRY_ASSIGN(const Turns turns, measure(load, settings.turns));
    print(load, turns);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("What an event costs Paceline's client, beside one made with libcurl.", "client");
  app.add_option("--turns", settings.turns, "rounds of each client")
      ->type_name("TURNS")
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
