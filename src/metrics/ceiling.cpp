#include "metrics/ceiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "metrics/arithmetic.hpp"
#include "metrics/bytes_read.hpp"
#include "metrics/interval.hpp"
#include "metrics/rates.hpp"
#include "metrics/summary.hpp"

namespace paceline::metrics {

namespace {

constexpr double caches_apart = 4;  // a working set under so many caches may be read from them
constexpr std::size_t largest_shown = 3;
constexpr double most_pages_per_row = 2;  // a row of at most a page that begins in another

double bytes_of(const Counts& counts) { return counts.bytes_read.number(); }

/// What an arm's launches measured of the memory.
struct Measured {
  std::vector<double> best;  ///< of each launch, bytes/s
  std::optional<std::uint64_t> llc_bytes;
  std::map<std::string, double> ns_per_row;  ///< median, by class
  std::vector<double> ns_per_disk_page;      ///< of a table that lies on disk
  std::string reason;
};

Measured measured_by(const trace::Trace& trace, const trace::Arm& arm) {
  Measured measured;
  measured.reason = "memory bandwidth was not measured in this run";
  std::map<std::string, std::vector<double>> gathers;
  for (const auto& launch : trace.launches) {
    if (launch.arm != arm.name || !launch.memory_speed) continue;
    const auto& speed = *launch.memory_speed;
    if (!speed.reason.empty()) measured.reason = speed.reason;
    if (speed.read_bytes_per_s.empty() || !trace::is_headline(launch, trace.header)) continue;
    measured.best.push_back(
        *std::max_element(speed.read_bytes_per_s.begin(), speed.read_bytes_per_s.end()));
    measured.llc_bytes = speed.llc_bytes;
    for (const auto& gather : speed.gathers) {
      auto& times = gathers[gather.name];
      times.insert(times.end(), gather.ns_per_row.begin(), gather.ns_per_row.end());
      measured.ns_per_disk_page.insert(measured.ns_per_disk_page.end(),
                                       gather.ns_per_disk_page.begin(),
                                       gather.ns_per_disk_page.end());
    }
  }
  for (auto& [name, times] : gathers)
    if (!times.empty()) measured.ns_per_row[name] = median(std::move(times));
  return measured;
}

/// The ratio of two figures that were measured apart: half-widths on the log scale add in squares.
Estimate ratio_of(const Estimate& top, const Estimate& bottom) {
  if (!top.value) return unknown(top.reason);
  if (!bottom.value) return unknown(bottom.reason);
  Estimate ratio;
  ratio.value = *top.value / *bottom.value;
  ratio.n = top.n;
  if (!top.high || !bottom.high) {
    ratio.reason = top.high ? bottom.reason : top.reason;
    return ratio;
  }
  const double half =
      std::hypot(std::log(*top.high / *top.value), std::log(*bottom.high / *bottom.value));
  ratio.low = *ratio.value * std::exp(-half);
  ratio.high = *ratio.value * std::exp(half);
  ratio.level = "95 % over prompts and launches";
  ratio.method = "half-widths of both figures' logarithms, added in squares";
  return ratio;
}

/// Why caches may have served the passes; empty where they cannot have.
std::string why_cached(double bytes_per_pass, const std::optional<std::uint64_t>& llc_bytes) {
  if (!llc_bytes) return "the size of the last-level cache is not known";
  const auto cache = static_cast<double>(*llc_bytes);
  if (bytes_per_pass >= caches_apart * cache) return "";
  return fmt::format(
      "cache: a pass reads {:.3g} MB, under {:g} times the last-level cache of {:.3g} MB",
      bytes_per_pass / 1e6, caches_apart, cache / 1e6);
}

const WidthCurve* curve_of(const std::vector<WidthCurve>& curves, const std::string& arm,
                           int filled_tokens) {
  for (const auto& curve : curves)
    if (curve.arm == arm && curve.filled_tokens == filled_tokens) return &curve;
  return nullptr;
}

/// Seconds of the decode call in the mean pass; nothing where a width was not timed.
std::optional<double> verify_seconds(const WidthCurve& curve, const Counts& counts) {
  double sum = 0;
  for (const auto& [width, passes] : counts.widths) {
    const auto timed = std::find_if(curve.widths.begin(), curve.widths.end(),
                                    [w = width](const auto& one) { return one.width == w; });
    if (timed == curve.widths.end() || !timed->verify_s.value) return std::nullopt;
    sum += static_cast<double>(passes) * *timed->verify_s.value;
  }
  return sum / counts.passes.number();
}

/// Of drafts and of what the drafter takes in: those of the nearest width that was timed.
double drafter_seconds(const WidthCurve& curve, const Counts& counts) {
  const auto nearest = [](const std::map<int, double>& seconds, int width) {
    if (seconds.empty()) return 0.0;
    const auto wider = seconds.lower_bound(width);
    if (wider == seconds.begin()) return wider->second;
    const auto narrower = std::prev(wider);
    if (wider == seconds.end()) return narrower->second;
    return width - narrower->first <= wider->first - width ? narrower->second : wider->second;
  };
  double sum = 0;
  for (const auto& [width, passes] : counts.widths)
    sum += static_cast<double>(passes) * nearest(curve.process_s, width);
  for (const auto& [width, passes] : counts.attempted_widths)
    sum += static_cast<double>(passes) * nearest(curve.draft_s, width);
  return sum / counts.passes.number();
}

/// A term below zero says by how much the parts, which are measured apart, do not fit together. A
/// lead of less is none.
void name_bound(PassTerms& terms) {
  std::pair<double, const char*> spent[] = {{terms.reading_s, "bandwidth-bound"},
                                            {terms.gathering_s, "gather-bound"},
                                            {terms.computing_s, "compute-bound at this width"},
                                            {terms.drafting_s, "draft-bound"},
                                            {terms.host_s, "host-bound"}};
  std::sort(std::begin(spent), std::end(spent),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  const double lead = spent[0].first - spent[1].first;
  const double least = std::rbegin(spent)->first;
  terms.bound = lead > -least ? spent[0].second : "unclear";
}

/// What gathering takes in the mean pass.
struct Gathering {
  double bytes = 0;
  double in_memory_s = 0;
  double from_disk_s = 0;  ///< passes that were timed alone have none of it: their rows stay
  std::string no_terms;    ///< why a pass cannot be taken apart; empty when it can
};

/// The time of what came from disk, as far as rows of a table can have: nothing else should.
void add_disk(Gathering& gathering, const Counts& counts, const Measured& measured,
              const Estimate& per_pass) {
  if (!measured.ns_per_disk_page.empty() && !per_pass.value) {
    gathering.no_terms = per_pass.reason;
    return;
  }
  const double pages = per_pass.value.value_or(0);
  const double passes = counts.passes.number();
  double rows = 0;
  for (const auto& [name, gathered] : counts.rows_gathered) rows += gathered / passes;
  if (!measured.ns_per_disk_page.empty() && pages <= most_pages_per_row * rows)
    gathering.from_disk_s = pages * mean(measured.ns_per_disk_page) * 1e-9;
  else if (pages >= 1)
    gathering.no_terms = fmt::format(
        "{:.3g} pages of a pass had to come from disk: {}", pages,
        measured.ns_per_disk_page.empty()
            ? "the model does not stay in memory, and what a page takes was not measured"
            : "more than rows of its tables lie on, so other weights do not stay in memory");
}

Estimate disk_pages_of(const Counts& counts) {
  if (!counts.disk_pages.known()) return unknown(counts.disk_pages.reason());
  if (!(counts.passes > 0)) return unknown("no pass of this class was counted");
  Estimate pages;
  pages.value = counts.disk_pages.number() / counts.passes.number();
  return pages;
}

Gathering gathering_of(const Counts& counts, const Measured& measured,
                       const Estimate& disk_pages_per_pass) {
  Gathering gathering;
  const double passes = counts.passes.number();
  for (const auto& [name, rows] : counts.rows_gathered) {
    const auto found = measured.ns_per_row.find(name);
    if (found == measured.ns_per_row.end()) continue;
    gathering.in_memory_s += rows / passes * found->second * 1e-9;
    gathering.bytes += counts.bytes_by_class.at(name) / passes;
  }
  add_disk(gathering, counts, measured, disk_pages_per_pass);
  return gathering;
}

/// Where caches may serve the weights, nothing of them is reading from memory.
void fill_terms(Ceiling& ceiling, const ClassSummary& summary, const Measured& measured,
                const WidthCurve* curve, bool cached) {
  const Counts& counts = summary.counts;
  const auto verify = curve == nullptr ? std::nullopt : verify_seconds(*curve, counts);
  if (!verify || !summary.seconds_per_pass.value || !ceiling.bandwidth.value) {
    ceiling.no_terms = "passes of some width were not timed alone, or the bandwidth is not known";
    return;
  }
  PassTerms terms;
  const Gathering gathering = gathering_of(counts, measured, ceiling.disk_pages_per_pass);
  if (!gathering.no_terms.empty()) {
    ceiling.no_terms = gathering.no_terms;
    return;
  }
  const auto drafter = counts.bytes_by_class.find(drafter_class);
  const double by_drafter =
      drafter == counts.bytes_by_class.end() ? 0 : drafter->second / counts.passes.number();
  if (!cached)
    terms.reading_s =
        (ceiling.bytes_per_pass - by_drafter - gathering.bytes) / *ceiling.bandwidth.value;
  terms.gathering_s = gathering.in_memory_s + gathering.from_disk_s;
  terms.computing_s = *verify - terms.reading_s - gathering.in_memory_s;
  terms.drafting_s = drafter_seconds(*curve, counts);
  terms.host_s =
      *summary.seconds_per_pass.value - *verify - terms.drafting_s - gathering.from_disk_s;
  name_bound(terms);
  ceiling.terms = terms;
}

void fill_largest(Ceiling& ceiling, const Counts& counts) {
  ceiling.largest.assign(counts.bytes_by_class.begin(), counts.bytes_by_class.end());
  std::stable_sort(ceiling.largest.begin(), ceiling.largest.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (ceiling.largest.size() > largest_shown) ceiling.largest.resize(largest_shown);
  for (auto& [name, bytes] : ceiling.largest) bytes /= counts.passes.number();
}

}  // namespace

Ceiling ceiling_of(const ClassSummary& summary, const Sample& sample, const trace::Trace& trace,
                   const trace::Arm& arm, const std::vector<WidthCurve>& curves) {
  Ceiling ceiling;
  const Counts& counts = summary.counts;
  ceiling.disk_pages_per_pass = disk_pages_of(counts);
  const auto refuse = [&](const std::string& reason) {
    ceiling.share = ceiling.read_bytes_per_s = unknown(reason);
    ceiling.no_terms = reason;
    return ceiling;
  };
  const Measured measured = measured_by(trace, arm);
  ceiling.bandwidth =
      measured.best.empty() ? unknown(measured.reason) : over_launches(measured.best);
  if (!counts.passes.known()) return refuse(counts.passes.reason());
  if (!counts.bytes_read.known()) return refuse(counts.bytes_read.reason());
  const auto rate = pooled_ratio(sample, bytes_of, decode_seconds);
  if (!rate || !(counts.passes > 0)) return refuse("no pass of this class was counted");
  ceiling.read_bytes_per_s = log_interval(rate->value, rate->deviations, summary.n_eff);
  ceiling.bytes_per_pass = counts.bytes_read.number() / counts.passes.number();
  ceiling.has_model = counts.bytes_are_modelled;
  fill_largest(ceiling, counts);
  ceiling.share = ratio_of(ceiling.read_bytes_per_s, ceiling.bandwidth);
  if (measured.best.empty()) return ceiling;
  const std::string cached = why_cached(ceiling.bytes_per_pass, measured.llc_bytes);
  if (!cached.empty()) ceiling.share = unknown(cached);
  fill_terms(ceiling, summary, measured, curve_of(curves, arm.name, summary.filled_tokens),
             !cached.empty());
  return ceiling;
}

std::string find_ceiling_contradiction(const std::string& arm, const ClassSummary& summary) {
  const Estimate& share = summary.ceiling.share;
  if (!share.low || *share.low <= 1) return "";
  return fmt::format(
      "{} on {} reads {:.3g} GB/s [{:.3g}-{:.3g}], more than the memory was measured to give "
      "({:.3g} GB/s): its bytes are counted too high, or a cache serves them",
      arm, summary.workload_class, *summary.ceiling.read_bytes_per_s.value / 1e9,
      *summary.ceiling.read_bytes_per_s.low / 1e9, *summary.ceiling.read_bytes_per_s.high / 1e9,
      *summary.ceiling.bandwidth.value / 1e9);
}

}  // namespace paceline::metrics
