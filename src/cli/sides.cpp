#include "cli/sides.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "cli/option_table.hpp"
#include "cli/senseless_value.hpp"
#include "cli/words.hpp"
#include "util/misused.hpp"

namespace paceline::cli {

namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 4> groups_of_a_side{"Engine", "Copies of the models",
                                                           "Server", "Sampling"};

/// Options of `run` that make more arms, or other studies.
constexpr std::array<std::string_view, 9> refused{
    "--no-plain", "--url-plain",   "--price-defaults", "--force-text", "--phases",
    "--widths",   "--concurrency", "--rate",           "--requests"};

bool contains(const auto& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

GivenOption given(const CLI::Option& option) {
  return {option.get_name(), option.results(), is_flag(option), row_of(option).repeatable,
          contains(groups_of_a_side, option.get_group())};
}

/// The options that words alone give, read as `run` reads them.
util::Result<std::vector<GivenOption>> read_options(const std::string& side, Words words,
                                                    RunSettings& settings) {
  CLI::App app;
  add_run_options(app, settings);
  for (auto& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (const auto long_name = long_name_of(name)) word.replace(0, name.size(), *long_name);
  }
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
    if (const std::string senseless = senseless_value(app); !senseless.empty())
      throw CLI::ValidationError(senseless);
  } catch (const CLI::ParseError& problem) {
    return util::misused(
        "{}: {}; what run takes of an engine, a server, copies and sampling can "
        "stand there (paceline run --help)",
        side, problem.what());
  }
  return given_options(app);
}

void append(Words& words, const GivenOption& option, const std::string& value) {
  words.push_back(option.is_flag ? option.name : option.name + "=" + value);
}

/// One side's words: what is shared and not said again, then its own.
struct SideText {
  Words all;
  std::string own;  ///< for people
};

util::Result<SideText> words_of(const SideWords& words, const std::string& name,
                                const std::string& text, std::size_t place) {
  SideText result;
  PACELINE_TRY_ASSIGN(const Words own, split_words(text));
  RunSettings unused;
  PACELINE_TRY_ASSIGN(const auto own_options, read_options(name, own, unused));
  std::set<std::string> said;
  for (const auto& option : own_options) {
    if (!option.of_a_side)
      return util::misused("{}: {} is of the study, not of a side: give it outside, for both", name,
                           option.name);
    said.insert(option.name);
  }
  result.own = text;
  for (const auto& option : words.shared) {
    if (said.contains(option.name)) continue;
    const bool twice = !option.is_flag && !option.is_list && option.values.size() > 1;
    if (twice && option.values.size() > 2)
      return util::misused("{} is given {} times: once for both sides, or for A and then for B",
                           option.name, option.values.size());
    for (std::size_t i = 0; i < option.values.size(); ++i)
      if (!twice || i == place) append(result.all, option, option.values[i]);
    if (twice)
      result.own += (result.own.empty() ? "" : " ") + option.name + " " + option.values[place];
  }
  result.all.insert(result.all.end(), own.begin(), own.end());
  return result;
}

bool speculates(const ArmSettings& arms) {
  return !arms.spec_types.empty() || arms.draft_model || arms.draft_n_max || !arms.extra.empty();
}

struct Side {
  RunSettings settings;
  engine::EngineFactory make_engine;
  std::string says;
};

util::Result<Side> plan_side(const SideWords& words, const std::string& name,
                             const std::string& text, std::size_t place) {
  Side side;
  PACELINE_TRY_ASSIGN(const auto of_side, words_of(words, name, text, place));
  PACELINE_TRY(read_options(name, of_side.all, side.settings));
  side.says = of_side.own;
  side.settings.arms.no_plain = speculates(side.settings.arms);
  PACELINE_TRY_ASSIGN(side.make_engine, plan_run(side.settings));
  const auto& arms = side.settings.run.arms;
  if (arms.size() == 1) return side;
  std::vector<std::string> names;
  for (const auto& arm : arms) names.push_back(arm.name);
  return util::misused("{} asks for {} arms ({}), and a side is one: name one", name, arms.size(),
                       fmt::join(names, ", "));
}

util::Result<void> check_same_study(const study::RunOptions& a, const study::RunOptions& b) {
  const auto ids = [](const study::RunOptions& run) {
    std::vector<std::string> result;
    for (const auto& prompt : run.prompts.measured) result.push_back(prompt.id);
    return result;
  };
  if (a.workload == b.workload && a.prompt_form == b.prompt_form && ids(a) == ids(b)) return {};
  return util::misused(
      "the models of A and B would be asked other prompts ({} and {}): name the "
      "--workload and the --prompt-form for both",
      a.workload, b.workload);
}

}  // namespace

void let_sides_differ(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (contains(groups_of_a_side, option->get_group()) && !is_flag(*option) &&
        !row_of(*option).repeatable)
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

std::vector<GivenOption> given_options(const CLI::App& command) {
  std::vector<GivenOption> options;
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0 && !option->get_positional()) options.push_back(given(*option));
  return options;
}

util::Result<Sides> plan_sides(const SideWords& words) {
  for (const auto& option : words.shared)
    if (contains(refused, option.name))
      return util::misused(
          "{} is not for compare: A and B are one arm each, held against one "
          "another",
          option.name);
  PACELINE_TRY_ASSIGN(Side a, plan_side(words, "--a", words.a, 0));
  PACELINE_TRY_ASSIGN(Side b, plan_side(words, "--b", words.b, 1));
  PACELINE_TRY(check_same_study(a.settings.run, b.settings.run));
  Sides sides{std::move(a.settings.run), {}, std::move(a.settings.output), a.says, b.says};
  trace::Arm arm = sides.run.arms.front();
  arm.plain = trace::plain_arm;
  sides.run.arms = {arm, b.settings.run.arms.front(), arm};
  sides.run.arms[0].name = arm_a;
  sides.run.arms[1].name = arm_b;
  sides.run.arms[1].plain = trace::plain_arm;
  sides.run.arms[2].name = arm_again;
  sides.run.widths = sides.run.ceilings = false;
  sides.make_engine = [of_a = std::move(a.make_engine), of_b = std::move(b.make_engine)](
                          const trace::Arm& one) { return (one.name == arm_b ? of_b : of_a)(one); };
  return sides;
}

}  // namespace paceline::cli
