#include "report/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

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

constexpr std::size_t indent = 2;

/// Which columns a table of studies shows, and how much of long words.
struct Shown {
  std::size_t longest;
  bool has_time = true;  ///< ids begin with it
  bool has_sizes = true;
};

bool goes_on(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

/// The beginning and the end of a text, of a path mostly, in so many bytes and never half a letter.
std::string shortened(const std::string& hostile, std::size_t longest) {
  const std::string text = printable(hostile);
  if (text.size() <= longest) return text;
  constexpr std::string_view gap = "..";
  std::size_t begin = (longest - gap.size()) / 2;
  std::size_t end = text.size() - begin;
  while (begin > 0 && goes_on(text[begin])) --begin;
  while (end < text.size() && goes_on(text[end])) ++end;
  return text.substr(0, begin) + std::string(gap) + text.substr(end);
}

/// Columns that are left out are empty, so they vanish.
util::TextTable studies_table(const std::vector<document::HistoryStudy>& studies, Shown shown) {
  const auto short_word = [&shown](const std::string& word) {
    return shortened(word, shown.longest);
  };
  const auto if_has = [](bool has, const std::string& text) { return has ? text : ""; };
  util::TextTable table;
  for (const char* heading :
       {"study", shown.has_time ? "made" : "", "by", "state", "models", "workload"})
    table.add_column(heading, Align::left);
  for (const char* heading :
       {shown.has_sizes ? "launches" : "", "requests", shown.has_sizes ? "size" : ""})
    table.add_column(heading, Align::right);
  table.add_column("tags", Align::left);
  for (const auto& study : studies)
    table.add_row({{printable(study.id)},
                   {if_has(shown.has_time, shortened(study.created, 20))},
                   {short_word(study.command.value.value_or("unknown"))},
                   {state_text(study)},
                   {short_word(study.models)},
                   {short_word(study.workload)},
                   {if_has(shown.has_sizes, std::to_string(study.launches))},
                   {requests_text(study)},
                   {if_has(shown.has_sizes, bytes(static_cast<std::uint64_t>(study.bytes)))},
                   {short_word(fmt::format("{}", fmt::join(study.tags, ", ")))}});
  return table;
}

}  // namespace

std::string history(const document::History& history, const Style& style) {
  if (history.studies.empty()) return "  No study is there that is like that.\n";
  constexpr Shown narrowest{8, false, false};
  for (const Shown shown : {Shown{200}, Shown{40}, Shown{28}, Shown{20}, Shown{14},
                            Shown{20, false}, Shown{12, false}, Shown{16, false, false}}) {
    const auto table = studies_table(history.studies, shown);
    if (std::cmp_less_equal(table.width(indent), style.width))
      return table.render(indent, style.colour);
  }
  return studies_table(history.studies, narrowest).render(indent, style.colour);
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
  return table.render(indent, style.colour);
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
