#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "document/json.hpp"
#include "machine/probe/survey.hpp"
#include "report/machine.hpp"

using namespace paceline;

// The kept probe, as a file from anywhere: what was read can be kept, read again and shown.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr double later = std::numeric_limits<double>::max();
  const machine::SurveyKey key{"0b6ee1a8-1234", "AMD EPYC", 3};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto survey = machine::parse_survey(text, key, later);
  if (!survey) return 0;
  if (!machine::parse_survey(machine::survey_text(*survey), key, later)) std::abort();
  document::MachineReport report;
  report.probe = document::known(document::to_probe(*survey, survey->booted_s));
  if (report::machine(report, {}).empty() || document::to_json_text(report).empty()) std::abort();
  return 0;
}
