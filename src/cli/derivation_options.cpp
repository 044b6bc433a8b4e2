#include "cli/derivation_options.hpp"

#include <fmt/format.h>

#include <charconv>

#include "util/files.hpp"
#include "util/interrupt.hpp"

namespace paceline::cli {

namespace {

constexpr const char* derivation_group = "Copies of the models";

std::vector<std::string> quant_names() {
  std::vector<std::string> names;
  for (const auto& [quant, name] : util::EnumNames<protocol::Quant>::table)
    names.emplace_back(name);
  return names;
}

/// Reads a whole number at the start of `text` and takes it off.
bool take_number(std::string_view& text, int& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return problem == std::errc();
}

util::Result<study::Derivation> target_derivation(const DerivationSettings& settings) {
  study::Derivation derivation;
  derivation.quant = *util::enum_from_name<protocol::Quant>(settings.quant);
  if (!settings.ballast) return derivation;
  std::string_view text = *settings.ballast;
  const bool has_layers = take_number(text, derivation.extra_layers);
  const bool has_slash = !text.empty() && text.front() == '/';
  if (has_slash) text.remove_prefix(1);
  if (has_layers && has_slash && take_number(text, derivation.feed_forward) && text.empty() &&
      derivation.feed_forward > 0)
    return derivation;
  return util::fail(
      util::ErrorKind::usage,
      fmt::format("--ballast {}: write LAYERS/FFN, layers to add and the width of every "
                  "feed-forward, as in 32/5632",
                  *settings.ballast));
}

util::Result<std::string> derive(const std::string& model, const study::Derivation& derivation,
                                 engine::Engine& engine) {
  PACELINE_TRY_ASSIGN(const auto path, study::derived(model, derivation, util::cache_folder(),
                                                      engine, util::interrupted));
  return path.string();
}

void add_quant(CLI::App& command, const char* name, std::string& quant, const char* description) {
  command.add_option(name, quant, description)
      ->check(CLI::IsMember(quant_names()))
      ->type_name("TYPE")
      ->capture_default_str()
      ->group(derivation_group);
}

}  // namespace

void add_derivation_options(CLI::App& command, DerivationSettings& settings) {
  add_quant(command, "--quant", settings.quant,
            "Measure a copy of the target with its matrices stored so; made by llama.cpp's "
            "quantiser from an F16 or F32 file and kept in the cache folder");
  add_quant(command, "--draft-quant", settings.draft_quant, "The same for every drafter's file");
  command
      .add_option("--ballast", settings.ballast,
                  "Measure a heavier copy of a laboratory target that says the same: layers that "
                  "add nothing, and the width of every feed-forward, as in 32/5632")
      ->type_name("LAYERS/FFN")
      ->default_str("none")
      ->group(derivation_group);
}

util::Result<std::string> derived_target(const DerivationSettings& settings,
                                         const std::string& model, engine::Engine& engine) {
  PACELINE_TRY_ASSIGN(const auto derivation, target_derivation(settings));
  return derive(model, derivation, engine);
}

util::Result<void> derive_drafters(const DerivationSettings& settings, engine::Engine& engine,
                                   std::vector<trace::Arm>& arms) {
  study::Derivation derivation;
  derivation.quant = *util::enum_from_name<protocol::Quant>(settings.draft_quant);
  for (auto& arm : arms) {
    if (!arm.setup.draft_path) continue;
    PACELINE_TRY_ASSIGN(arm.setup.draft_path, derive(*arm.setup.draft_path, derivation, engine));
  }
  return {};
}

}  // namespace paceline::cli
