#include "cli/measure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>

#include "document/assemble.hpp"
#include "document/json.hpp"
#include "engine/embedded/embedded_engine.hpp"
#include "machine/machine.hpp"
#include "metrics/summary.hpp"
#include "report/terminal.hpp"
#include "study/run.hpp"
#include "trace/trace_file.hpp"
#include "util/clock.hpp"
#include "util/files.hpp"
#include "util/interrupt.hpp"
#include "util/progress.hpp"

namespace paceline::cli {

namespace {

constexpr int exit_interrupted = 130;
constexpr int width_when_piped = 140;

std::string new_trace_id() {
  std::random_device device;
  std::string stamp = util::utc_now();
  std::erase_if(stamp, [](char letter) { return letter == '-' || letter == ':'; });
  return fmt::format("{}-{:06x}", stamp, device() & 0xffffffu);
}

trace::Header header_of(const study::RunOptions& options) {
  trace::Header header;
  header.trace_id = new_trace_id();
  header.created = util::utc_now();
  header.tool_version = PACELINE_VERSION;
  header.seed = options.seed;
  header.rounds = options.rounds;
  header.n_predict = options.n_predict;
  header.workload = options.workload;
  header.residency = "bare";
  header.arms = options.arms;
  return header;
}

void print_plan(const study::RunOptions& options) {
  std::vector<std::string> arms;
  for (const auto& arm : options.arms) arms.push_back(arm.name);
  std::set<std::string> classes;
  for (const auto& prompt : options.prompts.measured) classes.insert(prompt.workload_class);
  const std::size_t prompts = options.prompts.measured.size();
  fmt::print(stderr,
             "Plan: {} arms ({}) x {} launches x {} prompts ({}) = {} requests of at most {} "
             "tokens, with {} threads.\n",
             arms.size(), fmt::join(arms, ", "), options.rounds, prompts, fmt::join(classes, ", "),
             arms.size() * static_cast<std::size_t>(options.rounds) * prompts, options.n_predict,
             options.arms.front().setup.threads);
}

report::Style style_for(FILE* stream) {
  report::Style style;
  const bool terminal = ::isatty(::fileno(stream)) != 0;
  style.colour = terminal && std::getenv("NO_COLOR") == nullptr;
  winsize size{};
  if (!terminal) style.width = width_when_piped;
  if (terminal && ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = size.ws_col;
  return style;
}

/// Arms of which no launch gave a figure, each with the reason of its first failure.
std::vector<std::string> failed_arms(const trace::Trace& trace) {
  std::vector<std::string> failures;
  for (const auto& arm : trace.header.arms) {
    const trace::Outcome* first = nullptr;
    bool any_done = false;
    for (const auto& launch : trace.launches) {
      if (launch.arm != arm.name) continue;
      for (const auto& request : launch.requests) {
        const bool done = request.outcome.kind == trace::OutcomeKind::done;
        any_done |= done && !request.warm_up;
        if (!done && first == nullptr) first = &request.outcome;
      }
      if (launch.outcome.kind != trace::OutcomeKind::done && first == nullptr)
        first = &launch.outcome;
    }
    if (!any_done && first != nullptr && first->kind != trace::OutcomeKind::cancelled)
      failures.push_back(
          fmt::format("the arm {} could not be measured: {}", arm.name, first->reason));
  }
  return failures;
}

bool anything_measured(const document::Document& document) {
  return std::any_of(document.arms.begin(), document.arms.end(), [](const auto& arm) {
    return std::any_of(arm.workloads.begin(), arm.workloads.end(), [](const auto& workload) {
      return workload.decode.tokens_per_s.value.has_value();
    });
  });
}

util::Result<int> exit_code(const trace::Trace& trace, const document::Document& document) {
  if (trace.interrupted) return exit_interrupted;
  const auto failures = failed_arms(trace);
  if (!failures.empty())
    return util::fail(util::ErrorKind::engine, fmt::format("{}", fmt::join(failures, "\n")));
  if (!anything_measured(document))
    return util::fail(util::ErrorKind::not_enough_data,
                      "no request gave a rate: every output was shorter than two tokens");
  return 0;
}

util::Result<void> write_report(const document::Document& document, const Output& output) {
  const std::string json = document::to_json_text(document) + "\n";
  FILE* text_stream = output.json == "-" ? stderr : stdout;
  std::fputs(report::terminal(document, style_for(text_stream)).c_str(), text_stream);
  std::fflush(text_stream);
  if (output.json == "-")
    std::fputs(json.c_str(), stdout);
  else if (output.json)
    return util::write_file(*output.json, json);
  return {};
}

}  // namespace

std::string worker_program() {
  const char* named = std::getenv("PACELINE_WORKER");
  if (named != nullptr && *named != '\0') return named;
  return util::beside_this_program("paceline-worker").string();
}

util::Result<int> measure(const study::RunOptions& options, const Output& output,
                          const Afterword& afterword) {
  if (output.json && output.json != "-") PACELINE_TRY(util::check_writable(*output.json));
  const trace::Header header = header_of(options);
  const std::string trace_path = output.trace.value_or(
      (util::data_folder() / "traces" / (header.trace_id + ".jsonl")).string());
  PACELINE_TRY_ASSIGN(const auto journal, trace::TraceFile::create(trace_path));
  const machine::MachineFacts machine = machine::read_machine();
  print_plan(options);

  util::Progress progress(::isatty(STDERR_FILENO) != 0, false);
  const auto make_engine = [] {
    return std::make_unique<engine::embedded::EmbeddedEngine>(worker_program());
  };
  const auto watcher = [&](double done, double total, const std::string& what) {
    progress.update(done, total, what);
  };
  PACELINE_TRY_ASSIGN(const trace::Trace trace, study::run(options, header, make_engine, *journal,
                                                           watcher, util::interrupted));
  progress.clear();

  const metrics::Mix mix = metrics::equal_mix(trace);
  auto document = document::assemble(trace, metrics::summarise(trace, mix), mix, machine);
  if (afterword) document.said = afterword(document);
  PACELINE_TRY(write_report(document, output));
  fmt::print(stderr, "Trace: {}\n", trace_path);
  return exit_code(trace, document);
}

}  // namespace paceline::cli
