#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>
#include <memory>

#include "cli/commands.hpp"
#include "cli/measure.hpp"
#include "cli/sizes.hpp"
#include "engine/embedded/embedded_engine.hpp"
#include "study/writing.hpp"
#include "synth/plan.hpp"
#include "synth/quant.hpp"
#include "util/console.hpp"
#include "util/interrupt.hpp"
#include "util/progress.hpp"

namespace paceline::cli {

namespace {

constexpr const char* about_synth =
    "Writes a model of random weights, of any shape and quantisation, or a drafter for it: what a "
    "machine does with a model can be measured without its weights. Its text means nothing, and "
    "every report says so. With --ballast instead a heavier copy of a real model, which says the "
    "same.";

struct Settings {
  protocol::Invent job;
  std::string drafter;
  std::vector<std::string> quant_of;
  std::optional<std::string> ballast;
  std::vector<std::string> files;
};

util::Result<void> check_new(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return {};
  return util::fail(util::ErrorKind::usage,
                    fmt::format("{} is there already: remove it or name another file", path));
}

std::string megabytes(std::uint64_t bytes) { return fmt::format("{} MB", bytes / 1000000); }

std::string free_space(const std::string& path) {
  std::error_code unknown;
  const auto folder = std::filesystem::absolute(path).parent_path();
  const auto space = std::filesystem::space(folder, unknown);
  return unknown ? std::string("free space unknown") : megabytes(space.available) + " free";
}

/// Runs the job in a worker of its own, with progress in bytes of `total`.
util::Result<int> written(const protocol::Job& job, const std::string& path, std::uint64_t total) {
  engine::embedded::EmbeddedEngine writer(worker_program());
  util::Progress progress(::isatty(STDERR_FILENO) != 0);
  const auto heard = [&](std::uint64_t bytes) {
    progress.update(static_cast<double>(bytes), static_cast<double>(total),
                    fmt::format("{} of {} written", megabytes(bytes), megabytes(total)));
  };
  const auto done = study::write_model(writer, job, heard, util::interrupted);
  writer.close();
  progress.clear();
  if (!done && util::interrupted()) return exit_interrupted;
  PACELINE_TRY(done);
  std::error_code unknown;
  util::say(fmt::format("Written: {}, {} bytes.", path, std::filesystem::file_size(path, unknown)));
  return 0;
}

util::Result<int> add_ballast(const Settings& settings) {
  if (settings.files.size() != 2)
    return util::fail(util::ErrorKind::usage,
                      "--ballast SIZE takes two files: the model, and the "
                      "heavier copy to write");
  protocol::Synth job;
  job.source_path = settings.files[0];
  job.destination_path = settings.files[1];
  PACELINE_TRY_ASSIGN(job.ballast_bytes, parse_size(*settings.ballast));
  PACELINE_TRY(check_new(job.destination_path));
  util::say(fmt::format("Plan: a copy of {} of about {}, {}.", job.source_path,
                        megabytes(job.ballast_bytes), free_space(job.destination_path)));
  return written(job, job.destination_path, job.ballast_bytes);
}

util::Result<std::map<std::string, std::string>> types_by_class(
    const std::vector<std::string>& asked) {
  std::map<std::string, std::string> types;
  for (const std::string& text : asked) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      return util::fail(util::ErrorKind::usage,
                        fmt::format("--quant-of {}: write CLASS=TYPE, as in output=q6_K", text));
    types[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return types;
}

util::Result<int> invent(const Settings& settings) {
  if (settings.files.size() != 1)
    return util::fail(util::ErrorKind::usage, "name one file to write");
  protocol::Invent job = settings.job;
  job.destination_path = settings.files.front();
  if (!settings.drafter.empty()) job.architecture = settings.drafter;
  if (settings.drafter.empty() != job.target_path.empty())
    return util::fail(util::ErrorKind::usage, "--drafter KIND and --for TARGET go together");
  PACELINE_TRY_ASSIGN(job.quant_of, types_by_class(settings.quant_of));
  PACELINE_TRY(check_new(job.destination_path));
  PACELINE_TRY_ASSIGN(const synth::Plan plan, synth::plan(job));
  util::say(fmt::format("Plan: {}", plan.made_as));
  util::say(fmt::format("      {:.4g} M parameters, {} to write, {}",
                        static_cast<double>(plan.parameters()) / 1e6, megabytes(plan.bytes()),
                        free_space(job.destination_path)));
  for (const std::string& note : plan.notes) util::say("      " + note);
  return written(job, job.destination_path, plan.bytes());
}

void add_kind_options(CLI::App& command, Settings& settings) {
  const char* const group = "What to write";
  command
      .add_option("--arch", settings.job.architecture,
                  fmt::format("Architecture: {}", fmt::join(synth::model_kinds(), ", ")))
      ->type_name("NAME")
      ->default_str("that of --like")
      ->group(group);
  command
      .add_option("--like", settings.job.like,
                  "Shape of a known model; what of it is no public fact is said to be assumed")
      ->check(CLI::IsMember(synth::known_model_names()))
      ->type_name("MODEL")
      ->default_str("none")
      ->group(group);
  command
      .add_option("--scale", settings.job.scale,
                  "Parameters over those of --like: layers, widths and heads are multiplied by one "
                  "factor, the vocabulary by its square; widths are multiples of 256")
      ->type_name("SHARE")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--drafter", settings.drafter,
                  fmt::format("A drafter instead: {}", fmt::join(synth::drafter_kinds(), ", ")))
      ->type_name("KIND")
      ->default_str("a model")
      ->group(group);
  command.add_option("--for", settings.job.target_path, "The model that the drafter is for")
      ->type_name("FILE")
      ->default_str("none")
      ->group(group);
  command
      .add_option("--agreement", settings.job.agreement,
                  "Share of greedy draft tokens that the target says too, for draft-simple, dspark "
                  "and an MTP block; the target has to be synthetic, with a head of its own")
      ->type_name("SHARE")
      ->default_str("1")
      ->group(group);
  command
      .add_option("--ballast", settings.ballast,
                  "A copy of the first file that has this size and says the same: layers that add "
                  "nothing are added, behind those that drafters read")
      ->type_name("SIZE")
      ->default_str("none")
      ->group(group);
}

void add_weight_options(CLI::App& command, Settings& settings) {
  const char* const group = "Weights";
  command.add_option("--seed", settings.job.seed, "The same seed gives the same file")
      ->check(CLI::Range(std::uint64_t{0},
                         static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())))
      ->type_name("NUMBER")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--quant", settings.job.quant,
                  fmt::format("Type of all matrices: {}", fmt::join(synth::quant_names(), ", ")))
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
}

