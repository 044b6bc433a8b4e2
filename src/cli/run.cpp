#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arms.hpp"
#include "cli/commands.hpp"
#include "cli/derivation_options.hpp"
#include "cli/engine_options.hpp"
#include "cli/kv_types.hpp"
#include "cli/load_options.hpp"
#include "cli/measure.hpp"
#include "cli/priced_defaults.hpp"
#include "cli/server_options.hpp"
#include "cli/workload_options.hpp"
#include "engine/embedded/embedded_engine.hpp"
#include "model/bytes.hpp"
#include "study/inspect.hpp"
#include "util/console.hpp"
#include "util/interrupt.hpp"

namespace paceline::cli {

namespace {

constexpr const char* examples =
    "Examples:\n"
    "  paceline run -m target.gguf\n"
    "      plain decoding: its passes/s, prefill and what ran, 1.00 token per pass\n"
    "  paceline run -m target.gguf -md dflash.gguf --spec-type draft-dflash\n"
    "      plain against DFlash with its own longest draft\n"
    "  paceline run -m target.gguf -md dflash.gguf --arm draft-dflash:6 --arm draft-dflash:7 \\\n"
    "      --arm draft-mtp:3 --class json,prose --json report.json\n"
    "      three drafters side by side on two classes, with the document kept\n"
    "  paceline run -m target.gguf --spec-type draft-mtp --workload my.jsonl -n 256 --phases\n"
    "      MTP from the target's own file on your own prompts, and where the time goes\n"
    "  paceline run -m target.gguf --arm ngram-simple:4/7 --arm ngram-mod\n"
    "      drafts from the text itself, which need no drafter file\n"
    "  paceline run -m instruct.gguf --workload question.jsonl --class code,prose\n"
    "      MT-Bench as it is published, its first turns through the model's chat template\n"
    "  paceline run -m instruct.gguf --mix code=0.4,prose=0.3,json=0.3\n"
    "      one number for that use, beside those of its classes\n"
    "  paceline run --server-bin ./llama-server -m target.gguf --spec-type draft-mtp\n"
    "      the same from your own llama-server, started afresh for every launch\n"
    "  paceline run --url http://host:8000 --url-plain http://host:8001\n"
    "      a running server against its plain twin\n"
    "  paceline run --server-bin ./llama-server -m target.gguf --spec-type draft-mtp \\\n"
    "      --concurrency 1,2,4,8\n"
    "      where speculation stops paying when requests run side by side";

constexpr const char* fill_examples =
    "Examples:\n"
    "  paceline fill -m target.gguf -c 32768\n"
    "      to the end of the context, plain: prefill, decoding and memory on the way\n"
    "  paceline fill -m target.gguf --spec-type draft-mtp --depths 0,4k,16k,64k --class "
    "code,prose\n"
    "      plain and MTP at each depth, and where speculation stops paying";

struct Settings {
  ArmSettings arms;
  DerivationSettings copies;
  ServerSettings server;
  WorkloadSettings workload;
  Output output;
  study::RunOptions run;
  std::optional<int> widest;
  bool price_defaults = false;
  bool context_given = false;  ///< by -c
};

void add_measuring_options(CLI::App& run, Settings& settings) {
  run.add_option(
         "-n,--n-predict", settings.run.n_predict,
         "Output cap, the same for every request; an end-of-generation token ends an output "
         "earlier and is counted")
      ->check(CLI::Range(2, 1 << 18))
      ->type_name("TOKENS")
      ->capture_default_str()
      ->group("Measuring");
  run.add_option("--launches", settings.run.rounds, "Fresh loads of every arm")
      ->check(CLI::Range(1, 1000))
      ->type_name("LAUNCHES")
      ->capture_default_str()
      ->group("Measuring");
  run.add_option("--seed", settings.run.seed, "Of the order of arms and prompts and the samplers")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53))
      ->type_name("NUMBER")
      ->capture_default_str()
      ->group("Measuring");
  run.add_option("--patience", settings.run.patience_s,
                 "Silence after which a request, or an engine, is given up")
      ->check(CLI::Range(1, 86400))
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group("Measuring");
  run.add_flag("--ignore-eos", settings.run.ignore_eos,
               "Servers go on to the output cap; what follows an end-of-generation token is no "
               "text of any use, and its acceptance neither")
      ->group("Measuring");
  run.add_flag("--warm-session", settings.run.warm_session,
               "Keep what drafters learn from one request to the next; KV caches are still reset")
      ->group("Measuring");
  run.add_flag(
         "--force-text", settings.run.force_text,
         "Every arm follows one text token by token, that plain writes first, untimed: texts "
         "of all arms are the same at any temperature, and drafts are accepted as far as they "
         "agree with it")
      ->group("Measuring");
  run.add_flag("--price-defaults", settings.price_defaults,
               "One more arm beside each, for every default of the sampler that filters or "
               "reshapes the text unasked, without it: what it costs in passes/s and tokens/pass")
      ->group("Measuring");
  run.add_flag(
         "--phases", settings.run.phases,
         "One more launch an arm, synchronised after each phase: where a pass spends its time")
      ->group("Measuring");
  run.add_option("--widths", settings.widest, "Widest pass that is timed alone on the plain arm")
      ->check(CLI::Range(1, most_widest_pass))
      ->type_name("TOKENS")
      ->default_str("two past the longest draft, 8 to 16")
      ->group("Measuring");
}

