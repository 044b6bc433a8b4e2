#include "report/probe.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "report/format.hpp"
#include "report/wrap.hpp"
#include "util/clock.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Known;
using document::Probe;
using document::Rates;
using util::Align;
using util::printable;

constexpr std::size_t label_width = 14;
constexpr Unit gigabytes{1e-9, ""};
constexpr const char* none = "-";

std::string line(const char* label, const std::string& text, const Style& style) {
  return labelled(label, text, label_width, style.width);
}

std::string cell(const Known<Rates>& rates) {
  if (!rates.value) return none;
  return fmt::format("{}, {}, {}", figure(rates.value->best / 1e9),
                     figure(rates.value->median / 1e9),
                     with_interval(rates.value->mean, gigabytes, true));
}

/// A line for each number of threads, a column for each kind of pages and access.
std::string bandwidths(const Probe& probe, const Style& style) {
  using Place = std::pair<std::string, int>;
  std::map<Place, std::map<std::string, std::string>> cells;
  std::vector<Place> places;
  std::string problems;
  for (const auto& each : probe.bandwidth) {
    const Place place{each.where, each.threads};
    if (cells.find(place) == cells.end()) places.push_back(place);
    cells[place][each.access + " " + each.pages] = cell(each.bytes_per_s);
    if (!each.bytes_per_s.value && problems.empty()) problems = each.bytes_per_s.reason;
  }
  util::TextTable table;
  table.add_column("", Align::left);
  table.add_column("threads", Align::right);
  for (const char* heading : {"reads, huge pages", "reads, small pages", "triad, huge pages"})
    table.add_column(heading, Align::right);
  for (const auto& place : places) {
    auto& row = cells[place];
    table.add_row({{place.first},
                   {std::to_string(place.second)},
                   {row["read huge"]},
                   {row["read small"]},
                   {row["triad huge"]}});
  }
  std::string text =
      line("bandwidth", "GB/s: best, median, mean with 95 % over repeats in one process", style);
  text += table.render(label_width, style.colour);
  if (!problems.empty()) text += line("", none + std::string(": ") + printable(problems), style);
  return text;
}

/// A line for each size of rows, a column for each size of table, huge pages before small ones.
std::string gathers(const std::vector<document::ProbedGather>& list, bool dependent,
                    const Style& style) {
  std::set<std::uint64_t> rows;
  std::set<std::uint64_t> tables;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<std::string, std::string>> cells;
  for (const auto& each : list) {
    if (each.dependent != dependent || each.shift_bytes != 0) continue;
    rows.insert(each.row_bytes);
    tables.insert(each.table_bytes);
    cells[{each.row_bytes, each.table_bytes}][each.pages] = figure(each.ns_per_row);
  }
  util::TextTable table;
  table.add_column("row", Align::right);
  for (const std::uint64_t bytes : tables) table.add_column(binary_bytes(bytes), Align::right);
  for (const std::uint64_t row : rows) {
    std::vector<util::Cell> line{{fmt::format("{} B", row)}};
    for (const std::uint64_t bytes : tables) {
      auto& figures = cells[{row, bytes}];
      line.push_back({figures["huge"] + " / " + figures["small"]});
    }
    table.add_row(std::move(line));
  }
  return line("gather",
              fmt::format("least ns a row, {}, by size of the table: huge pages / small ones",
                          dependent ? "each row naming the next" : "16 rows at once"),
              style) +
         table.render(label_width, style.colour);
}

std::string devices(const Known<std::vector<document::ProbedDevice>>& devices, const Style& style) {
  if (!devices.value) return line("ggml", "unknown (" + printable(devices.reason) + ")", style);
  std::string text;
  for (const auto& device : *devices.value) {
    const bool measured = device.read_bytes_per_s.value.has_value();
    const auto rate = [](const Known<Rates>& rates) { return figure(rates.value->best / 1e9); };
    text += line(text.empty() ? "ggml" : "",
                 printable(device.name) + ": " +
                     (measured ? fmt::format("GB/s, best: to the device {}, from it {}, weights "
                                             "read by a product of matrix and vector {}",
                                             rate(device.upload_bytes_per_s),
                                             rate(device.download_bytes_per_s),
                                             rate(device.read_bytes_per_s))
                               : printable(device.read_bytes_per_s.reason)),
                 style);
  }
  return text;
}

}  // namespace

std::string probe(const Known<Probe>& probe, const Style& style) {
  if (!probe.value) return line("probe", printable(probe.reason), style);
  std::string text =
      line("probe",
           fmt::format("measured {} ago, in {}", util::for_people(probe.value->age_s),
                       util::for_people(probe.value->took_s)),
           style);
  text += bandwidths(*probe.value, style);
  if (const auto& gather = probe.value->gather; gather.value)
    text += gathers(*gather.value, false, style) + gathers(*gather.value, true, style);
  else
    text += line("gather", "unknown (" + printable(gather.reason) + ")", style);
  text += devices(probe.value->devices, style);
  for (const auto& says : probe.value->findings) text += line("", printable(says), style);
  return text;
}

}  // namespace paceline::report
