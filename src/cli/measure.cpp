#include "cli/measure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "cli/load_options.hpp"
#include "cli/output.hpp"
#include "cli/recording.hpp"
#include "cli/store_options.hpp"
#include "cli/watched.hpp"
#include "document/assemble.hpp"
#include "document/json.hpp"
#include "metrics/summary.hpp"
#include "report/terminal.hpp"
#include "study/memory_speed.hpp"
#include "study/run.hpp"
#include "util/console.hpp"
#include "util/files.hpp"

namespace paceline::cli {

namespace {

template <class Number>
std::string counted(Number number, std::string_view thing) {
  const bool sibilant = thing.back() == 'h';
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : sibilant ? "es" : "s");
}

int launches_of(const study::RunOptions& options) {
  return trace::planned_launches(options.arms.size(), options.rounds, options.sweep);
}

void print_sweep(const study::RunOptions& options) {
  const trace::Sweep& sweep = *options.sweep;
  std::vector<std::string> varied;
  for (const auto& [name, values] : sweep.options)
    varied.push_back(fmt::format("{}={}", name, fmt::join(values, ",")));
  util::say(fmt::format("      {} over {}: {} in rounds of {}, and {}",
                        counted(sweep.points.size(), "point"), fmt::join(varied, " "),
                        counted(launches_of(options), "launch"), fmt::join(sweep.rungs, ", "),
                        counted(options.arms.size() - sweep.points.size(), "plain arm")));
  if (sweep.no_held_out.empty())
    util::say(fmt::format("      then the winner and its plain arm, {} on {} other prompts",
                          counted(sweep.held_out_rounds, "launch"),
                          options.prompts.held_out.size()));
  else
    util::say("      The winner will not be measured again, and nothing is to be quoted: " +
              sweep.no_held_out);
}

/// How long plain decoding takes at least: nothing reads its bytes faster than the memory gives
/// them. Nothing where they are not known, and of prefill, which computes.
void print_least_time(const study::RunOptions& options) {
  if (!(options.ceilings || options.sweep) || !options.bytes_per_pass) return;
  const auto plain = std::count_if(options.arms.begin(), options.arms.end(), [](const auto& arm) {
    return arm.setup.spec_type == trace::SpecType::none;
  });
  const auto launches =
      options.sweep ? launches_of(options) : static_cast<int>(plain) * options.rounds;
  const auto speed =
      study::measure_memory(options.arms.front().setup.threads, {}, {}, options.seed);
  if (launches == 0 || speed.read_bytes_per_s.empty()) return;
  const double best =
      *std::max_element(speed.read_bytes_per_s.begin(), speed.read_bytes_per_s.end());
  const double tokens = static_cast<double>(launches) * options.n_predict *
                        static_cast<double>(options.prompts.measured.size()) *
                        static_cast<double>(options.depths.size());
  util::say(fmt::format(
      "      {}: {:.0f} tokens of {:.3g} MB each, at {:.3g} GB/s of "
      "memory {:.1f} "
      "min or more if no output ends early and no cache helps",
      options.sweep ? "if no draft were accepted" : "plain decoding alone", tokens,
      *options.bytes_per_pass / 1e6, best / 1e9, tokens * *options.bytes_per_pass / best / 60));
}

void print_plan(const study::RunOptions& options) {
  std::vector<std::string> arms;
  for (const auto& arm : options.arms) arms.push_back(arm.name);
  std::map<std::string, int> classes;
  for (const auto& prompt : options.prompts.measured) ++classes[prompt.workload_class];
  std::vector<std::string> counts;
  for (const auto& [name, count] : classes) counts.push_back(fmt::format("{} {}", name, count));
  const std::size_t prompts = options.prompts.measured.size();
  const std::size_t requests =
      static_cast<std::size_t>(launches_of(options)) * prompts * options.depths.size();
  const trace::Setup& setup = options.arms.front().setup;
  util::say(fmt::format(
      "Plan: {} x {} prompts{} = {} requests, output capped at {} tokens, {}.",
      options.sweep
          ? counted(launches_of(options), "launch")
          : fmt::format("{} x {}", counted(arms.size(), "arm"), counted(options.rounds, "launch")),
      prompts, options.depths.size() > 1 ? fmt::format(" x {} depths", options.depths.size()) : "",
      requests, options.n_predict,
      setup.url.empty() ? counted(setup.threads, "thread") : std::string("on running servers")));
  if (options.sweep) print_sweep(options);
  util::say(options.ignore_eos
                ? "      Servers are told to go on past end-of-generation tokens."
                : "      An end-of-generation token ends an output before the cap and is counted.");
  util::say(fmt::format("      arms: {}{}", fmt::join(arms, ", "),
                        options.phases ? "; then one synced launch each, for the phases" : ""));
  util::say(fmt::format("      prompts: {} ({}), {}", options.workload, fmt::join(counts, ", "),
                        options.prompt_form == trace::PromptForm::chat
                            ? "as messages through the chat template"
                            : "as raw text to continue"));
  if (options.depths.back() > 0)
    util::say(
        fmt::format("      depths: {} tokens; every launch fills its context once, {} tokens "
                    "in all",
                    fmt::join(options.depths, ", "),
                    arms.size() * static_cast<std::size_t>(options.rounds) *
                        static_cast<std::size_t>(options.depths.back())));
  if (options.force_text)
    util::say("      Plain first writes the text that every arm then follows, untimed.");
  for (const auto& line : describe_loads(options.loads, prompts)) util::say("      " + line);
  for (const auto& note : options.workload_notes) util::say("      " + note);
  for (const auto& note : options.prompts.notes) util::say("      " + note);
  print_least_time(options);
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
      failures.push_back(fmt::format("the arm {} ({}) could not be measured: {}", arm.name,
                                     arm.setup.url.empty() ? arm.setup.model_path : arm.setup.url,
                                     first->reason));
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
    return util::fail(util::ErrorKind::engine, fmt::format("{}", fmt::join(failures, "; ")));
  if (!anything_measured(document))
    return util::fail(
        util::ErrorKind::not_enough_data,
        "no request gave a rate: every output was shorter than two tokens, or came all at "
        "once");
  return 0;
}

bool anything_opened(const trace::Trace& trace) {
  return std::any_of(trace.launches.begin(), trace.launches.end(),
                     [](const trace::Launch& launch) { return launch.facts.has_value(); });
}

util::Result<void> write_report(const document::Document& document, const Output& output,
                                bool printed) {
  const report::Style style = style_for(text_stream(output.json));
  std::string text;
  if (printed) text = output.render ? output.render(document) : report::terminal(document, style);
  return write_out(text, document::to_json_text(document) + "\n", output.json);
}

}  // namespace