void add_output_options(CLI::App& run, Output& output) {
  run.add_option("--json", output.json, "Write the document there; - is standard output")
      ->type_name("FILE")
      ->default_str("none")
      ->group("Output");
  run.add_option("--trace", output.trace, "Write the raw trace there")
      ->type_name("FILE")
      ->default_str("paceline/traces in the data folder")
      ->group("Output");
  run.add_flag("--dry-run", output.dry_run, "Say what would be done and end")->group("Output");
}

/// The embedded engine's own rule, so that both draft the same where nobody says how far.
void say_longest_draft(trace::Setup& setup, const engine::server::ServerOptions& server) {
  if (setup.draft_n_max > 0 || setup.spec_type == trace::SpecType::none ||
      trace::is_ngram(setup.spec_type))
    return;
  setup.draft_n_max = 3;
  if (!setup.draft_path) return;
  const auto file = server.files.find(*setup.draft_path);
  if (file != server.files.end() && file->second.drafter)
    setup.draft_n_max = file->second.drafter->longest_draft.value_or(setup.draft_n_max);
}

/// What the ceilings of a run need to know before it, as far as the file's architecture is known.
void note_reads(const model::FileFacts& target, study::RunOptions& run) {
  if (!target.reads) return;
  for (const auto& table : target.reads->rows)
    if (table.rows > 1) run.tables.push_back(table);
  if (const auto bytes = model::bytes_of_pass(*target.reads, {}))
    run.bytes_per_pass = model::total_bytes(*bytes);
}

/// What the files say where the command line does not: how to draft, and whether there is a chat
/// template. What cannot work in the embedded engine is refused now, not after another arm was
/// measured; a server of the user's own says so itself.
util::Result<void> plan_files(Settings& settings, engine::server::ServerOptions& server) {
  engine::embedded::EmbeddedEngine reader(worker_program());
  PACELINE_TRY_ASSIGN(settings.arms.model,
                      derived_target(settings.copies, settings.arms.model, reader));
  PACELINE_TRY_ASSIGN(const auto target,
                      study::inspect(reader, settings.arms.model, util::interrupted));
  server.files[settings.arms.model] = target;
  settings.run.ceilings = !settings.server.is_managed();
  note_reads(target, settings.run);
  if (settings.arms.draft_model && settings.arms.spec_types.empty()) {
    PACELINE_TRY_ASSIGN(const auto drafter,
                        study::inspect(reader, *settings.arms.draft_model, util::interrupted));
    PACELINE_TRY_ASSIGN(settings.arms.found_type, drafter_type(drafter));
  }
  const auto defaults =
      workload::defaults_for(target.name, target.architecture, target.has_chat_template);
  PACELINE_TRY(choose_workload(settings.workload, defaults, settings.run));
  PACELINE_TRY_ASSIGN(settings.run.arms, make_arms(settings.arms));
  PACELINE_TRY(derive_drafters(settings.copies, reader, settings.run.arms));
  for (auto& arm : settings.run.arms) {
    arm.setup.server_bin = settings.server.server_bin.value_or("");
    if (settings.server.mmproj && settings.server.is_managed())
      arm.setup.server_args = {"--mmproj", *settings.server.mmproj};
    else
      arm.setup.mmproj_path = settings.server.mmproj;
    arm.setup.server_args.insert(arm.setup.server_args.end(), settings.server.server_args.begin(),
                                 settings.server.server_args.end());
    if (!settings.server.is_managed()) {
      PACELINE_TRY(study::check(reader, arm.setup, util::interrupted));
    } else if (const auto& path = arm.setup.draft_path; path && !server.files.contains(*path)) {
      PACELINE_TRY_ASSIGN(auto drafter, study::inspect(reader, *path, util::interrupted));
      server.files[*path] = std::move(drafter);
    }
    if (settings.server.is_managed()) {
      say_longest_draft(arm.setup, server);
      if (const auto checked = study::check(reader, arm.setup, util::interrupted); !checked)
        util::say("Note: the embedded engine would refuse the arm " + arm.name +
                  ", and your server decides: " + checked.error().message);
    }
  }
  return {};
}

