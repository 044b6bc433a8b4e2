#include "document/roofline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <numeric>

#include "cli/commands.hpp"
#include "cli/measure.hpp"
#include "cli/output.hpp"
#include "document/json.hpp"
#include "engine/embedded/embedded_engine.hpp"
#include "model/facts.hpp"
#include "report/roofline.hpp"
#include "study/inspect.hpp"
#include "study/observe.hpp"
#include "synth/head.hpp"
#include "synth/quant.hpp"
#include "util/clock.hpp"
#include "util/files.hpp"
#include "util/interrupt.hpp"
#include "util/misused.hpp"
#include "workload/prompts.hpp"

namespace paceline::cli {

namespace {

constexpr const char* about_roofline =
    "Says how many bytes a pass reads, by class of tensors, width and depth, and how many passes a "
    "bandwidth permits: from a file's head alone, or from the shape of a model that is not there. "
    "With --observe real passes are decoded, and what their graphs read stands beside it.";

constexpr int cell_step = 256;
constexpr int usual_context = 4096;
constexpr int usual_draft = 4;
constexpr int observed_output = 64;

struct Settings {
  std::string model;
  std::optional<std::string> drafter;
  bool predicts = false;
  protocol::Invent like;
  std::vector<std::string> shape;
  std::vector<std::string> quant_of;
  int depth = 0;
  std::vector<int> widths = {1, 4, 8, 16};
  int draft_tokens = 0;
  std::optional<int> n_ctx;
  std::string cache_type_k = "f16";
  std::string cache_type_v = "f16";
  int threads = 1;
  std::optional<double> bandwidth;
  std::optional<int> n_gpu_layers;
  std::optional<double> device_bandwidth;
  bool observes = false;
  std::optional<std::string> text;
  std::optional<std::string> json;
};

/// "NAME=VALUE" of an option that may come often.
util::Result<std::pair<std::string, std::string>> pair_of(const std::string& text,
                                                          const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return util::misused("{} {}: write NAME=VALUE", option, text);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

/// The plan of the model that --like names; no file is written.
util::Result<synth::Plan> planned(const Settings& settings) {
  protocol::Invent job = settings.like;
  for (const std::string& text : settings.shape) {
    PACELINE_TRY_ASSIGN(const auto pair, pair_of(text, "--shape"));
    const char* const end = pair.second.data() + pair.second.size();
    const auto read = std::from_chars(pair.second.data(), end, job.shape[pair.first]);
    if (read.ec != std::errc{} || read.ptr != end)
      return util::misused("--shape {}: the value is no whole number", text);
  }
  for (const std::string& text : settings.quant_of) {
    PACELINE_TRY_ASSIGN(const auto pair, pair_of(text, "--quant-of"));
    job.quant_of.insert(pair);
  }
  return synth::plan(job);
}

/// Names of the files, or what cannot be asked together.
util::Result<void> check(const Settings& settings) {
  if (settings.model.empty() == settings.like.like.empty())
    return util::misused("name one model: a file with -m, or a shape with --like");
  if (settings.observes && settings.model.empty())
    return util::misused("--observe decodes with a file: name it with -m instead of --like");
  if (settings.predicts && settings.drafter)
    return util::misused("--mtp drafts with the target's own blocks: leave -md out");
  if (settings.device_bandwidth && !settings.n_gpu_layers)
    return util::misused("--device-bandwidth is for layers on a device: -ngl says how many");
  if (settings.widths.empty()) return util::misused("--widths names no width");
  return {};
}

int tokens_decoded(const Settings& settings) {
  return settings.depth + std::accumulate(settings.widths.begin(), settings.widths.end(), 0);
}

int context_of(const Settings& settings) {
  if (settings.n_ctx) return *settings.n_ctx;
  const int needed = tokens_decoded(settings) + 2 * observed_output;
  return std::max(usual_context, (needed + cell_step - 1) / cell_step * cell_step);
}

/// The longest draft of the drafter, unless another length was asked for.
int draft_tokens(const Settings& settings, const document::RooflineQuestion& question) {
  if (settings.draft_tokens > 0) return settings.draft_tokens;
  const auto& drafter = question.drafter ? question.drafter->drafter : question.target.drafter;
  return drafter && drafter->longest_draft ? *drafter->longest_draft : usual_draft;
}

trace::SpecType spec_type_of(const Settings& settings,
                             const std::optional<model::FileFacts>& drafter) {
  using trace::SpecType;
  if (settings.predicts) return SpecType::draft_mtp;
  if (!drafter) return SpecType::none;
  const std::string kind = drafter->drafter ? drafter->drafter->kind : "";
  if (kind == "dflash" || kind == "dflash2") return SpecType::draft_dflash;
  if (kind == "dspark") return SpecType::draft_dspark;
  if (kind == "eagle3") return SpecType::draft_eagle3;
  return kind == "gemma4-assistant" ? SpecType::draft_mtp : SpecType::draft_simple;
}

/// Text to decode: the file that was named, or the prompts that ship, one behind the other.
util::Result<std::string> text_of(const Settings& settings) {
  if (settings.text) return util::read_file(*settings.text);
  PACELINE_TRY_ASSIGN(const auto workload, workload::load_workload("paceline"));
  std::string text;
  for (const workload::Prompt& prompt : workload.prompts) {
    text += prompt.text + "\n";
    for (const auto& message : prompt.messages) text += message.content + "\n";
  }
  return text;
}

util::Result<trace::Observation> observed(const Settings& settings,
                                          const document::RooflineQuestion& question,
                                          engine::Engine& engine) {
  protocol::Observe job;
  job.setup.model_path = settings.model;
  job.setup.draft_path = settings.drafter;
  job.setup.spec_type = spec_type_of(settings, question.drafter);
  job.setup.draft_n_max = settings.draft_tokens > 0 ? settings.draft_tokens : 0;
  if (job.setup.spec_type == trace::SpecType::none)
    job.setup.draft_n_max = *std::max_element(settings.widths.begin(), settings.widths.end()) - 1;
  else if (job.setup.draft_n_max == 0)
    job.setup.draft_n_max = question.draft_tokens;
  job.setup.n_ctx = question.shape.n_ctx;
  job.setup.kv = {settings.cache_type_k, settings.cache_type_v};
  job.setup.threads = settings.threads;
  PACELINE_TRY_ASSIGN(job.text, text_of(settings));
  job.depth = settings.depth;
  job.widths = settings.widths;
  job.n_predict = observed_output;
  return study::observe(engine, job, util::interrupted);
}

/// The head of the target; of a file, after the engine has read it: what ends its reader has ended
/// the engine by then.
util::Result<model::Gguf> target_head(const Settings& settings) {
  if (!settings.model.empty()) return model::Gguf::open(settings.model);
  PACELINE_TRY_ASSIGN(const synth::Plan plan, planned(settings));
  return synth::head_of(plan);
}

util::Result<void> place_layers(const Settings& settings, document::RooflineQuestion& question) {
  if (!settings.n_gpu_layers || !question.target.reads) return {};
  PACELINE_TRY_ASSIGN(const model::Gguf head, target_head(settings));
  PACELINE_TRY_ASSIGN(auto reads, model::placed_reads_of(head, *settings.n_gpu_layers));
  question.offload = {*settings.n_gpu_layers, std::move(reads), settings.device_bandwidth};
  return {};
}

/// What is asked, and the notes that belong to it.
util::Result<document::RooflineQuestion> question_of(const Settings& settings,
                                                     engine::Engine& engine,
                                                     std::vector<std::string>& notes) {
  document::RooflineQuestion question;
  if (settings.model.empty()) {
    PACELINE_TRY_ASSIGN(const synth::Plan plan, planned(settings));
    question.target = model::facts_of(synth::head_of(plan));
    notes = plan.notes;
    notes.insert(notes.begin(), "no file: the shape of " + plan.made_as);
  } else {
    PACELINE_TRY_ASSIGN(question.target, study::inspect(engine, settings.model, util::interrupted));
  }
  PACELINE_TRY(place_layers(settings, question));
  if (settings.drafter) {
    PACELINE_TRY_ASSIGN(question.drafter,
                        study::inspect(engine, *settings.drafter, util::interrupted));
  }
  question.predicts = settings.predicts;
  question.shape.depth = settings.depth;
  question.shape.n_ctx = context_of(settings);
  question.shape.cache_type_k = settings.cache_type_k;
  question.shape.cache_type_v = settings.cache_type_v;
  question.widths = settings.widths;
  question.draft_tokens = draft_tokens(settings, question);
  question.bandwidth = settings.bandwidth;
  if (settings.observes) {
    PACELINE_TRY_ASSIGN(question.observation, observed(settings, question, engine));
  }
  return question;
}

util::Result<int> roofline(const Settings& settings) {
  PACELINE_TRY(check(settings));
  PACELINE_TRY(check_json_path(settings.json, {settings.model, settings.drafter.value_or("")}));
  engine::embedded::EmbeddedEngine engine(worker_program());
  std::vector<std::string> notes;
  const auto question = question_of(settings, engine, notes);
  engine.close();
  if (util::interrupted()) return exit_interrupted;
  PACELINE_TRY(question);
  PACELINE_TRY_ASSIGN(document::Roofline made, document::to_roofline(*question));
  made.tool = {"paceline", PACELINE_VERSION};
  made.created = util::utc_now();
  made.notes = std::move(notes);
  const auto text = report::roofline(made, style_for(text_stream(settings.json)));
  PACELINE_TRY(write_out(text, document::to_json_text(made) + "\n", settings.json));
  return 0;
}

void add_model_options(CLI::App& command, Settings& settings) {
  const char* const group = "Model";
  command.add_option("-m,--model", settings.model, "Target model (GGUF)")
      ->type_name("FILE")
      ->default_str("none")
      ->group(group);
  command.add_option("--model-draft", settings.drafter, "Drafter of any kind (GGUF)")
      ->type_name("FILE")
      ->default_str("none")
      ->group(group);
  command.add_flag("--mtp", settings.predicts, "Draft with the target's own prediction blocks")
      ->group(group);
  command
      .add_option("--like", settings.like.like,
                  "Shape of a known model instead of a file; what of it is assumed is said")
      ->check(CLI::IsMember(synth::known_model_names()))
      ->type_name("MODEL")
      ->default_str("none")
      ->group(group);
  command
      .add_option("--scale", settings.like.scale, "Parameters over those of --like, as in synth")
      ->type_name("SHARE")
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--quant", settings.like.quant,
          fmt::format("Type of all its matrices: {}", fmt::join(synth::quant_names(), ", ")))
      ->type_name("TYPE")
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--quant-of", settings.quant_of,
          fmt::format("Type of one class of them: {}", fmt::join(synth::tensor_classes, ", ")))
      ->type_name("CLASS=TYPE")
      ->default_str("--quant")
      ->group(group);
  command
      .add_option("--shape", settings.shape,
                  "A number of its shape, by synth's option without dashes, as in layers=32")
      ->type_name("NAME=NUMBER")
      ->default_str("that of --like")
      ->group(group);
}

void add_cache_option(CLI::App& command, const char* name, std::string& type, const char* of) {
  command.add_option(name, type, fmt::format("Type of the target's {} cache", of))
      ->check(CLI::IsMember(
          std::vector<std::string>(trace::kv_cache_types.begin(), trace::kv_cache_types.end())))
      ->type_name("TYPE")
      ->capture_default_str()
      ->group("Passes");
}

void add_pass_options(CLI::App& command, Settings& settings) {
  const char* const group = "Passes";
  command.add_option("--depth", settings.depth, "Tokens in the KV cache before the first pass")
      ->check(CLI::Range(0, 1 << 20))
      ->type_name("TOKENS")
      ->capture_default_str()
      ->group(group);
  command.add_option("--widths", settings.widths, "Tokens of a pass")
      ->check(CLI::Range(1, 512))
      ->delimiter(',')
      ->type_name("TOKENS")
      ->default_str("1,4,8,16")
      ->group(group);
  command.add_option("--draft-n-max", settings.draft_tokens, "Tokens of a draft")
      ->check(CLI::Range(1, 512))
      ->type_name("TOKENS")
      ->default_str(fmt::format("the drafter's block, else {}", usual_draft))
      ->group(group);
  command.add_option("-c,--ctx-size", settings.n_ctx, "Context, which windows' caches follow")
      ->check(CLI::Range(16, 1 << 20))
      ->type_name("TOKENS")
      ->default_str(fmt::format("{}, or what is needed", usual_context))
      ->group(group);
  add_cache_option(command, "--cache-type-k", settings.cache_type_k, "K");
  add_cache_option(command, "--cache-type-v", settings.cache_type_v, "V");
  command
      .add_option("--bandwidth", settings.bandwidth,
                  "Bytes a second that can be read, for the ceiling in passes a second")
      ->check(CLI::Range(1.0, 1e18))
      ->type_name("NUMBER")
      ->default_str("no ceiling")
      ->group(group);
}

void add_device_options(CLI::App& command, Settings& settings) {
  const char* const group = "Layers on a device";
  command
      .add_option("--n-gpu-layers", settings.n_gpu_layers,
                  "Layers of the target that llama.cpp would put on a device, the output counting "
                  "as one: says what is read there and what by the CPU; a drafter of its own file "
                  "is left out of it")
      ->check(CLI::Range(0, 1 << 16))
      ->type_name("LAYERS")
      ->default_str("no device")
      ->group(group);
  command
      .add_option("--device-bandwidth", settings.device_bandwidth,
                  "Bytes a second that the device can read; --bandwidth is the CPU's then, and the "
                  "ceiling that of one after the other")
      ->check(CLI::Range(1.0, 1e18))
      ->type_name("NUMBER")
      ->default_str("no ceiling")
      ->group(group);
}

void add_observing_options(CLI::App& command, Settings& settings) {
  const char* const group = "Observing";
  command
      .add_flag("--observe", settings.observes,
                "Decode real passes and count what their graphs read: weights, experts, rows of "
                "tables with their pages, KV cells; nothing is timed")
      ->group(group);
  command.add_option("--text", settings.text, "Text to decode")
      ->type_name("FILE")
      ->default_str("the prompts that ship")
      ->group(group);
  command.add_option("-t,--threads", settings.threads, "CPU threads of the engine")
      ->check(CLI::Range(1, 1024))
      ->type_name("THREADS")
      ->capture_default_str()
      ->group(group);
}

}  // namespace

void add_roofline(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("roofline", about_roofline);
  add_model_options(*command, *settings);
  add_pass_options(*command, *settings);
  add_device_options(*command, *settings);
  add_observing_options(*command, *settings);
  command->add_option("--json", settings->json, "Write the document there; - is standard output")
      ->type_name("FILE")
      ->default_str("no document");
  command->footer(
      "Examples:\n"
      "  paceline roofline -m model.gguf --depth 4096 --bandwidth 273e9\n"
      "  paceline roofline -m model.gguf -ngl 20 --bandwidth 47e9 --device-bandwidth 900e9\n"
      "  paceline roofline -m target.gguf -md drafter.gguf --observe\n"
      "  paceline roofline --like qwen3.8-flash-next --quant iq4_xs --bandwidth 273e9");
  command->callback([settings, &action] { action = [settings] { return roofline(*settings); }; });
}

}  // namespace paceline::cli
