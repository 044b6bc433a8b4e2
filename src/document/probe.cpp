#include "document/probe.hpp"

#include <algorithm>

#include "document/workload.hpp"
#include "metrics/arithmetic.hpp"
#include "metrics/interval.hpp"

namespace paceline::document {

namespace {

Known<Rates> to_rates(const std::vector<double>& samples, const std::string& reason) {
  if (samples.empty()) return not_known<Rates>(reason);
  Rates rates;
  rates.best = *std::max_element(samples.begin(), samples.end());
  rates.median = metrics::median(samples);
  rates.mean = to_quantity(metrics::over_launches(samples));
  if (rates.mean.low) rates.mean.level = "95 % over repeats in one process";
  return known(std::move(rates));
}

const char* name_of(machine::Pages pages) {
  return pages == machine::Pages::huge ? "huge" : "small";
}

ProbedBandwidth to_bandwidth(const machine::BandwidthFigure& figure) {
  ProbedBandwidth bandwidth;
  bandwidth.where = figure.node ? "node " + std::to_string(*figure.node) : "machine";
  bandwidth.access = figure.access == machine::Access::read ? "read" : "triad";
  bandwidth.pages = name_of(figure.pages);
  bandwidth.threads = figure.threads;
  bandwidth.bytes = figure.bytes;
  bandwidth.huge_share =
      figure.huge_bytes && figure.bytes > 0
          ? known(static_cast<double>(*figure.huge_bytes) / static_cast<double>(figure.bytes))
          : not_known<double>("the system does not say");
  bandwidth.bytes_per_s = to_rates(figure.bytes_per_s, figure.reason);
  return bandwidth;
}

ProbedGather to_gather(const machine::GatherFigure& figure) {
  const double ns = *std::min_element(figure.ns_per_row.begin(), figure.ns_per_row.end());
  return {figure.row_bytes,
          figure.table_bytes,
          figure.shift_bytes,
          figure.dependent,
          name_of(figure.pages),
          ns,
          metrics::median(figure.ns_per_row),
          static_cast<double>(figure.row_bytes) * 1e9 / ns};
}

ProbedDevice to_device(const trace::DeviceSpeed& device) {
  return {device.name, device.bytes, to_rates(device.upload_bytes_per_s, device.reason),
          to_rates(device.download_bytes_per_s, device.reason),
          to_rates(device.read_bytes_per_s, device.reason)};
}

template <class To, class From>
Known<std::vector<To>> each_of(const std::vector<From>& figures, To (*convert)(const From&),
                               const std::string& reason) {
  if (figures.empty()) return not_known<std::vector<To>>(reason);
  std::vector<To> list;
  std::transform(figures.begin(), figures.end(), std::back_inserter(list), convert);
  return known(std::move(list));
}

}  // namespace

Probe to_probe(const machine::Survey& survey, double now_s) {
  Probe probe;
  probe.created = survey.created;
  probe.age_s = now_s - survey.booted_s;
  probe.took_s = survey.took_s;
  probe.seed = survey.seed;
  std::transform(survey.bandwidth.begin(), survey.bandwidth.end(),
                 std::back_inserter(probe.bandwidth), to_bandwidth);
  probe.gather = each_of(survey.gather, to_gather, survey.gather_reason);
  probe.devices = each_of(survey.devices, to_device, survey.devices_reason);
  probe.findings = findings(survey);
  return probe;
}

}  // namespace paceline::document
