#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "cli/arms.hpp"
#include "cli/commands.hpp"
#include "cli/engine_options.hpp"
#include "cli/mapping.hpp"
#include "cli/output.hpp"
#include "cli/store_options.hpp"
#include "document/json.hpp"
#include "engine/embedded/embedded_engine.hpp"
#include "report/tune.hpp"
#include "study/inspect.hpp"
#include "util/console.hpp"
#include "util/files.hpp"
#include "util/interrupt.hpp"
#include "util/misused.hpp"
#include "workload/logs.hpp"

namespace paceline::cli {

namespace {

constexpr const char* about_predict =
    "Says how much of texts that you have a drafter would have guessed, and the tokens per pass "
    "and "
    "the speed-up that follow, by class; nothing is generated. Without a model n-gram drafters "
    "are asked, which need none.";

constexpr const char* examples =
    "Examples:\n"
    "  paceline predict log.jsonl\n"
    "      n-gram drafters on logs of chat completions; no model, so no speed\n"
    "  paceline predict log.jsonl -m target.gguf --arm ngram-map-k:4/16\n"
    "      the same by the model's own tokenizer\n"
    "  paceline predict log.jsonl notes.txt -m target.gguf --spec-type draft-mtp\n"
    "      the target's own MTP block, and the speed to expect on this machine";

struct Settings {
  std::vector<std::string> files;
  ArmSettings arms;
  std::vector<double> p_mins = {0};
  int most_tokens = 512;
  int texts_per_class = 24;
  std::optional<int> launches;
  std::uint64_t seed = 1;
  Output output;
};

bool needs_model(const std::vector<trace::Arm>& arms) {
  return std::any_of(arms.begin(), arms.end(), [](const trace::Arm& arm) {
    return !trace::is_denominator(arm) && !trace::is_ngram(arm.setup.spec_type);
  });
}

/// N-grams of sizes at which short texts are drafted too, where nobody names a drafter.
void choose_drafters(ArmSettings& arms) {
  if (!arms.spec_types.empty() || !arms.extra.empty() || arms.draft_model) return;
  arms.extra = {"ngram-simple:4/16", "ngram-map-k:4/16", "ngram-cache"};
}

/// The first texts of each class in all files.
util::Result<std::vector<protocol::KnownText>> read_texts(const Settings& settings,
                                                          std::vector<std::string>& notes) {
  std::vector<protocol::KnownText> texts;
  std::map<std::string, int> taken;
  int left_out = 0;
  for (const std::string& file : settings.files) {
    PACELINE_TRY_ASSIGN(const std::string text, util::read_file(file));
    PACELINE_TRY_ASSIGN(auto logs, workload::read_logs(text, file));
    for (auto& one : logs.texts) {
      if (taken[one.workload_class]++ >= settings.texts_per_class) {
        ++left_out;
        continue;
      }
      if (settings.files.size() > 1) one.prompt_id = file + ":" + one.prompt_id;
      texts.push_back(std::move(one));
    }
    notes.insert(notes.end(), logs.notes.begin(), logs.notes.end());
  }
  if (left_out > 0)
    notes.push_back(fmt::format("the first {} texts of each class are taken; {} are left out",
                                settings.texts_per_class, left_out));
  return texts;
}

/// What stands before a text, for a model without a chat template.
void join_messages(std::vector<protocol::KnownText>& texts) {
  for (auto& text : texts) {
    for (const auto& message : text.messages) text.prompt += message.content + "\n";
    text.messages.clear();
  }
}

/// The arms, and what the model's file says about them.
util::Result<std::vector<trace::Arm>> plan_arms(Settings& settings,
                                                std::vector<protocol::KnownText>& texts,
                                                std::vector<std::string>& notes) {
  ArmSettings& arms = settings.arms;
  choose_drafters(arms);
  engine::embedded::EmbeddedEngine reader(worker_program());
  bool has_template = false;
  if (!arms.model.empty()) {
    PACELINE_TRY_ASSIGN(const auto target, study::inspect(reader, arms.model, util::interrupted));
    has_template = target.has_chat_template;
  }
  if (arms.draft_model && arms.spec_types.empty()) {
    PACELINE_TRY_ASSIGN(const auto drafter,
                        study::inspect(reader, *arms.draft_model, util::interrupted));
    PACELINE_TRY_ASSIGN(arms.found_type, drafter_type(drafter));
  }
  PACELINE_TRY_ASSIGN(auto made, make_arms(arms));
  PACELINE_TRY(prepare_arms(made));
  if (needs_model(made) && arms.model.empty())
    return util::misused("a drafter with a model needs its target: add -m FILE");
  const bool loads = needs_model(made) || settings.launches.value_or(0) > 0;
  if (!loads) std::erase_if(made, [](const trace::Arm& arm) { return trace::is_denominator(arm); });
  const bool has_messages = std::any_of(texts.begin(), texts.end(),
                                        [](const auto& text) { return !text.messages.empty(); });
  if (has_messages && (!loads || !has_template)) {
    join_messages(texts);
    notes.emplace_back(
        "the contents of messages, a line each, stand before a text: no chat template");
  }
  if (arms.model.empty())
    notes.emplace_back(
        "no model: a token is a word with the space before it, up to three digits, a run of one "
        "white space, or one other character");
  return made;
}

util::Result<study::MapOptions> options_of(Settings& settings, study::RunOptions& run) {
  study::MapOptions options;
  PACELINE_TRY_ASSIGN(options.texts, read_texts(settings, run.workload_notes));
  PACELINE_TRY_ASSIGN(run.arms, plan_arms(settings, options.texts, run.workload_notes));
  options.arms = run.arms;
  for (const auto& text : options.texts) options.families.push_back(text.prompt_id);
  options.p_mins = settings.p_mins;
  for (const auto& arm : run.arms)
    options.longest = std::max(options.longest, arm.setup.draft_n_max);
  options.rounds = settings.launches.value_or(needs_model(run.arms) ? 3 : 0);
  options.most_tokens = settings.most_tokens;
  options.vocabulary = settings.arms.model;
  options.seed = settings.seed;
  run.seed = settings.seed;
  run.workload = settings.files.front();
  run.n_predict = 0;
  return options;
}

/// Files that the document must not be written over.
std::vector<std::string> kept_files(const Settings& settings) {
  std::vector<std::string> files = settings.files;
  files.insert(files.end(),
               {settings.arms.model, settings.arms.draft_model.value_or(""),
                settings.output.trace.value_or(""), store_file(settings.output.db).string()});
  return files;
}

util::Result<int> predict(Settings settings) {
  PACELINE_TRY(check_json_path(settings.output.json, kept_files(settings)));
  settings.output.inputs = settings.files;
  study::RunOptions run;
  PACELINE_TRY_ASSIGN(const study::MapOptions options, options_of(settings, run));
  if (util::interrupted()) return exit_interrupted;
  if (settings.launches.value_or(0) > 0 && settings.arms.model.empty())
    return util::misused("--launches times passes of a model: add -m FILE");
  PACELINE_TRY_ASSIGN(const trace::Trace map,
                      make_map(options, run, settings.output, [](const trace::Arm&) {
                        return std::make_unique<engine::embedded::EmbeddedEngine>(worker_program());
                      }));
  if (util::interrupted()) {
    say_how_to_go_on(map, settings.output);
    return exit_interrupted;
  }
  PACELINE_TRY(check_mapped(map));
  const auto made = document::to_tune(map, equal_mix(map));
  PACELINE_TRY(write_out(report::tune(made, style_for(text_stream(settings.output.json))),
                         document::to_json_text(made) + "\n", settings.output.json));
  return 0;
}

void add_text_options(CLI::App& command, Settings& settings) {
  const char* const group = "Texts";
  command
      .add_option("files", settings.files, "Logs of chat completions (JSON Lines), or plain text")
      ->type_name("FILE")
      ->required();
  command
      .add_option("-n,--most-tokens", settings.most_tokens, "Tokens of each text, from its start")
      ->check(CLI::Range(2, 1 << 20))
      ->type_name("TOKENS")
      ->capture_default_str()
      ->group(group);
  command.add_option("--texts", settings.texts_per_class, "Texts of each class, the first ones")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("TEXTS")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--p-min", settings.p_mins,
                  "Probabilities below which a draft ends, each with every length")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("SHARE[,..]")
      ->default_str("0")
      ->group(group);
  command.add_option("--launches", settings.launches, "Launches that passes are timed in; 0: none")
      ->check(CLI::Range(0, 1000))
      ->type_name("LAUNCHES")
      ->default_str("3 for drafters with a model, else 0")
      ->group(group);
  command
      .add_option("--json", settings.output.json, "Write the document there; - is standard output")
      ->type_name("FILE")
      ->default_str("none")
      ->group("Output");
  command.add_option("--trace", settings.output.trace, "Write the raw trace there, too")
      ->type_name("FILE")
      ->default_str("in the store alone")
      ->group("Output");
  add_store_options(command, settings.output);
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("predict", about_predict);
  add_text_options(*command, *settings);
  add_engine_options(*command, settings->arms);
  command->footer(examples);
  command->callback([settings, &action] { action = [settings] { return predict(*settings); }; });
}

}  // namespace paceline::cli
