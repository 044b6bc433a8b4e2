#include "cli/arms.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>

#include "trace/json.hpp"

namespace paceline::cli {

namespace {

using trace::NgramSizes;
using trace::SpecType;

constexpr int least_widest_pass = 8;
constexpr int longest_draft = 64;

/// One arm before the settings that all share.
struct ArmRequest {
  SpecType type = SpecType::none;
  int n_max = 0;
  std::optional<std::string> file;
  NgramSizes sizes;
};

template <class... Arguments>
tl::unexpected<util::Error> misused(fmt::format_string<Arguments...> text,
                                    Arguments&&... arguments) {
  return util::fail(util::ErrorKind::usage,
                    fmt::format(text, std::forward<Arguments>(arguments)...));
}

util::Result<SpecType> parse_type(const std::string& name) {
  const auto type = util::enum_from_name<SpecType>(name);
  const auto drafts = [](SpecType one) {
    return one != SpecType::none && one != SpecType::undeclared;
  };
  if (type && drafts(*type)) return *type;
  std::string known;
  for (const auto& [value, text] : util::EnumNames<SpecType>::table)
    if (drafts(value)) known += (known.empty() ? "" : ", ") + std::string(text);
  return misused("\"{}\" is no way to draft that this version knows; it knows {}", name, known);
}

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "N" or "N:FILE" after the type.
util::Result<void> read_length(const std::string& arm, const std::string& text,
                               ArmRequest& request) {
  const std::size_t colon = text.find(':');
  const auto number = whole_number(std::string_view(text).substr(0, colon));
  if (!number || *number < 1 || *number > longest_draft)
    return misused(
        "--arm {}: \"{}\" is no draft length; write TYPE:N with N from 1 to {}, as in "
        "draft-dflash:6",
        arm, text.substr(0, colon), longest_draft);
  request.n_max = *number;
  if (colon == std::string::npos) return {};
  request.file = text.substr(colon + 1);
  if (request.file->empty())
    return misused("--arm {}: no file follows the last colon; leave it out or name the drafter",
                   arm);
  return {};
}

/// The sizes of an n-gram type in the order that --arm and arm names have them.
std::vector<std::optional<int>*> sizes_in_order(SpecType type, NgramSizes& sizes) {
  if (type == SpecType::ngram_cache) return {};
  if (type == SpecType::ngram_mod) return {&sizes.size_n, &sizes.n_min, &sizes.size_m};
  return {&sizes.size_n, &sizes.size_m, &sizes.min_hits};
}

const char* order_of_sizes(SpecType type) {
  return type == SpecType::ngram_mod ? "ngram-mod:N-MATCH/N-MIN/N-MAX, as in ngram-mod:24/48/64"
                                     : "TYPE:SIZE-N/SIZE-M, as in ngram-simple:4/7";
}

/// "4/7" after the type; a third number is its min-hits. Of ngram-mod all three.
util::Result<void> read_sizes(const std::string& arm, const std::string& text,
                              ArmRequest& request) {
  const auto places = sizes_in_order(request.type, request.sizes);
  if (places.empty())
    return misused("--arm {}: {} has no sizes; leave \"{}\" out", arm,
                   util::enum_name(request.type), text);
  std::size_t begin = 0;
  std::size_t given = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const auto number = whole_number(std::string_view(text).substr(begin, end - begin));
    if (!number || *number < 0 || *number > most_ngram_size || given == places.size()) break;
    *places[given++] = number;
    begin = end + 1;
  }
  const std::size_t fewest = request.type == SpecType::ngram_mod ? 3 : 2;
  if (begin > text.size() && given >= fewest) return {};
  return misused("--arm {}: \"{}\" are no sizes of {}; write {}, each at most {}", arm, text,
                 util::enum_name(request.type), order_of_sizes(request.type), most_ngram_size);
}

NgramSizes sizes_of(const ArmSettings& settings, SpecType type) {
  const auto found = settings.ngram.find(type);
  return found == settings.ngram.end() ? NgramSizes{} : found->second;
}

util::Result<ArmRequest> parse_arm(const ArmSettings& settings, const std::string& text) {
  ArmRequest request;
  const std::size_t colon = text.find(':');
  PACELINE_TRY_ASSIGN(request.type, parse_type(text.substr(0, colon)));
  request.sizes = sizes_of(settings, request.type);
  if (colon != std::string::npos) {
    const std::string rest = text.substr(colon + 1);
    PACELINE_TRY(trace::is_ngram(request.type) ? read_sizes(text, rest, request)
                                               : read_length(text, rest, request));
  }
  return request;
}

std::string sizes_suffix(SpecType type, NgramSizes sizes) {
  const auto places = sizes_in_order(type, sizes);
  auto last = std::find_if(places.rbegin(), places.rend(),
                           [](const std::optional<int>* size) { return size->has_value(); });
  std::string suffix;
  for (auto place = places.begin(); place != last.base(); ++place)
    suffix += *place && (*place)->has_value() ? fmt::format("-{}", ***place) : "-default";
  return suffix;
}

std::string arm_name(const ArmRequest& request) {
  std::string name = util::enum_name(request.type);
  if (trace::is_ngram(request.type)) return name + sizes_suffix(request.type, request.sizes);
  const std::string prefix = "draft-";
  if (name.rfind(prefix, 0) == 0) name.erase(0, prefix.size());
  return request.n_max > 0 ? fmt::format("{}-n{}", name, request.n_max) : name;
}

/// What --accept-length or --accept-rates ask of all arms that draft.
util::Result<std::optional<trace::ForcedAcceptance>> forced_acceptance(
    const ArmSettings& settings) {
  const bool by_rates = !settings.accept_rates.empty();
  if (settings.accept_length && by_rates)
    return misused(
        "--accept-length and --accept-rates both say what is accepted: give one of them");
  if (settings.accept_schedule && !settings.accept_length)
    return misused("--accept-schedule says how --accept-length is spread: add it");
  if (!settings.accept_length && !by_rates) return std::optional<trace::ForcedAcceptance>{};
  return std::optional(trace::ForcedAcceptance{
      .length = settings.accept_length,
      .schedule = settings.accept_schedule.value_or(trace::AcceptSchedule::geometric),
      .rates = settings.accept_rates});
}

trace::Arm common_arm(const ArmSettings& settings) {
  trace::Arm arm;
  arm.name = "plain";
  arm.setup.model_path = settings.model;
  arm.setup.n_ctx = settings.n_ctx;
  arm.setup.threads = settings.threads.value_or(default_threads());
  arm.sampling = settings.sampling;
  arm.sampling.tool_temp = default_temperature;
  return arm;
}

util::Result<trace::Arm> speculative_arm(const ArmSettings& settings, const ArmRequest& request) {
  trace::Arm arm = common_arm(settings);
  arm.name = arm_name(request);
  arm.setup.spec_type = request.type;
  arm.setup.draft_n_max = request.n_max;
  arm.setup.draft_path = request.file;
  arm.setup.ngram = request.sizes;
  PACELINE_TRY_ASSIGN(arm.setup.forced, forced_acceptance(settings));
  if (arm.setup.forced) arm.name += "-forced";
  const bool needs_file = trace::needs_drafter_file(request.type);
  if (needs_file && !arm.setup.draft_path) arm.setup.draft_path = settings.draft_model;
  if (needs_file && !arm.setup.draft_path)
    return misused("{} needs the drafter's file: add -md FILE", util::enum_name(request.type));
  return arm;
}

bool all_of_ngrams(const std::vector<std::string>& arms) {
  return std::all_of(arms.begin(), arms.end(),
                     [](const std::string& arm) { return arm.starts_with("ngram"); });
}

/// The arm that --spec-type asks for, or -md by what its file is, unless an --arm may want that.
util::Result<std::optional<ArmRequest>> main_request(const ArmSettings& settings) {
  ArmRequest request;
  request.n_max = settings.draft_n_max.value_or(0);
  if (settings.spec_type) {
    PACELINE_TRY_ASSIGN(request.type, parse_type(*settings.spec_type));
  } else if (settings.draft_model && settings.found_type &&
             (settings.draft_n_max || all_of_ngrams(settings.extra))) {
    request.type = *settings.found_type;
  } else if (settings.draft_n_max) {
    return misused("--spec-draft-n-max needs --spec-type, as in --spec-type draft-mtp");
  } else {
    return std::optional<ArmRequest>{};
  }
  request.sizes = sizes_of(settings, request.type);
  if (!trace::is_ngram(request.type))
    request.file = settings.draft_model;
  else if (settings.draft_n_max)
    return misused("--spec-draft-n-max is not for {}: its longest draft is one of its own sizes",
                   util::enum_name(request.type));
  return std::optional<ArmRequest>(request);
}

util::Result<std::vector<ArmRequest>> requests_of(const ArmSettings& settings) {
  std::vector<ArmRequest> requests;
  PACELINE_TRY_ASSIGN(const auto main, main_request(settings));
  if (main) requests.push_back(*main);
  for (const auto& text : settings.extra) {
    PACELINE_TRY_ASSIGN(auto request, parse_arm(settings, text));
    requests.push_back(std::move(request));
  }
  return requests;
}

bool any_given(const NgramSizes& sizes) {
  return sizes.size_n || sizes.size_m || sizes.min_hits || sizes.n_min;
}

/// What was given for drafting and is in no arm would be dropped without a word.
util::Result<void> check_all_used(const ArmSettings& settings,
                                  const std::vector<trace::Arm>& arms) {
  const auto some_arm = [&](auto&& has) { return std::any_of(arms.begin(), arms.end(), has); };
  for (const auto& [type, sizes] : settings.ngram) {
    const auto is_of_type = [&](const trace::Arm& arm) { return arm.setup.spec_type == type; };
    if (any_given(sizes) && !some_arm(is_of_type))
      return misused("sizes of {} are given and no arm uses them: add --spec-type {}",
                     util::enum_name(type), util::enum_name(type));
  }
  PACELINE_TRY_ASSIGN(const auto forced, forced_acceptance(settings));
  if (forced && !some_arm([](const trace::Arm& arm) { return arm.setup.forced.has_value(); }))
    return misused(
        "--accept-.. decide what is accepted of drafts, and no arm drafts: add a "
        "--spec-type");
  if (settings.draft_model && !some_arm([&](const trace::Arm& arm) {
        return arm.setup.draft_path == settings.draft_model;
      }))
    return misused(
        "-md names a drafter, but no arm uses it: add a --spec-type, as in --spec-type "
        "draft-dflash, or leave -md out");
  return {};
}

/// Longest draft in tokens that an arm is known to ask for; of n-grams its default is past what
/// can be timed, and the engine knows it.
int asked_longest(const trace::Setup& setup) {
  if (!trace::is_ngram(setup.spec_type)) return setup.draft_n_max;
  if (setup.spec_type == SpecType::ngram_cache) return trace::ngram_cache_draft;
  return setup.ngram.size_m.value_or(most_widest_pass);
}

}  // namespace

