#include "cli/sweep_points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cli/engine_options.hpp"
#include "cli/option_table.hpp"
#include "trace/json.hpp"
#include "util/misused.hpp"

namespace paceline::cli {

namespace {

constexpr std::size_t most_values = 256;
constexpr std::size_t most_points = 1024;
constexpr const char* server_bin = "--server-bin";
/// Options of the engine that say more than how one arm is.
constexpr std::array not_of_an_arm = {"--model", "--arm", "--no-plain"};

using Values = std::vector<std::string>;

/// An option that is varied: its long name on the command line, and how labels call it.
struct Knob {
  std::string long_name;
  trace::SweptOption option;
};

/// What one point's options were read into.
struct Reading {
  ArmSettings arms;
  std::string server;
};

void add_point_options(CLI::App& app, Reading& reading) {
  add_engine_options(app, reading.arms);
  add_sampling_options(app, reading.arms.sampling);
  app.add_option(server_bin, reading.server);
}

/// The long name of an option of an arm, from any of its names without dashes.
util::Result<std::string> long_name(const std::string& name) {
  Reading unused;
  CLI::App app;
  add_point_options(app, unused);
  const auto known = long_name_of("-" + name);
  const CLI::Option* option = nullptr;
  for (const auto& candidate : {known ? std::string(*known) : "", "--" + name, "-" + name})
    if (option == nullptr && !candidate.empty()) option = app.get_option_no_throw(candidate);
  if (option != nullptr && !option->get_lnames().empty()) {
    const std::string found = "--" + option->get_lnames().front();
    if (std::find(not_of_an_arm.begin(), not_of_an_arm.end(), found) == not_of_an_arm.end() &&
        found != "--help")
      return found;
  }
  return util::misused(
      "--vary {}: that is no option that one arm can have and another not; vary for instance "
      "spec-draft-n-max, spec-type, cache-type-k, threads, ctx-size, temp or server-bin",
      name);
}

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "1..8" or "2..16:2" as its numbers; any other text as itself.
util::Result<Values> expand(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return Values{text};
  const std::size_t colon = text.find(':', dots);
  const auto first = whole_number(std::string_view(text).substr(0, dots));
  const auto last = whole_number(std::string_view(text).substr(dots + 2, colon - dots - 2));
  const auto step = colon == std::string::npos
                        ? std::optional(1)
                        : whole_number(std::string_view(text).substr(colon + 1));
  if (!first || !last || !step || *step < 1 || *last < *first ||
      static_cast<std::size_t>((*last - *first) / *step) >= most_values)
    return util::misused(
        "\"{}\" is no range: write FIRST..LAST or FIRST..LAST:STEP, whole numbers from the least "
        "on, at most {} of them",
        text, most_values);
  Values values;
  for (int number = *first; number <= *last; number += *step)
    values.push_back(std::to_string(number));
  return values;
}

/// NAME and what is behind the first =.
util::Result<std::pair<std::string, std::string>> split_name(const std::string& text,
                                                             const char* option) {
  std::string name = text.substr(0, text.find('='));
  name.erase(0, name.find_first_not_of('-'));
  if (name.empty() || name.size() + 1 >= text.size() || text.find('=') == std::string::npos)
    return util::misused("{} {}: write NAME=VALUE, as in {} spec-draft-n-max=4", option, text,
                         option);
  return std::pair(name, text.substr(text.find('=') + 1));
}

std::string label_of(const std::string& name) {
  const std::string prefix = "spec-draft-";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

util::Result<Knob> read_knob(const std::string& text) {
  PACELINE_TRY_ASSIGN(const auto parts, split_name(text, "--vary"));
  Knob knob;
  PACELINE_TRY_ASSIGN(knob.long_name, long_name(parts.first));
  knob.option.name = label_of(parts.first);
  for (const auto& item : CLI::detail::split(parts.second, ',')) {
    PACELINE_TRY_ASSIGN(const auto values, expand(item));
    for (const auto& value : values)
      if (std::count(knob.option.values.begin(), knob.option.values.end(), value) == 0)
        knob.option.values.push_back(value);
  }
  return knob;
}

util::Result<std::vector<Knob>> read_knobs(const SweepSettings& settings) {
  std::vector<Knob> knobs;
  for (const auto& text : settings.vary) {
    PACELINE_TRY_ASSIGN(auto knob, read_knob(text));
    for (const auto& other : knobs)
      if (other.long_name == knob.long_name)
        return util::misused("--vary names {} twice: give all its values in one list",
                             knob.long_name);
    knobs.push_back(std::move(knob));
  }
  if (knobs.empty())
    return util::misused("nothing is varied: add --vary, as in --vary spec-draft-n-max=1..8");
  return knobs;
}

/// The values in the middle of a sweep around a point, each knob's first where --around is silent.
util::Result<Values> read_centre(const SweepSettings& settings, std::vector<Knob>& knobs) {
  Values centre;
  for (const auto& knob : knobs) centre.push_back(knob.option.values.front());
  for (const auto& text : settings.around) {
    PACELINE_TRY_ASSIGN(const auto parts, split_name(text, "--around"));
    PACELINE_TRY_ASSIGN(const auto name, long_name(parts.first));
    const auto knob = std::find_if(knobs.begin(), knobs.end(),
                                   [&](const Knob& one) { return one.long_name == name; });
    if (knob == knobs.end())
      return util::misused("--around {}: it is not varied; give {} as it is, or --vary it", text,
                           name);
    auto& values = knob->option.values;
    if (std::count(values.begin(), values.end(), parts.second) == 0) values.push_back(parts.second);
    centre[static_cast<std::size_t>(knob - knobs.begin())] = parts.second;
  }
  return centre;
}

/// The centre, then every other value of each knob in its place.
std::vector<Values> around(const Values& centre, const std::vector<Knob>& knobs) {
  std::vector<Values> points = {centre};
  for (std::size_t i = 0; i < knobs.size(); ++i)
    for (const auto& value : knobs[i].option.values)
      if (value != centre[i]) {
        points.push_back(centre);
        points.back()[i] = value;
      }
  return points;
}

std::vector<Values> all_combinations(const std::vector<Knob>& knobs) {
  std::vector<Values> points = {{}};
  for (const auto& knob : knobs) {
    std::vector<Values> longer;
    for (const auto& point : points)
      for (const auto& value : knob.option.values) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    points = std::move(longer);
    if (points.size() > most_points) break;
  }
  return points;
}

/// "n-max=8 ctk=q8_0", of the knobs that count.
std::string label(const std::vector<Knob>& knobs, const Values& values,
                  const std::vector<bool>& counts) {
  std::string text;
  for (std::size_t i = 0; i < knobs.size(); ++i)
    if (counts[i]) text += (text.empty() ? "" : " ") + knobs[i].option.name + "=" + values[i];
  return text;
}

/// A point's own arm, absent where it does not speculate, and the plain one beside it.
struct PointArms {
  std::optional<trace::Arm> own;
  trace::Arm plain;
};

util::Result<PointArms> arms_at(const ArmSettings& base, const std::vector<Knob>& knobs,
                                const Values& values) {
  Reading reading{base, ""};
  CLI::App app;
  add_point_options(app, reading);
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < knobs.size(); ++i)
    arguments.push_back(knobs[i].long_name + "=" + values[i]);
  const std::string point = label(knobs, values, std::vector(knobs.size(), true));
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& problem) {
    return util::misused("the point {} cannot be: {}", point, problem.what());
  }
  reading.arms.no_plain = false;
  const auto made = make_arms(reading.arms);
  if (!made) return util::misused("the point {} cannot be: {}", point, made.error().message);
  PointArms arms;
  for (auto arm : *made) {
    arm.setup.server_bin = reading.server;
    if (trace::is_denominator(arm))
      arms.plain = std::move(arm);
    else
      arms.own = std::move(arm);
  }
  if (made->size() > (arms.own ? 2U : 1U))
    return util::misused(
        "the point {} is {} arms and has to be one: give one --spec-type, no --arm, and lists of "
        "values to --vary only",
        point, made->size());
  return arms;
}

/// Which knobs make a difference to plain decoding, one at a time from `centre`.
util::Result<std::vector<bool>> touch_plain(const ArmSettings& base, const std::vector<Knob>& knobs,
                                            const Values& centre) {
  std::vector<bool> touches;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    std::set<std::string> different;
    for (const auto& value : knobs[i].option.values) {
      Values values = centre;
      values[i] = value;
      PACELINE_TRY_ASSIGN(const auto arms, arms_at(base, knobs, values));
      different.insert(util::dump_json(arms.plain));
    }
    touches.push_back(different.size() > 1);
  }
  return touches;
}