/// Nobody but the server has its files: its prompts are messages unless the user says otherwise.
util::Result<void> plan_remote(Settings& settings) {
  const ArmSettings& arms = settings.arms;
  if (arms.threads || !arms.spec_types.empty() || arms.draft_model || arms.draft_n_max ||
      arms.no_plain || !arms.extra.empty() || settings.copies.any() || arms.accept_length ||
      !arms.accept_rates.empty() || arms.backend_sampling || asks_kv_types(arms))
    return util::fail(util::ErrorKind::usage,
                      "-t, -md, --spec-type, --spec-draft-n-max, --arm, --no-plain, --accept-.., "
                      "--backend-sampling, -ctk, -ctv, -ctkd, -ctvd, --quant, --draft-quant and "
                      "--ballast say how to start an engine, and --url names a server that runs: "
                      "leave them out");
  if (!settings.arms.model.empty())
    return util::fail(util::ErrorKind::usage,
                      "-m names a file and --url a running server: give one of them, and "
                      "--model-name where the server has several models");
  PACELINE_TRY(
      choose_workload(settings.workload, workload::defaults_for("", "", true), settings.run));
  settings.run.workload_notes.emplace_back(
      "every prompt begins with characters of its own, so that no cache can answer");
  settings.run.arms = remote_arms(settings.server, settings.arms.sampling);
  return {};
}

/// The depths, and a context that holds them where -c says nothing.
util::Result<void> plan_context(Settings& settings) {
  const DepthSettings& depths = settings.workload.depths;
  if (!depths.any()) return {};
  if (settings.server.is_remote() && depths.to_the_end && depths.depths.empty())
    return util::fail(util::ErrorKind::usage,
                      "how large the context of a running server is, it need not say: name the "
                      "--depths");
  PACELINE_TRY_ASSIGN(settings.run.depths,
                      read_depths(depths, settings.arms.n_ctx, settings.run.n_predict));
  if (!settings.context_given && !depths.depths.empty())
    settings.arms.n_ctx += settings.run.depths.back();
  return {};
}

util::Result<void> check_forced_text(const Settings& settings) {
  if (!settings.run.force_text) return {};
  if (settings.server.is_remote() || settings.server.is_managed())
    return util::fail(util::ErrorKind::usage,
                      "--force-text is for the embedded engine: no server can be told what to say");
  if (settings.arms.accept_length || !settings.arms.accept_rates.empty())
    return util::fail(
        util::ErrorKind::usage,
        "--force-text has drafts accepted by one text and --accept-.. by chance: give "
        "one of them");
  if (settings.arms.no_plain)
    return util::fail(util::ErrorKind::usage,
                      "--force-text takes the plain arm's text: leave --no-plain out");
  return {};
}

util::Result<void> check_prices(const Settings& settings) {
  if (!settings.price_defaults) return {};
  if (!settings.run.force_text && !settings.arms.accept_length &&
      settings.arms.accept_rates.empty())
    return {};
  return util::fail(util::ErrorKind::usage,
                    "--price-defaults measures what a sampler does to the text, and --force-text "
                    "and --accept-.. take that away from it: give one of them");
}

/// An engine says what is in force, so it is opened once before the run.
util::Result<void> price_defaults(study::RunOptions& run, const engine::EngineFactory& make) {
  const auto engine = make();
  const auto facts = engine->open(run.arms.front().setup, run.arms.front().sampling);
  engine->close();
  if (!facts) return util::fail(util::ErrorKind::engine, facts.error().reason);
  PACELINE_TRY_ASSIGN(run.arms,
                      with_priced_defaults(run.arms, facts->sampling, run.workload_notes));
  return {};
}

