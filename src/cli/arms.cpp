#include "cli/arms.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>

#include "cli/kv_types.hpp"
#include "trace/names.hpp"
#include "util/misused.hpp"

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
  std::vector<trace::NgramDrafter> asked_first;
};

util::Result<SpecType> parse_type(const std::string& name) {
  const auto type = util::enum_from_name<SpecType>(name);
  const auto drafts = [](SpecType one) {
    return one != SpecType::none && one != SpecType::undeclared;
  };
  if (type && drafts(*type)) return *type;
  std::string known;
  for (const auto& [value, text] : util::EnumNames<SpecType>::table)
    if (drafts(value)) known += (known.empty() ? "" : ", ") + std::string(text);
  return util::misused("\"{}\" is no way to draft that this version knows; it knows {}", name,
                       known);
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
    return util::misused(
        "--arm {}: \"{}\" is no draft length; write TYPE:N with N from 1 to {}, as in "
        "draft-dflash:6",
        arm, text.substr(0, colon), longest_draft);
  request.n_max = *number;
  if (colon == std::string::npos) return {};
  request.file = text.substr(colon + 1);
  if (request.file->empty())
    return util::misused(
        "--arm {}: no file follows the last colon; leave it out or name the drafter", arm);
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
    return util::misused("--arm {}: {} has no sizes; leave \"{}\" out", arm,
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
  return util::misused("--arm {}: \"{}\" are no sizes of {}; write {}, each at most {}", arm, text,
                       util::enum_name(request.type), order_of_sizes(request.type),
                       most_ngram_size);
}

NgramSizes sizes_of(const ArmSettings& settings, SpecType type) {
  const auto found = settings.ngram.find(type);
  return found == settings.ngram.end() ? NgramSizes{} : found->second;
}

/// The drafters of an arm, written with + between them; a file's name may hold a + of its own.
std::vector<std::string> split_drafters(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t plus = text.find('+'); plus != std::string::npos;
       plus = text.find('+', plus + 1)) {
    const std::size_t end = std::min(text.find_first_of(":+", plus + 1), text.size());
    if (!util::enum_from_name<SpecType>(text.substr(plus + 1, end - plus - 1))) continue;
    parts.push_back(text.substr(begin, plus - begin));
    begin = plus + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// One arm of several drafters, in the order that llama.cpp asks them, however they were written.
util::Result<ArmRequest> combine(std::vector<ArmRequest> parts) {
  const auto place = [](const ArmRequest& part) {
    return std::pair(!trace::is_ngram(part.type), part.type);
  };
  std::sort(parts.begin(), parts.end(), [&](const ArmRequest& one, const ArmRequest& other) {
    return place(one) < place(other);
  });
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i].type == parts[i + 1].type)
      return util::misused("{} is named twice in one arm: name it once",
                           util::enum_name(parts[i].type));
    if (!trace::is_ngram(parts[i].type))
      return util::misused(
          "{} and {} cannot draft in one arm: of drafters with a model there can be one, "
          "and n-grams before it",
          util::enum_name(parts[i].type), util::enum_name(parts[i + 1].type));
  }
  ArmRequest request = std::move(parts.back());
  for (std::size_t i = 0; i + 1 < parts.size(); ++i)
    request.asked_first.push_back({parts[i].type, parts[i].sizes});
  return request;
}

