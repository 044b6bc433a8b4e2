// What Paceline's own work costs: its plain decode rate over llama-bench's, on the same model,
// depth, threads and build of llama.cpp. The two take turns in pairs of fresh processes, ABBA, so
// that a machine that drifts slows both alike; the ratio is of each pair, its interval over the
// pairs.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "child.hpp"
#include "engine/embedded/embedded_engine.hpp"
#include "machine/machine.hpp"
#include "metrics/counts.hpp"
#include "metrics/interval.hpp"
#include "study/ballast.hpp"
#include "study/collect.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

namespace {

using paceline::engine::embedded::EmbeddedEngine;
namespace util = paceline::util;

constexpr auto patience = std::chrono::minutes(5);
constexpr int fewest_passes = 16;

// Heavy enough to be over 100 MB, as models are whose passes are worth measuring.
constexpr paceline::study::Ballast ballast{.extra_layers = 10, .feed_forward = 4096};

struct Settings {
  std::string model;
  std::string llama_bench;
  int pairs = 20;
  int passes = 128;
  int depth = 16;
  int threads = 1;
  double temp = 0;
};

std::string worker_program() { return util::own_program("paceline-worker").string(); }

bool never() { return false; }

util::Error refuse(std::string why) { return {util::ErrorKind::engine, std::move(why)}; }

/// Passes per second of one decode window, and where it was measured.
struct Rate {
  double passes_per_s = 0;
  int passes = 0;
  std::string build;
  std::uint64_t file_bytes = 0;
};

paceline::trace::Setup setup_of(const Settings& settings) {
  paceline::trace::Setup setup;
  setup.model_path = settings.model;
  setup.n_ctx = settings.depth + settings.passes + 2;
  setup.threads = settings.threads;
  return setup;
}

/// A prompt as long as the depth llama-bench starts at; what it says is of no matter.
paceline::protocol::Generate job_of(const Settings& settings, int passes) {
  paceline::protocol::Generate job;
  for (int i = 0; i < settings.depth; ++i) job.prompt_tokens.push_back(300 + i % 100);
  job.n_predict = passes + 1;  // the first token comes from the prompt
  job.sampling.temp = settings.temp;
  job.seed = 1;
  return job;
}

util::Result<Rate> ours(const Settings& settings) {
  EmbeddedEngine engine(worker_program());
  const auto facts = engine.open(setup_of(settings), {});
  if (!facts) return tl::unexpected(refuse(facts.error().reason));
  // llama-bench's own warm-up is one pass.
  (void)paceline::study::collect(engine, job_of(settings, 1), patience, never);
  const auto request =
      paceline::study::collect(engine, job_of(settings, settings.passes), patience, never).request;
  engine.close();
  const auto counts = paceline::metrics::count_request(request);
  if (!counts || counts->decode_s <= 0)
    return tl::unexpected(refuse("nothing was decoded: " + request.outcome.reason));
  return Rate{static_cast<double>(counts->passes) / counts->decode_s,
              static_cast<int>(counts->passes), facts->build, facts->target.file_bytes};
}

util::Result<Rate> theirs(const Settings& settings) {
  PACELINE_TRY_ASSIGN(const auto ran,
                      paceline::bench::run_to_end(
                          {settings.llama_bench, "-m", settings.model, "-p", "0", "-n",
                           std::to_string(settings.passes), "-d", std::to_string(settings.depth),
                           "-t", std::to_string(settings.threads), "-r", "1", "-o", "json"}));
  PACELINE_TRY_ASSIGN(const auto json, util::parse_json(ran.output, settings.llama_bench));
  try {
    const auto& test = json.at(0);
    return Rate{settings.passes * 1e9 / test.at("samples_ns").at(0).get<double>(), settings.passes,
                fmt::format("b{}-{}", test.at("build_number").get<int>(),
                            test.at("build_commit").get<std::string>()),
                0};
  } catch (const util::Json::exception& problem) {
    return tl::unexpected(refuse(fmt::format("{} printed no such result as expected: {}",
                                             settings.llama_bench, problem.what())));
  }
}

struct Paired {
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
};

util::Result<Paired> measure(const Settings& settings) {
  Paired paired;
  for (int pair = 0; pair < settings.pairs; ++pair) {
    const bool ours_first = pair % 2 == 0;
    util::Result<Rate> first = ours_first ? ours(settings) : theirs(settings);
    util::Result<Rate> second = ours_first ? theirs(settings) : ours(settings);
    PACELINE_TRY_ASSIGN(const Rate our_rate, ours_first ? first : second);
    PACELINE_TRY_ASSIGN(const Rate their_rate, ours_first ? second : first);
    if (our_rate.passes != their_rate.passes || our_rate.build != their_rate.build)
      return tl::unexpected(refuse(fmt::format(
          "not the same thing: {} passes of build {} against {} of {}; build llama-bench and the "
          "worker together (make bench-overhead does)",
          our_rate.passes, our_rate.build, their_rate.passes, their_rate.build)));
    paired.ours.push_back(our_rate.passes_per_s);
    paired.theirs.push_back(their_rate.passes_per_s);
    paired.ratios.push_back(our_rate.passes_per_s / their_rate.passes_per_s);
  }
  return paired;
}

void print_row(const char* name, const std::vector<double>& values) {
  const auto estimate = paceline::metrics::over_launches(values);
  fmt::print("{:<24} {:>9.4f}  [{:.4f}-{:.4f}]\n", name, *estimate.value, *estimate.low,
             *estimate.high);
}

util::Result<void> run(Settings settings) {
  if (settings.model.empty()) {
    EmbeddedEngine writer(worker_program());
    PACELINE_TRY_ASSIGN(const auto heavy,
                        paceline::study::ballasted(util::shipped("models/target-mtp-f16.gguf"),
                                                   ballast, util::cache_folder(), writer, never));
    settings.model = heavy.string();
  }
  // A text that ends by itself sets the number of passes for both.
  PACELINE_TRY_ASSIGN(const Rate pilot, ours(settings));
  if (pilot.passes < fewest_passes)
    return tl::unexpected(
        refuse(fmt::format("the model ends its text after {} passes: choose "
                           "another --depth or --temp",
                           pilot.passes)));
  settings.passes = pilot.passes;
  const auto machine = paceline::machine::read_machine();
  fmt::print("{}, {} logical cores\n{}, {:.1f} MB; llama.cpp {}\n",
             machine.processor.value_or("unknown processor"), machine.cores_online.value_or(0),
             settings.model, static_cast<double>(pilot.file_bytes) / 1e6, pilot.build);
  fmt::print(
      "{} passes from depth {}, threads {}, temperature {}; n = {} pairs of processes, ABBA\n",
      settings.passes, settings.depth, settings.threads, settings.temp, settings.pairs);
  PACELINE_TRY_ASSIGN(const Paired paired, measure(settings));
  fmt::print("{:<24} {:>9}  95 % interval over pairs\n", "", "");
  print_row("paceline, passes/s", paired.ours);
  print_row("llama-bench, passes/s", paired.theirs);
  print_row("ratio", paired.ratios);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  settings.llama_bench = (self.parent_path() / "llama-bench").string();
  CLI::App app("Paceline's plain decode rate over llama-bench's, in pairs that take turns.",
               "overhead");
  app.add_option("-m,--model", settings.model, "model to decode")
      ->type_name("FILE")
      ->default_str("the shipped target with ballast, over 100 MB");
  app.add_option("--llama-bench", settings.llama_bench, "llama-bench of the worker's own build")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--pairs", settings.pairs, "pairs of processes")
      ->type_name("PAIRS")
      ->check(CLI::Range(3, 10000))
      ->capture_default_str();
  app.add_option("-n,--passes", settings.passes, "passes in each window, at most")
      ->type_name("PASSES")
      ->check(CLI::Range(fewest_passes, 100000))
      ->capture_default_str();
  app.add_option("-d,--depth", settings.depth, "tokens before the first pass")
      ->type_name("TOKENS")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("-t,--threads", settings.threads, "threads of llama.cpp")
      ->type_name("THREADS")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--temp", settings.temp, "temperature of Paceline's sampler")
      ->type_name("TEMPERATURE")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  if (const auto measured = run(settings); !measured) {
    fmt::print(stderr, "overhead: {}\n", measured.error().message);
    return 1;
  }
  return 0;
}