std::vector<std::string> files_of(const study::RunOptions& options, const Output& output) {
  std::vector<std::string> files = output.inputs;
  files.insert(files.end(),
               {output.trace.value_or(""), store_file(output.db).string(), options.workload});
  for (const auto& arm : options.arms) {
    files.push_back(arm.setup.model_path);
    files.push_back(arm.setup.draft_path.value_or(""));
  }
  return files;
}

void say_how_to_go_on(const trace::Trace& trace, const Output& output) {
  if (trace.about->command.empty()) return;
  util::say(fmt::format("Go on with it: paceline {} --resume {}{}", trace.about->command.front(),
                        trace.header.trace_id, db_words(output.db)));
}

void say_where(const trace::Trace& trace, const Output& output, bool whole) {
  const std::string& id = trace.header.trace_id;
  util::say(fmt::format("Stored as {} (paceline history show {}{})", id, id, db_words(output.db)));
  if (!whole) say_how_to_go_on(trace, output);
}

std::string worker_program() {
  const char* named = std::getenv("PACELINE_WORKER");
  if (named != nullptr && *named != '\0') return named;
  return util::own_program("paceline-worker").string();
}

util::Result<int> measure(const study::RunOptions& options, const Output& output,
                          const engine::EngineFactory& make_engine, const Afterword& afterword) {
  PACELINE_TRY(check_json_path(output.json, files_of(options, output)));
  print_plan(options);
  if (output.dry_run) return 0;
  PACELINE_TRY_ASSIGN(const auto recording, Recording::open(options, output));
  trace::Trace& trace = recording->trace();

  const auto taken_down = watched([&](const auto& watcher, const auto& stop_asked) {
    return study::run(options, make_engine, *recording, watcher, stop_asked, trace);
  });

  const trace::Mix mix = metrics::mix_of(trace);
  auto document =
      document::assemble(trace, metrics::summarise(trace, mix), mix, trace.about->machine);
  if (afterword) document.said = afterword(document);
  // Where nothing opened the reason is all there is to say, and the error says it.
  const auto written = write_report(document, output, anything_opened(trace));
  if (taken_down || !trace.launches.empty())
    say_where(trace, output, taken_down && !trace.interrupted);
  PACELINE_TRY(taken_down);
  PACELINE_TRY(written);
  return exit_code(trace, document);
}

}  // namespace paceline::cli
