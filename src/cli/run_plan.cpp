#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "cli/kv_types.hpp"
#include "cli/load_options.hpp"
#include "cli/priced_defaults.hpp"
#include "cli/run_settings.hpp"
#include "engine/embedded/embedded_engine.hpp"
#include "engine/server/server_engine.hpp"
#include "model/bytes.hpp"
#include "model/table_on_disk.hpp"
#include "study/inspect.hpp"
#include "util/console.hpp"
#include "util/interrupt.hpp"

namespace paceline::cli {

namespace {

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
  if (!run.tables.empty()) run.table_on_disk = model::table_on_disk(target.path);
  if (const auto bytes = model::bytes_of_pass(*target.reads, {}))
    run.bytes_per_pass = model::total_bytes(*bytes);
}

/// What the files say where the command line does not: how to draft, and whether there is a chat
/// template. What cannot work in the embedded engine is refused now, not after another arm was
/// measured; a server of the user's own says so itself.
util::Result<void> plan_files(RunSettings& settings, engine::server::ServerOptions& server) {
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
  PACELINE_TRY_ASSIGN(settings.run.arms, settings.make_arms(settings.arms));
  PACELINE_TRY(derive_drafters(settings.copies, reader, settings.run.arms));
  for (auto& arm : settings.run.arms) {
    if (arm.setup.server_bin.empty())
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
util::Result<void> plan_remote(RunSettings& settings) {
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
util::Result<void> plan_context(RunSettings& settings) {
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

util::Result<void> check_forced_text(const RunSettings& settings) {
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

util::Result<void> check_prices(const RunSettings& settings) {
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
  const auto engine = make(run.arms.front());
  const auto facts = engine->open(run.arms.front().setup, run.arms.front().sampling);
  engine->close();
  if (!facts) return util::fail(util::ErrorKind::engine, facts.error().reason);
  PACELINE_TRY_ASSIGN(run.arms,
                      with_priced_defaults(run.arms, facts->sampling, run.workload_notes));
  return {};
}

/// What only the embedded engine, or only a server, can be told.
util::Result<void> check_place(const RunSettings& settings) {
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

util::Result<engine::EngineFactory> plan_engines(RunSettings& settings) {
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
    return engine::EngineFactory([](const trace::Arm&) {
      return std::make_unique<engine::embedded::EmbeddedEngine>(worker_program());
    });
  }
  return engine::EngineFactory([server](const trace::Arm&) {
    return std::make_unique<engine::server::ServerEngine>(server);
  });
}

}  // namespace

util::Result<engine::EngineFactory> plan_run(RunSettings& settings) {
  PACELINE_TRY_ASSIGN(const auto make_engine, plan_engines(settings));
  std::error_code absent;  // a mix may be written out instead of a file's name
  for (const auto& file : {settings.workload.mix, settings.server.mmproj})
    if (file && std::filesystem::is_regular_file(*file, absent))
      settings.output.inputs.push_back(*file);
  if (settings.price_defaults) PACELINE_TRY(price_defaults(settings.run, make_engine));
  settings.run.widths = true;
  settings.run.widest = settings.widest.value_or(widest_pass(settings.run.arms));
  return make_engine;
}

}  // namespace paceline::cli