/// Collects the arms of a sweep, each plain one once.
class Collector {
 public:
  Collector(const ArmSettings& base, std::vector<Knob> knobs, std::vector<bool> touches)
      : base_(base), knobs_(std::move(knobs)), touches_(std::move(touches)) {}

  util::Result<void> add(const Values& values) {
    PACELINE_TRY_ASSIGN(auto arms, arms_at(base_, knobs_, values));
    const std::string name = label(knobs_, values, std::vector(knobs_.size(), true));
    arms.plain.name = arms.own ? plain_name(values) : name;
    arms.plain.plain = arms.plain.name;
    const bool has_plain = !arms.own || !base_.no_plain;
    if (has_plain && !trace::find_arm(plain_, arms.plain.name)) plain_.push_back(arms.plain);
    if (arms.own) {
      arms.own->name = name;
      arms.own->plain = arms.plain.name;
      own_.push_back(std::move(*arms.own));
    }
    points_.push_back({name, values});
    return {};
  }

  SweptArms finish() && {
    SweptArms swept;
    swept.arms = std::move(plain_);
    swept.arms.insert(swept.arms.end(), own_.begin(), own_.end());
    for (const auto& knob : knobs_) swept.sweep.options.push_back(knob.option);
    swept.sweep.points = std::move(points_);
    return swept;
  }

