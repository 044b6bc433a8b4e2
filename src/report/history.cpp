#include "report/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/format.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using util::Align;
using util::printable;

std::string requests_text(const document::HistoryStudy& study) {
  std::string text = std::to_string(study.requests);
  if (study.requests_failed > 0) text += fmt::format(" ({} failed)", study.requests_failed);
  return text;
}

std::string state_text(const document::HistoryStudy& study) {
  if (study.resumed == 0) return printable(study.state);
  return fmt::format("{}, resumed{}", printable(study.state),
                     study.resumed > 1 ? fmt::format(" {}x", study.resumed) : "");
}

std::string value_text(const document::Quantity& quantity) {
  return quantity.value ? with_interval(quantity, plain_unit, true) : "unknown";
}

std::string or_nothing(const std::string& json) { return json.empty() ? "-" : printable(json); }

}  // namespace

std::string history(const document::History& history, const Style& style) {
  if (history.studies.empty()) return "  No study is there that is like that.\n";
  util::TextTable table;
  for (const char* heading : {"study", "made", "by", "state", "models", "workload"})
    table.add_column(heading, Align::left);
  for (const char* heading : {"launches", "requests", "size"})
    table.add_column(heading, Align::right);
  table.add_column("tags", Align::left);
  for (const auto& study : history.studies)
    table.add_row({{printable(study.id)},
                   {printable(study.created)},
                   {printable(study.command.value.value_or("unknown"))},
                   {state_text(study)},
                   {printable(study.models)},
                   {printable(study.workload)},
                   {std::to_string(study.launches)},
                   {requests_text(study)},
                   {bytes(static_cast<std::uint64_t>(study.bytes))},
                   {printable(fmt::format("{}", fmt::join(study.tags, ", ")))}});
  return table.render(2, style.colour);
}

std::string requests(const std::vector<document::HistoryRequest>& requests, const Style& style) {
  if (requests.empty()) return "  No measured request is like that.\n";
  util::TextTable table;
  table.add_column("launch", Align::right);
  for (const char* heading : {"arm", "class", "prompt", "outcome"})
    table.add_column(heading, Align::left);
  table.add_column("tokens", Align::right);
  table.add_column("decode s", Align::right);
  table.add_column("", Align::left);
  for (const auto& request : requests)
    table.add_row(
        {{std::to_string(request.launch)},
         {printable(request.arm)},
         {printable(request.workload_class)},
         {printable(request.prompt_id)},
         {printable(request.outcome)},
         {request.output_tokens.value ? std::to_string(*request.output_tokens.value) : "unknown"},
         {request.decode_s.value ? figure(*request.decode_s.value) : "unknown"},
         {request.superseded ? "superseded: its launch was cut off and made again"
          : request.in_load  ? "beside others"
                             : ""}});
  return table.render(2, style.colour);
}

std::string difference(const document::Difference& difference, const Style& style) {
  std::string text = fmt::format("  A is {}, B is {}.\n\n", printable(difference.one),
                                 printable(difference.other));
  util::TextTable unlike;
  for (const char* heading : {"what differs", "A", "B"}) unlike.add_column(heading, Align::left);
  for (const auto& row : difference.unlike)
    unlike.add_row({{printable(row.place)}, {or_nothing(row.one)}, {or_nothing(row.other)}});
  text += difference.unlike.empty() ? "  Nothing differs in what was asked for and what ran.\n"
                                    : unlike.render(2, style.colour);
  util::TextTable figures;
  for (const char* heading : {"arm", "class", "figure"}) figures.add_column(heading, Align::left);
  for (const char* heading : {"A", "B"}) figures.add_column(heading, Align::right);
  for (const auto& row : difference.figures)
    figures.add_row({{printable(row.arm)},
                     {printable(row.workload_class)},
                     {row.figure},
                     {value_text(row.one)},
                     {value_text(row.other)}});
  if (!difference.figures.empty()) text += "\n" + figures.render(2, style.colour);
  for (const auto& name : difference.only_in_one)
    text += wrapped("Only one of them has " + printable(name) + ".", 2, style.width);
  return text + "\n" +
         wrapped(
             "Unpaired: the two were not measured in turn, so a machine that changed in "
             "between looks like a setting. No verdict follows from these figures.",
             2, style.width);
}

}  // namespace paceline::report