util::Result<ArmRequest> parse_drafter(const ArmSettings& settings, const std::string& text) {
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

util::Result<ArmRequest> parse_arm(const ArmSettings& settings, const std::string& text) {
  std::vector<ArmRequest> parts;
  for (const std::string& part : split_drafters(text)) {
    PACELINE_TRY_ASSIGN(ArmRequest request, parse_drafter(settings, part));
    parts.push_back(std::move(request));
  }
  return combine(std::move(parts));
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

std::string ngram_name(SpecType type, const NgramSizes& sizes) {
  return util::enum_name(type) + sizes_suffix(type, sizes);
}

std::string last_name(const ArmRequest& request) {
  if (trace::is_ngram(request.type)) return ngram_name(request.type, request.sizes);
  std::string name = util::enum_name(request.type);
  const std::string prefix = "draft-";
  if (name.rfind(prefix, 0) == 0) name.erase(0, prefix.size());
  return request.n_max > 0 ? fmt::format("{}-n{}", name, request.n_max) : name;
}

std::string arm_name(const ArmRequest& request) {
  std::string name;
  for (const auto& [type, sizes] : request.asked_first) name += ngram_name(type, sizes) + "+";
  return name + last_name(request);
}

/// What --accept-length or --accept-rates ask of all arms that draft.
util::Result<std::optional<trace::ForcedAcceptance>> forced_acceptance(
    const ArmSettings& settings) {
  const bool by_rates = !settings.accept_rates.empty();
  if (settings.accept_length && by_rates)
    return util::misused(
        "--accept-length and --accept-rates both say what is accepted: give one of them");
  if (settings.accept_schedule && !settings.accept_length)
    return util::misused("--accept-schedule says how --accept-length is spread: add it");
  if (!settings.accept_length && !by_rates) return std::optional<trace::ForcedAcceptance>{};
  return std::optional(trace::ForcedAcceptance{
      .length = settings.accept_length,
      .schedule = settings.accept_schedule.value_or(trace::AcceptSchedule::geometric),
      .rates = settings.accept_rates});
}

trace::Arm common_arm(const ArmSettings& settings) {
  trace::Arm arm;
  arm.name = trace::plain_arm;
  arm.setup.model_path = settings.model;
  arm.setup.n_ctx = settings.n_ctx;
  arm.setup.threads = settings.threads.value_or(default_threads());
  arm.sampling = settings.sampling;
  arm.sampling.tool_temp = default_temperature;
  return arm;
}

/// True of the types whose draft tokens llama.cpp picks on the device unless it is told not to.
bool has_choice_of_place(SpecType type) {
  return type == SpecType::draft_mtp || type == SpecType::draft_dflash ||
         type == SpecType::draft_dspark || type == SpecType::draft_eagle3;
}

util::Result<trace::Arm> speculative_arm(const ArmSettings& settings, const ArmRequest& request) {
  trace::Arm arm = common_arm(settings);
  arm.name = arm_name(request);
  arm.setup.spec_type = request.type;
  arm.setup.draft_n_max = request.n_max;
  arm.setup.draft_path = request.file;
  arm.setup.ngram = request.sizes;
  arm.setup.asked_first = request.asked_first;
  if (settings.draft_p_min.value_or(0) > 0 && !trace::is_ngram(request.type)) {
    arm.setup.draft_p_min = *settings.draft_p_min;
    arm.name += fmt::format("-p{}", arm.setup.draft_p_min);
  }
  PACELINE_TRY_ASSIGN(arm.setup.forced, forced_acceptance(settings));
  if (arm.setup.forced) arm.name += "-forced";
  const bool needs_file = trace::needs_drafter_file(request.type);
  if (needs_file && !arm.setup.draft_path) arm.setup.draft_path = settings.draft_model;
  if (needs_file && !arm.setup.draft_path)
    return util::misused("{} needs the drafter's file: add -md FILE",
                         util::enum_name(request.type));
  return arm;
}

bool all_of_ngrams(const std::vector<std::string>& arms) {
  return std::all_of(arms.begin(), arms.end(), [](const std::string& arm) {
    const auto parts = split_drafters(arm);
    return std::all_of(parts.begin(), parts.end(),
                       [](const std::string& part) { return part.starts_with("ngram"); });
  });
}

util::Result<ArmRequest> parse_types(const ArmSettings& settings) {
  std::vector<ArmRequest> parts;
  for (const std::string& name : settings.spec_types) {
    ArmRequest part;
    PACELINE_TRY_ASSIGN(part.type, parse_type(name));
    part.sizes = sizes_of(settings, part.type);
    parts.push_back(std::move(part));
  }
  return combine(std::move(parts));
}

/// The arm that --spec-type asks for, or -md by what its file is, unless an --arm may want that.
util::Result<std::optional<ArmRequest>> main_request(const ArmSettings& settings) {
  ArmRequest request;
  if (!settings.spec_types.empty()) {
    PACELINE_TRY_ASSIGN(request, parse_types(settings));
  } else if (settings.draft_model && settings.found_type &&
             (settings.draft_n_max || all_of_ngrams(settings.extra))) {
    request.type = *settings.found_type;
  } else if (settings.draft_n_max) {
    return util::misused("--spec-draft-n-max needs --spec-type, as in --spec-type draft-mtp");
  } else {
    return std::optional<ArmRequest>{};
  }
  request.n_max = settings.draft_n_max.value_or(0);
  if (!trace::is_ngram(request.type))
    request.file = settings.draft_model;
  else if (settings.draft_n_max)
    return util::misused(
        "--spec-draft-n-max is not for {}: its longest draft is one of its own sizes",
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

/// The arms of one request: with draft tokens picked on the device, on the host, or one of each.
util::Result<std::vector<trace::Arm>> speculative_arms(const ArmSettings& settings,
                                                       const ArmRequest& request) {
  PACELINE_TRY_ASSIGN(trace::Arm arm, speculative_arm(settings, request));
  const BackendSampling asked = settings.backend_sampling.value_or(BackendSampling::on);
  if (asked == BackendSampling::on || !has_choice_of_place(request.type)) return std::vector{arm};
  trace::Arm on_host = arm;
  on_host.name += "-host";
  on_host.setup.backend_sampling = false;
  if (asked == BackendSampling::off) return std::vector{on_host};
  return std::vector{arm, on_host};
}

/// What was given for drafting and is in no arm would be dropped without a word.
util::Result<void> check_all_used(const ArmSettings& settings,
                                  const std::vector<trace::Arm>& arms) {
  const auto some_arm = [&](auto&& has) { return std::any_of(arms.begin(), arms.end(), has); };
  for (const auto& [type, sizes] : settings.ngram) {
    const auto has_type = [&wanted = type](const trace::Arm& arm) {
      const auto types = trace::drafters_of(arm.setup);
      return std::find(types.begin(), types.end(), wanted) != types.end();
    };
    if (any_given(sizes) && !some_arm(has_type))
      return util::misused("sizes of {} are given and no arm uses them: add --spec-type {}",
                           util::enum_name(type), util::enum_name(type));
  }
  PACELINE_TRY_ASSIGN(const auto forced, forced_acceptance(settings));
  if (forced && !some_arm([](const trace::Arm& arm) { return arm.setup.forced.has_value(); }))
    return util::misused(
        "--accept-.. decide what is accepted of drafts, and no arm drafts: add a "
        "--spec-type");
  if (settings.backend_sampling &&
      !some_arm([](const trace::Arm& arm) { return has_choice_of_place(arm.setup.spec_type); }))
    return util::misused(
        "--backend-sampling decides where drafts of draft-mtp, -dflash, -dspark and -eagle3 are "
        "picked, and no arm has one: leave it out");
  if (settings.draft_p_min && !some_arm([](const trace::Arm& arm) {
        return arm.setup.spec_type != SpecType::none && !trace::is_ngram(arm.setup.spec_type);
      }))
    return util::misused(
        "--spec-draft-p-min is for drafters that are models, and no arm has one: leave it out");
  if (!(settings.draft_kv_k.empty() && settings.draft_kv_v.empty()) &&
      !some_arm([](const trace::Arm& arm) { return has_drafter_cache(arm.setup); }))
    return util::misused(
        "--spec-draft-type-k and -v are types of a drafter's KV cache, and no arm has a drafter "
        "with one: leave them out");
  if (settings.draft_model && !some_arm([&](const trace::Arm& arm) {
        return arm.setup.draft_path == settings.draft_model;
      }))
    return util::misused(
        "-md names a drafter, but no arm uses it: add a --spec-type, as in --spec-type "
        "draft-dflash, or leave -md out");
  return {};
}

int asked_longest(SpecType type, const NgramSizes& sizes) {
  return type == SpecType::ngram_cache ? trace::ngram_cache_draft
                                       : sizes.size_m.value_or(most_widest_pass);
}

/// Longest draft in tokens that an arm is known to ask for; of n-grams its default is past what
/// can be timed, and the engine knows it.
int asked_longest(const trace::Setup& setup) {
  int longest = trace::is_ngram(setup.spec_type) ? asked_longest(setup.spec_type, setup.ngram)
                                                 : setup.draft_n_max;
  for (const auto& [type, sizes] : setup.asked_first)
    longest = std::max(longest, asked_longest(type, sizes));
  return longest;
}

}  // namespace

util::Result<std::vector<trace::Arm>> make_arms(const ArmSettings& settings) {
  PACELINE_TRY_ASSIGN(const auto requests, requests_of(settings));
  std::vector<trace::Arm> arms;
  if (!settings.no_plain) arms.push_back(common_arm(settings));
  for (const auto& request : requests) {
    PACELINE_TRY_ASSIGN(const auto more, speculative_arms(settings, request));
    arms.insert(arms.end(), more.begin(), more.end());
  }
  PACELINE_TRY(check_all_used(settings, arms));
  if (arms.empty())
    return util::misused("--no-plain leaves nothing to measure: add --spec-type or --arm");
  arms = with_kv_types(settings, arms);
  for (const auto& arm : arms)
    if (trace::find_arm(arms, arm.name) != &arm)
      return util::misused("the arm {} is asked for twice", arm.name);
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
