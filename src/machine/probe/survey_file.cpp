#include <cmath>

#include "machine/probe/survey.hpp"
#include "trace/json.hpp"

PACELINE_ENUM_NAMES(paceline::machine::Access, 2, {paceline::machine::Access::read, "read"},
                    {paceline::machine::Access::triad, "triad"});
PACELINE_ENUM_NAMES(paceline::machine::Pages, 2, {paceline::machine::Pages::small, "small"},
                    {paceline::machine::Pages::huge, "huge"});

namespace paceline::machine {

PACELINE_ENUM_JSON(Access);
PACELINE_ENUM_JSON(Pages);
PACELINE_JSON_FIELDS(BandwidthFigure, 8, threads, node, access, pages, bytes, huge_bytes,
                     bytes_per_s, reason);
PACELINE_JSON_FIELDS(GatherFigure, 8, row_bytes, table_bytes, shift_bytes, dependent, pages,
                     huge_bytes, buffer_bytes, ns_per_row);
PACELINE_JSON_FIELDS(SurveyKey, 3, boot_id, processor, cpus);
PACELINE_JSON_FIELDS(Survey, 11, key, created, booted_s, took_s, seed, available_bytes, bandwidth,
                     gather, gather_reason, devices, devices_reason);

namespace {

/// A file of ours holds far less.
constexpr std::size_t most_keys = 64;

bool all_positive(const std::vector<double>& samples) {
  for (const double sample : samples)
    if (!std::isfinite(sample) || sample <= 0) return false;
  return true;
}

bool is_sound(const BandwidthFigure& figure) {
  return figure.threads >= 1 && all_positive(figure.bytes_per_s) &&
         figure.bytes_per_s.empty() != figure.reason.empty();
}

bool is_sound(const GatherFigure& figure) {
  return figure.row_bytes > 0 && figure.row_bytes <= figure.table_bytes &&
         figure.table_bytes <= figure.buffer_bytes && !figure.ns_per_row.empty() &&
         all_positive(figure.ns_per_row);
}

bool is_sound(const trace::DeviceSpeed& device) {
  const bool measured = !device.upload_bytes_per_s.empty() &&
                        !device.download_bytes_per_s.empty() && !device.read_bytes_per_s.empty();
  return all_positive(device.upload_bytes_per_s) && all_positive(device.download_bytes_per_s) &&
         all_positive(device.read_bytes_per_s) && measured == device.reason.empty();
}

template <class Figure>
bool all_sound(const std::vector<Figure>& figures) {
  for (const Figure& figure : figures)
    if (!is_sound(figure)) return false;
  return true;
}

bool is_sound(const Survey& survey) {
  return std::isfinite(survey.took_s) && survey.took_s >= 0 && !survey.bandwidth.empty() &&
         all_sound(survey.bandwidth) && all_sound(survey.gather) && all_sound(survey.devices) &&
         !(survey.gather.empty() && survey.gather_reason.empty()) &&
         survey.devices.empty() != survey.devices_reason.empty();
}

}  // namespace

util::Result<Survey> parse_survey(std::string_view text, const SurveyKey& key, double now_s) {
  constexpr const char* what = "the kept probe";
  PACELINE_TRY_ASSIGN(const util::Json json, util::parse_json(text, what, most_keys));
  PACELINE_TRY_ASSIGN(auto survey, util::from_json_value<Survey>(json, what));
  const auto refuse = [](const char* why) { return util::fail(util::ErrorKind::usage, why); };
  if (survey.key.boot_id != key.boot_id)
    return refuse("it was taken before the machine's last start");
  if (survey.key.processor != key.processor || survey.key.cpus != key.cpus)
    return refuse("it was taken on other processors");
  if (!std::isfinite(survey.booted_s) || survey.booted_s < 0 || survey.booted_s > now_s)
    return refuse("it says that it was taken later than now");
  if (!is_sound(survey)) return refuse("it holds figures that no probe can have measured");
  return survey;
}

std::string survey_text(const Survey& survey) { return util::dump_json(survey) + "\n"; }

}  // namespace paceline::machine
