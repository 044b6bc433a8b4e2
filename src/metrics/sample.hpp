#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/counts.hpp"
#include "metrics/grid.hpp"
#include "trace/trace.hpp"

namespace paceline::metrics {

/// Counts of one prompt, repetitions pooled, in each launch.
struct PromptCells {
  std::string prompt_id;
  std::string family;
  std::vector<Counts> launches;
};

/// One class on one arm: the prompts that every counted launch has, crossed with those launches.
struct Sample {
  int filled_tokens = 0;             ///< of text in the context below the prompts
  std::vector<int> rounds;           ///< of the counted launches, in their order in time
  std::vector<PromptCells> prompts;  ///< by prompt id
  int requests_failed = 0;
  int prompts_excluded = 0;

  /// Families among the prompts, numbered from 0 as they appear; one number a prompt.
  std::vector<std::size_t> units() const;
  std::size_t families() const;  ///< how many those are
  Counts pooled() const;
  double n_eff() const;
};

/// True for requests that headline figures are made of: neither warm-up nor synced nor excluded.
bool is_measured(const trace::Request& request);

/// Classes of the measured requests, each once, sorted by name and depth.
std::vector<std::string> classes_of(const trace::Trace& trace);

/// Those of them at the smallest depth that the context was filled to: one of each class.
std::vector<std::string> shallowest_classes_of(const trace::Trace& trace);

/// The launches of an arm that figures are made of, in their order in time. The rule was fixed
/// before any run: a launch that did not end well and has under half of the run's prompts done is
/// dropped, since keeping it would drop those prompts from every other launch. Launches without
/// measured requests (for probes or phases only) are no part of it, and neither are those on
/// held-out prompts.
std::vector<const trace::Launch*> counted_launches(const trace::Trace& trace, std::string_view arm);

/// Prompts that some launch lacks are left out of all of them, so that launches differ by nothing
/// but the launch; they are counted in prompts_excluded.
/// With `setup`, what the passes read from memory is counted too.
Sample collect(const std::vector<const trace::Launch*>& launches, std::string_view workload_class,
               const trace::Setup* setup = nullptr);

/// `sample` on the prompts and rounds that `other` has too.
Sample shared_part(const Sample& sample, const Sample& other);

/// A figure and the deviations of its logarithm in each cell (mean 0), by the delta method.
struct Figure {
  double value = 0;
  Grid deviations;
};

using Field = double (*)(const Counts&);

/// Mean over prompts, all weighing the same, of sum(field) / sum(E - 1): s and f of DEFINITIONS 4.
/// Nothing without prompts, or where the mean is not above zero.
std::optional<Figure> mean_per_token(const Sample& sample, Field field);

/// Ratio of pooled counts. Nothing when the denominator is zero; a ratio of 0 has no deviations.
std::optional<Figure> pooled_ratio(const Sample& sample, Field numerator, Field denominator);

}  // namespace paceline::metrics
