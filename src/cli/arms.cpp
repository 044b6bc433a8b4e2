#include "cli/arms.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>

#include "trace/json.hpp"

namespace paceline::cli {

namespace {

constexpr double default_temperature = 0.7;
constexpr int least_widest_pass = 8;
constexpr int most_widest_pass = 16;

/// One arm before the settings that all share.
struct ArmRequest {
  std::string type;
  int n_max = 0;
  std::optional<std::string> file;
};

util::Result<ArmRequest> parse_arm(const std::string& text) {
  ArmRequest request;
  const std::size_t first = text.find(':');
  request.type = text.substr(0, first);
  if (first == std::string::npos) return request;
  const std::size_t second = text.find(':', first + 1);
  const std::string number = text.substr(first + 1, second - first - 1);
  const auto [end, problem] =
      std::from_chars(number.data(), number.data() + number.size(), request.n_max);
  if (problem != std::errc() || end != number.data() + number.size() || request.n_max < 1 ||
      request.n_max > 64)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("--arm {}: \"{}\" is no draft length; write TYPE:N with N from 1 "
                                  "to 64, as in draft-dflash:6",
                                  text, number));
  if (second == std::string::npos) return request;
  request.file = text.substr(second + 1);
  if (request.file->empty())
    return util::fail(util::ErrorKind::usage,
                      fmt::format("--arm {}: no file follows the last colon; leave it out or name "
                                  "the drafter",
                                  text));
  return request;
}

std::string arm_name(trace::SpecType type, int n_max) {
  std::string name = util::enum_name(type);
  const std::string prefix = "draft-";
  if (name.rfind(prefix, 0) == 0) name.erase(0, prefix.size());
  return n_max > 0 ? fmt::format("{}-n{}", name, n_max) : name;
}

trace::Arm common_arm(const ArmSettings& settings) {
  trace::Arm arm;
  arm.name = "plain";
  arm.setup.model_path = settings.model;
  arm.setup.n_ctx = settings.n_ctx;
  arm.setup.threads = settings.threads.value_or(default_threads());
  arm.sampling = settings.sampling;
  if (!arm.sampling.temp) arm.sampling.temp = default_temperature;
  return arm;
}

util::Result<trace::Arm> speculative_arm(const ArmSettings& settings, const ArmRequest& request) {
  const auto type = util::enum_from_name<trace::SpecType>(request.type);
  if (!type || *type == trace::SpecType::none)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("\"{}\" is no way to draft that this version knows; it knows "
                                  "draft-dflash and draft-mtp",
                                  request.type));
  trace::Arm arm = common_arm(settings);
  arm.name = arm_name(*type, request.n_max);
  arm.setup.spec_type = *type;
  arm.setup.draft_n_max = request.n_max;
  if (request.file)
    arm.setup.draft_path = request.file;
  else if (*type == trace::SpecType::draft_dflash)
    arm.setup.draft_path = settings.draft_model;
  if (*type == trace::SpecType::draft_dflash && !arm.setup.draft_path)
    return util::fail(util::ErrorKind::usage,
                      "draft-dflash needs the drafter's file: add -md FILE");
  return arm;
}

util::Result<std::vector<ArmRequest>> requests_of(const ArmSettings& settings) {
  std::vector<ArmRequest> requests;
  if (settings.spec_type)
    requests.push_back(
        {*settings.spec_type, settings.draft_n_max.value_or(0), settings.draft_model});
  else if (settings.draft_n_max)
    return util::fail(util::ErrorKind::usage,
                      "--spec-draft-n-max needs --spec-type, as in --spec-type draft-mtp");
  for (const auto& text : settings.extra) {
    PACELINE_TRY_ASSIGN(auto request, parse_arm(text));
    requests.push_back(std::move(request));
  }
  if (requests.empty() && settings.draft_model)
    return util::fail(util::ErrorKind::usage,
                      "-md names a drafter, but nothing says how to use it: add --spec-type "
                      "draft-dflash");
  return requests;
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
    if (taken)
      return util::fail(util::ErrorKind::usage,
                        fmt::format("the arm {} is asked for twice", arm.name));
    arms.push_back(std::move(arm));
  }
  if (arms.empty())
    return util::fail(util::ErrorKind::usage,
                      "--no-plain leaves nothing to measure: add --spec-type or --arm");
  return arms;
}

int widest_pass(const std::vector<trace::Arm>& arms) {
  int widest = least_widest_pass;
  for (const auto& arm : arms) widest = std::max(widest, arm.setup.draft_n_max + 3);
  return std::min(widest, most_widest_pass);
}

int default_threads() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return 1;
  return std::max(1, CPU_COUNT(&usable) - 1);
}

}  // namespace paceline::cli
