#include "mock/faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace paceline::mock {

namespace {

constexpr std::array<std::pair<FaultKind, std::string_view>, fault_kinds> names = {{
    {FaultKind::stall, "stall"},
    {FaultKind::cut, "cut"},
    {FaultKind::http_error, "http-500"},
    {FaultKind::error_in_stream, "error-in-stream"},
    {FaultKind::malformed_json, "malformed-json"},
    {FaultKind::wrong_content_type, "wrong-content-type"},
    {FaultKind::counter_reset, "counter-reset"},
    {FaultKind::restart, "restart"},
    {FaultKind::lie_accepted, "lie-accepted"},
    {FaultKind::lie_accepted_plus, "lie-accepted-plus"},
    {FaultKind::lie_count, "lie-count"},
    {FaultKind::burst, "burst"},
    {FaultKind::late_usage, "late-usage"},
    {FaultKind::other_client, "other-client"},
    {FaultKind::slow_first_byte, "slow-first-byte"},
    {FaultKind::never_healthy, "never-healthy"},
    {FaultKind::truncated_prompt, "truncated-prompt"},
    {FaultKind::cached, "cached"},
    {FaultKind::heartbeats, "heartbeats"},
    {FaultKind::crash, "crash"},
    {FaultKind::echo_key, "echo-key"},
}};

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= T{0};
}

tl::unexpected<util::Error> wrong(std::string_view text, std::string_view why) {
  return util::fail(util::ErrorKind::usage,
                    fmt::format("--fault {}: {}; write KIND[:VALUE][@N or @N+]", text, why));
}

}  // namespace

std::vector<std::string> fault_names() {
  std::vector<std::string> all;
  for (const auto& [kind, name] : names) all.emplace_back(name);
  return all;
}

util::Result<Fault> parse_fault(std::string_view text) {
  Fault fault;
  std::string_view rest = text;
  if (const auto at = rest.find('@'); at != std::string_view::npos) {
    std::string_view which = rest.substr(at + 1);
    rest = rest.substr(0, at);
    fault.onward = !which.empty() && which.back() == '+';
    if (fault.onward) which.remove_suffix(1);
    if (!read_number(which, fault.first) || fault.first < 1)
      return wrong(text, "behind @ stands the number of a request, from 1");
  }
  if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
    double value = 0;
    if (!read_number(rest.substr(colon + 1), value))
      return wrong(text, "behind the colon stands a number that is not negative");
    fault.value = value;
    rest = rest.substr(0, colon);
  }
  const auto named = std::find_if(names.begin(), names.end(),
                                  [&](const auto& entry) { return entry.second == rest; });
  if (named == names.end())
    return wrong(text,
                 fmt::format("there is no such kind, only {}", fmt::join(fault_names(), ", ")));
  fault.kind = named->first;
  return fault;
}

Struck::Struck(const std::vector<Fault>& faults, long request) {
  for (const Fault& fault : faults)
    if (request == fault.first || (fault.onward && request > fault.first)) faults_.push_back(fault);
}

const Fault* Struck::find(FaultKind kind) const {
  const auto found = std::find_if(faults_.begin(), faults_.end(),
                                  [&](const Fault& fault) { return fault.kind == kind; });
  return found == faults_.end() ? nullptr : &*found;
}

std::optional<double> Struck::value(FaultKind kind, double otherwise) const {
  const Fault* fault = find(kind);
  if (fault == nullptr) return std::nullopt;
  return fault->value.value_or(otherwise);
}

bool Struck::bare(FaultKind kind) const {
  const Fault* fault = find(kind);
  return fault != nullptr && !fault->value;
}

}  // namespace paceline::mock