util::Result<std::vector<trace::Arm>> make_arms(const ArmSettings& settings) {
  PACELINE_TRY_ASSIGN(const auto requests, requests_of(settings));
  std::vector<trace::Arm> arms;
  if (!settings.no_plain) arms.push_back(common_arm(settings));
  for (const auto& request : requests) {
    PACELINE_TRY_ASSIGN(auto arm, speculative_arm(settings, request));
    const bool taken = std::any_of(arms.begin(), arms.end(),
                                   [&](const trace::Arm& other) { return other.name == arm.name; });
    if (taken) return misused("the arm {} is asked for twice", arm.name);
    arms.push_back(std::move(arm));
  }
  PACELINE_TRY(check_all_used(settings, arms));
  if (arms.empty())
    return misused("--no-plain leaves nothing to measure: add --spec-type or --arm");
  return arms;
}

util::Result<trace::SpecType> drafter_type(const model::FileFacts& file) {
  if (!file.drafter) return trace::SpecType::draft_simple;
  const std::string& kind = file.drafter->kind;
  if (kind == "dflash" || kind == "dflash2") return trace::SpecType::draft_dflash;
  if (kind == "eagle3") return trace::SpecType::draft_eagle3;
  if (kind == "dspark") return trace::SpecType::draft_dspark;
  if (kind == "mtp" || kind == "gemma4-assistant") return trace::SpecType::draft_mtp;
  return util::fail(util::ErrorKind::engine,
                    fmt::format("'{}' is a drafter of the kind {}, which this version cannot run: "
                                "name another with -md, or --spec-type",
                                file.path, kind));
}

int widest_pass(const std::vector<trace::Arm>& arms) {
  int widest = least_widest_pass;
  for (const auto& arm : arms) widest = std::max(widest, asked_longest(arm.setup) + 3);
  return std::min(widest, most_widest_pass);
}

int default_threads() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return 1;
  return std::max(1, CPU_COUNT(&usable) - 1);
}

}  // namespace paceline::cli