/// What only the embedded engine, or only a server, can be told.
util::Result<void> check_place(const Settings& settings) {
  const bool served = settings.server.is_remote() || settings.server.is_managed();
  PACELINE_TRY(check_forced_text(settings));
  PACELINE_TRY(check_prices(settings));
  if (served && settings.run.warm_session)
    return util::fail(util::ErrorKind::usage,
                      "--warm-session is for the embedded engine: what a server keeps from one "
                      "request to the next is its own affair");
  if (served && settings.run.phases)
    return util::fail(util::ErrorKind::usage,
                      "--phases is for the embedded engine: no server says where a pass spends "
                      "its time");
  if (!served && settings.run.ignore_eos)
    return util::fail(util::ErrorKind::usage,
                      "--ignore-eos is for servers: add --server-bin or --url");
  if (settings.server.is_managed() &&
      settings.arms.accept_schedule == trace::AcceptSchedule::minimum_variance)
    return util::fail(util::ErrorKind::usage,
                      "llama-server spreads --accept-length geometrically and no other way: leave "
                      "--accept-schedule out, or say with --accept-rates what is accepted at each "
                      "place");
  return check_server_options(settings.server);
}

util::Result<void> refuse_images(const study::RunOptions& run) {
  const auto& prompts = run.prompts.measured;
  if (!run.pictures && std::none_of(prompts.begin(), prompts.end(), workload::has_images))
    return {};
  return util::fail(util::ErrorKind::usage,
                    "the embedded engine measures no prompts with images: measure a server that "
                    "takes them, with --server-bin and --mmproj, or with --url");
}

util::Result<engine::EngineFactory> plan_run(Settings& settings) {
  PACELINE_TRY(check_place(settings));
  PACELINE_TRY(plan_context(settings));
  PACELINE_TRY(check_load_options(settings.run.loads, settings.server));
  PACELINE_TRY_ASSIGN(auto server, server_options(settings.server, settings.run.patience_s));
  server.slots = slots_for(settings.run.loads);
  if (settings.server.is_remote()) {
    PACELINE_TRY(plan_remote(settings));
  } else if (settings.arms.model.empty()) {
    return util::fail(util::ErrorKind::usage,
                      "what to measure is missing: --model FILE, or --url URL of a running server");
  } else {
    PACELINE_TRY(plan_files(settings, server));
  }
  const bool served = settings.server.is_remote() || settings.server.is_managed();
  if (served && settings.run.depths.back() > 0)
    settings.run.workload_notes.emplace_back(
        "depths on a server are about as many tokens of text in front of every prompt, read anew "
        "each time: the real depth is in the document");
  if (!served) {
    PACELINE_TRY(refuse_images(settings.run));
    return engine::EngineFactory(
        [] { return std::make_unique<engine::embedded::EmbeddedEngine>(worker_program()); });
  }
  return engine::EngineFactory(
      [server] { return std::make_unique<engine::server::ServerEngine>(server); });
}

util::Result<int> run_with(Settings settings) {
  const auto make_engine = plan_run(settings);
  if (util::interrupted()) return exit_interrupted;
  PACELINE_TRY(make_engine);
  for (const auto& file : {settings.workload.mix, settings.server.mmproj})
    if (file) settings.output.inputs.push_back(*file);
  if (settings.price_defaults) PACELINE_TRY(price_defaults(settings.run, *make_engine));
  settings.run.widths = true;
  settings.run.widest = settings.widest.value_or(widest_pass(settings.run.arms));
  return measure(settings.run, settings.output, *make_engine);
}

}  // namespace

namespace {

void add_options(CLI::App* run, const std::shared_ptr<Settings>& settings, Action& action) {
  add_engine_options(*run, settings->arms);
  add_derivation_options(*run, settings->copies);
  add_server_options(*run, settings->server);
  add_sampling_options(*run, settings->arms.sampling);
  add_workload_options(*run, settings->workload);
  add_depth_options(*run, settings->workload.depths);
  add_measuring_options(*run, *settings);
  add_load_options(*run, settings->run.loads);
  add_output_options(*run, settings->output);
  run->callback([run, settings, &action] {
    settings->context_given = run->count("--ctx-size") > 0;
    action = [settings] { return run_with(*settings); };
  });
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* run = app.add_subcommand("run", "Measure a model, plain and with drafters");
  run->footer(examples);
  add_options(run, std::make_shared<Settings>(), action);
}

void add_fill(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  settings->workload.depths.to_the_end = true;
  settings->run.rounds = 1;
  settings->workload.prompts_per_class = 4;
  CLI::App* fill = app.add_subcommand(
      "fill",
      "Fill the context for real, from depth to depth, and measure prefill, decoding and memory at "
      "each: as run with --depth, to the end of -c unless depths are given");
  fill->footer(fill_examples);
  add_options(fill, settings, action);
}

}  // namespace paceline::cli