 private:
  std::string plain_name(const Values& values) const {
    const std::string differs = label(knobs_, values, touches_);
    return differs.empty() ? trace::plain_arm : trace::plain_arm + (" " + differs);
  }

  const ArmSettings& base_;
  std::vector<Knob> knobs_;
  std::vector<bool> touches_;
  std::vector<trace::Arm> plain_;
  std::vector<trace::Arm> own_;
  std::vector<trace::SweepPoint> points_;
};

}  // namespace

util::Result<SweptArms> make_points(const ArmSettings& base, const SweepSettings& settings) {
  PACELINE_TRY_ASSIGN(auto knobs, read_knobs(settings));
  PACELINE_TRY_ASSIGN(const auto centre, read_centre(settings, knobs));
  const bool one_at_a_time = !settings.around.empty();
  const auto points = one_at_a_time ? around(centre, knobs) : all_combinations(knobs);
  if (points.size() > most_points)
    return util::misused("that are over {} points: vary fewer values, or go --around a point",
                         most_points);
  if (points.size() < 2)
    return util::misused(
        "there is one point only: --vary more than one value, or `paceline run` it");
  PACELINE_TRY_ASSIGN(auto touches, touch_plain(base, knobs, centre));
  Collector collector(base, std::move(knobs), std::move(touches));
  for (const auto& point : points) PACELINE_TRY(collector.add(point));
  SweptArms swept = std::move(collector).finish();
  const bool halves = settings.halving || (points.size() > most_full_points && !settings.full);
  swept.sweep.method = halves          ? trace::SweepMethod::halving
                       : one_at_a_time ? trace::SweepMethod::around
                                       : trace::SweepMethod::full;
  return swept;
}

util::Result<std::vector<std::string>> varied_servers(const SweepSettings& settings) {
  PACELINE_TRY_ASSIGN(const auto knobs, read_knobs(settings));
  for (const auto& knob : knobs)
    if (knob.long_name == server_bin) return knob.option.values;
  return std::vector<std::string>{};
}

}  // namespace paceline::cli