void add_shape_options(CLI::App& command, Settings& settings) {
  for (const synth::ShapeField& field : synth::shape_fields)
    command
        .add_option_function<std::int64_t>(
            fmt::format("--{}", field.name),
            [&settings, name = field.name](std::int64_t number) {
              settings.job.shape[name] = number;
            },
            field.about)
        ->type_name("NUMBER")
        ->default_str(fmt::format("{}", synth::Shape().*field.value))
        ->group("Shape, in place of the architecture's small one or the known model's");
}

}  // namespace

void add_synth(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("synth", about_synth);
  add_kind_options(*command, *settings);
  add_weight_options(*command, *settings);
  add_shape_options(*command, *settings);
  command->add_option("files", settings->files, "File to write; with --ballast the model before it")
      ->type_name("FILE")
      ->expected(1, 2)
      ->required();
  command->footer(
      "Examples:\n"
      "  paceline synth --like muse-glimmer-30b --scale 0.02 --quant q4_K --quant-of output=q6_K "
      "muse.gguf\n"
      "  paceline synth --drafter dflash2 --for muse.gguf muse-dflash2.gguf\n"
      "  paceline synth --arch llama --layers 8 --embd 512 target.gguf\n"
      "  paceline synth --drafter draft-simple --for target.gguf --agreement 0.8 draft.gguf\n"
      "  paceline synth --ballast 800MB small.gguf heavy.gguf");
  command->callback([settings, &action] {
    action = [settings] { return settings->ballast ? add_ballast(*settings) : invent(*settings); };
  });
}

}  // namespace paceline::cli
