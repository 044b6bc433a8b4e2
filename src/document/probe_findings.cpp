#include <fmt/format.h>

#include <algorithm>

#include "document/probe.hpp"

namespace paceline::document {

namespace {

using machine::Access;
using machine::GatherFigure;
using machine::Pages;
using machine::Survey;

constexpr double saturated = 0.95;
constexpr double noticeable = 1.1;
constexpr double mostly_huge = 0.9;
constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t page_bytes = 4096;

/// The best reads on huge pages by one number of threads of the whole machine.
std::optional<double> reads_at(const Survey& survey, int threads) {
  for (const auto& figure : survey.bandwidth)
    if (figure.threads == threads && figure.access == Access::read && figure.pages == Pages::huge &&
        !figure.node && !figure.bytes_per_s.empty())
      return *std::max_element(figure.bytes_per_s.begin(), figure.bytes_per_s.end());
  return std::nullopt;
}

struct Row {
  std::uint64_t bytes;
  bool dependent;
  Pages pages;
  std::uint64_t shift_bytes = 0;
};

/// Such rows out of the largest table.
const GatherFigure* find(const Survey& survey, const Row& row) {
  const GatherFigure* found = nullptr;
  for (const auto& figure : survey.gather)
    if (figure.row_bytes == row.bytes && figure.dependent == row.dependent &&
        figure.pages == row.pages && figure.shift_bytes == row.shift_bytes &&
        (found == nullptr || figure.table_bytes > found->table_bytes))
      found = &figure;
  return found;
}

double least_ns(const GatherFigure& figure) {
  return *std::min_element(figure.ns_per_row.begin(), figure.ns_per_row.end());
}

std::string mib(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

void tell_threads(const Survey& survey, std::vector<std::string>& says) {
  double best = 0;
  for (const auto& figure : survey.bandwidth)
    best = std::max(best, reads_at(survey, figure.threads).value_or(0));
  int fewest = 0;
  for (const auto& figure : survey.bandwidth) {
    const bool reaches = reads_at(survey, figure.threads).value_or(0) >= saturated * best;
    if (reaches && (fewest == 0 || figure.threads < fewest)) fewest = figure.threads;
  }
  if (best > 0)
    says.push_back(
        fmt::format("Reads reach {:.0f} % of the best bandwidth ({:.1f} GB/s) at {} thread{}.",
                    100 * saturated, best / 1e9, fewest, fewest == 1 ? "" : "s"));
}

void tell_translation(const Survey& survey, std::vector<std::string>& says) {
  for (const bool dependent : {false, true}) {
    const auto* huge = find(survey, {line_bytes, dependent, Pages::huge});
    const auto* small = find(survey, {line_bytes, dependent, Pages::small});
    if (huge == nullptr || small == nullptr) continue;
    const std::string rows =
        fmt::format("rows of {} bytes, {}, from a table of {}", line_bytes,
                    dependent ? "each naming the next" : "16 at once", mib(huge->table_bytes));
    const double got =
        static_cast<double>(huge->huge_bytes.value_or(0)) / static_cast<double>(huge->buffer_bytes);
    const double ratio = least_ns(*small) / least_ns(*huge);
    if (!huge->huge_bytes || got < mostly_huge)
      says.push_back(fmt::format(
          "What translating addresses (TLB) costs {} cannot be told: the system {}.", rows,
          huge->huge_bytes ? fmt::format("gave huge pages for {:.0f} % of it", 100 * got)
                           : "does not say whether it gave huge pages"));
    else if (ratio >= noticeable)
      says.push_back(
          fmt::format("Translating addresses (TLB) makes {} {:.1f} times as slow on small pages as "
                      "on huge ones.",
                      rows, ratio));
    else
      says.push_back(fmt::format(
          "Translating addresses (TLB) costs nothing to notice: {} take {:.2f} times as long on "
          "small pages as on huge ones.",
          rows, ratio));
  }
}

void tell_crossing(const Survey& survey, std::vector<std::string>& says) {
  const auto* on_one = find(survey, {page_bytes, false, Pages::small});
  const auto* on_two = find(survey, {page_bytes, false, Pages::small, page_bytes / 2});
  if (on_one == nullptr || on_two == nullptr) return;
  const double ratio = least_ns(*on_two) / least_ns(*on_one);
  says.push_back(fmt::format(
      "Crossing pages {}: a row of {} bytes on two small pages takes {:.2f} times as long as one "
      "on "
      "a single page.",
      ratio >= noticeable ? "costs time" : "costs nothing to notice", page_bytes, ratio));
}

void tell_latency(const Survey& survey, std::vector<std::string>& says) {
  const auto* apart = find(survey, {line_bytes, true, Pages::huge});
  const auto* together = find(survey, {line_bytes, false, Pages::huge});
  if (apart == nullptr || together == nullptr) return;
  const double apart_ns = least_ns(*apart);
  const double together_ns = least_ns(*together);
  says.push_back(fmt::format(
      "A row of {} bytes from a table of {} takes {:.0f} ns when each names the next and {:.1f} ns "
      "of 16 at once, {:.1f} times less.",
      line_bytes, mib(apart->table_bytes), apart_ns, together_ns, apart_ns / together_ns));
  if (const auto reads = reads_at(survey, 1))
    says.push_back(fmt::format(
        "Rows of {} bytes, 16 at once, reach {:.0f} % of the bandwidth of one reading thread.",
        line_bytes, 100 * (line_bytes * 1e9 / together_ns) / *reads));
}

}  // namespace

std::vector<std::string> findings(const Survey& survey) {
  std::vector<std::string> says;
  tell_threads(survey, says);
  tell_latency(survey, says);
  tell_translation(survey, says);
  tell_crossing(survey, says);
  return says;
}

}  // namespace paceline::document
