#include "cli/workload_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "trace/names.hpp"
#include "workload/mix_file.hpp"
#include "workload/picture.hpp"
#include "workload/prompts.hpp"

namespace paceline::cli {

namespace {

constexpr const char* group = "Measuring";
constexpr const char* whatever_fits = "auto";

std::vector<std::string> with_auto(std::vector<std::string> names) {
  names.insert(names.begin(), whatever_fits);
  return names;
}

/// The user's classes, else the mix's, else the default ones of the default workload.
std::vector<std::string> wanted_classes(const WorkloadSettings& settings,
                                        const workload::Defaults& defaults,
                                        const std::optional<trace::Mix>& mix) {
  if (!settings.classes.empty()) return settings.classes;
  if (mix) {
    std::vector<std::string> classes;
    for (const auto& [name, item] : mix->classes)
      if (item.share > 0) classes.push_back(name);
    return classes;
  }
  return settings.workload ? std::vector<std::string>{} : defaults.classes;
}

}  // namespace

void add_workload_options(CLI::App& command, WorkloadSettings& settings) {
  command
      .add_option("--workload", settings.workload,
                  "Prompts to send: paceline (six classes), lab (held out from the laboratory "
                  "models), evaluation (questions, for `paceline score`), or a file, JSON or "
                  "JSON lines, in one of the formats below")
      ->type_name("NAME|FILE")
      ->default_str("lab on laboratory models, else code, prose and json of paceline")
      ->group(group);
  command
      .add_option("--workload-format", settings.format,
                  "Format of that file; auto finds it from the first record")
      ->check(CLI::IsMember(with_auto(workload::format_names())))
      ->type_name("FORMAT")
      ->capture_default_str()
      ->group(group);
  command.add_option("--class", settings.classes, "Only these classes, comma-separated")
      ->delimiter(',')
      ->type_name("CLASS")
      ->default_str("those of the mix, else all")
      ->group(group);
  command
      .add_option("--prompts", settings.prompts_per_class,
                  "Prompts of each class, the first ones of the file")
      ->check(CLI::Range(1, 100000))
      ->type_name("PROMPTS")
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--prompt-form", settings.form,
          "How prompts are sent: raw text to continue, or chat messages through the "
          "model's template; auto is chat where the model's file has a template, and with --url")
      ->check(CLI::IsMember({"auto", "raw", "chat"}))
      ->type_name("FORM")
      ->capture_default_str()
      ->group(group);
  command
      .add_flag("--image", settings.image,
                "Every chat prompt carries a small picture made by this tool, a new one each time, "
                "so that a server's vision projector is used")
      ->group(group);
  command
      .add_option("--mix", settings.mix,
                  "What PAT weighs: shares of output tokens as code=0.4,prose=0.3,json=0.3 with "
                  "-n tokens a request, or a .toml file that says more")
      ->type_name("SHARES|FILE")
      ->default_str("equal shares")
      ->group(group);
}

util::Result<void> choose_workload(const WorkloadSettings& settings,
                                   const workload::Defaults& defaults, study::RunOptions& run) {
  if (settings.mix) {
    PACELINE_TRY_ASSIGN(run.mix, workload::load_mix(*settings.mix, run.n_predict));
  }
  run.workload = settings.workload.value_or(defaults.workload);
  run.prompt_form = util::enum_from_name<trace::PromptForm>(settings.form).value_or(defaults.form);
  PACELINE_TRY_ASSIGN(auto read, workload::load_workload(run.workload, settings.format));
  run.workload_notes = std::move(read.notes);
  PACELINE_TRY_ASSIGN(auto chosen,
                      workload::select(read.prompts, wanted_classes(settings, defaults, run.mix),
                                       settings.prompts_per_class, settings.held_out_per_class));
  PACELINE_TRY_ASSIGN(run.prompts, workload::in_form(std::move(chosen), run.prompt_form));
  PACELINE_TRY(choose_fill(settings.depths, read.prompts, run));
  if (!settings.image) return {};
  if (run.prompt_form != trace::PromptForm::chat)
    return util::fail(util::ErrorKind::usage,
                      "--image goes with chat messages, and these prompts are raw text: add "
                      "--prompt-form chat, for a model that has a chat template");
  run.pictures = true;
  run.workload_notes.push_back(
      fmt::format("every prompt carries a picture of {0}x{0} pixels, a new one each time",
                  workload::picture_side));
  return {};
}

}  // namespace paceline::cli
