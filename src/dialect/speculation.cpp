#include "dialect/speculation.hpp"

#include <algorithm>
#include <cmath>

namespace paceline::dialect {

namespace {

using trace::Quantity;

constexpr std::size_t most_steps = 1'000'000;
constexpr double longest_draft = 4095;

/// Passes by the length of their drafts, and the draft tokens that the target compared: up to the
/// first rejection, which is one of them.
struct Widths {
  std::vector<double> by_length;
  double tested = 0;
  bool contradicts = false;  ///< more accepted than drafted

  void add(std::size_t drafted, std::size_t accepted, double passes) {
    if (by_length.size() <= drafted) by_length.resize(drafted + 1, 0);
    by_length[drafted] += passes;
    tested += static_cast<double>(std::min(accepted + 1, drafted)) * passes;
    contradicts = contradicts || (accepted > drafted && passes > 0);
  }
};

/// Reads one name, or nothing where the server has none for it.
template <class Read>
auto named(const char* name, const Read& read) -> decltype(read(name)) {
  if (name == nullptr) return std::nullopt;
  return read(name);
}

double sum(const std::vector<double>& counts) {
  double total = 0;
  for (const double count : counts) total += count;
  return total;
}

double weighted_sum(const std::vector<double>& counts) {
  double total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) total += static_cast<double>(i) * counts[i];
  return total;
}

/// A pass that accepted j tokens accepted each position before j.
std::vector<double> accepted_by_position(const std::vector<double>& histogram) {
  std::vector<double> accepted;
  double passes = 0;
  for (std::size_t j = histogram.size(); j-- > 1;) {
    passes += histogram[j];
    accepted.push_back(passes);
  }
  std::reverse(accepted.begin(), accepted.end());
  return accepted;
}

std::size_t as_length(double count) {
  return static_cast<std::size_t>(std::min(count, longest_draft));
}

std::vector<double> histogram_of_steps(const std::vector<double>& accepted) {
  std::vector<double> histogram;
  for (const double count : accepted) {
    const std::size_t j = as_length(count);
    if (histogram.size() <= j) histogram.resize(j + 1, 0);
    histogram[j] += 1;
  }
  return histogram;
}

void say_widths(const Widths& widths, const std::string& field, Sayings& say, Message& message) {
  if (widths.by_length.empty()) return;
  if (widths.contradicts)
    return add_oddity(message.oddities, field + " accepts more than was drafted");
  std::vector<double> offered(widths.by_length.size() - 1, 0);
  double longer = 0;
  for (std::size_t position = offered.size(); position-- > 0;) {
    longer += widths.by_length[position + 1];
    offered[position] = longer;
  }
  say.add_list(Quantity::offered_at, std::move(offered), field, "drafts at least so long");
  say.add(Quantity::tested, std::optional(widths.tested), field,
          "of each pass its accepted tokens and the first that was not");
}

/// A count, or the sum that stands in for it; both must agree.
void say_count(Quantity quantity, std::optional<long> count, const std::string& field,
               std::optional<double> sum_of_histogram, const std::string& histogram, Sayings& say,
               Message& message) {
  if (count && sum_of_histogram && std::abs(static_cast<double>(*count) - *sum_of_histogram) >= 0.5)
    add_oddity(message.oddities, field + " is not what " + histogram + " sums to");
  if (count)
    say.add(quantity, count, field);
  else
    say.add(quantity, sum_of_histogram, histogram, "sum over the histogram");
}

struct Histogram {
  std::optional<std::vector<double>> counts;
  std::string field;
};
Histogram read_histogram(const Fields& stats, const SpeculationNames& names) {
  const auto counts = [&](const char* name) { return stats.counts(name); };
  if (auto said = named(names.histogram, counts)) return {said, stats.path(names.histogram)};
  const auto steps =
      named(names.steps_accepted, [&](const char* name) { return stats.counts(name, most_steps); });
  if (!steps) return {};
  return {histogram_of_steps(*steps), stats.path(names.steps_accepted)};
}

std::optional<Widths> widths_of_lengths(const Fields& stats, const SpeculationNames& names) {
  const auto lists =
      named(names.by_length, [&](const char* name) { return stats.counts_by_number(name); });
  if (!lists) return std::nullopt;
  Widths widths;
  for (const auto& [length, histogram] : *lists)
    for (std::size_t j = 0; j < histogram.size(); ++j) widths.add(length, j, histogram[j]);
  return widths;
}

std::optional<Widths> widths_of_steps(const Fields& stats, const SpeculationNames& names,
                                      Message& message) {
  const auto counts = [&](const char* name) { return stats.counts(name, most_steps); };
  const auto drafted = named(names.steps_drafted, counts);
  const auto accepted = named(names.steps_accepted, counts);
  if (!drafted || !accepted) return std::nullopt;
  if (drafted->size() != accepted->size()) {
    add_oddity(message.oddities, stats.path(names.steps_drafted) + " and " + names.steps_accepted +
                                     " are not equally long");
    return std::nullopt;
  }
  Widths widths;
  for (std::size_t i = 0; i < drafted->size(); ++i)
    widths.add(as_length((*drafted)[i]), as_length((*accepted)[i]), 1);
  return widths;
}

void read_widths(const Fields& stats, const SpeculationNames& names, Sayings& say,
                 Message& message) {
  if (const auto widths = widths_of_lengths(stats, names))
    say_widths(*widths, stats.path(names.by_length), say, message);
  else if (const auto steps = widths_of_steps(stats, names, message))
    say_widths(*steps, stats.path(names.steps_drafted), say, message);
}

}  // namespace

void read_speculation(const Fields& stats, const SpeculationNames& names, Sayings& say,
                      Message& message) {
  if (!stats) return;
  const auto count = [&](const char* name) { return stats.count(name); };
  const auto amount = [&](const char* name) { return stats.amount(name); };
  const auto path = [&](const char* name) { return name ? stats.path(name) : std::string(); };
  const Histogram histogram = read_histogram(stats, names);
  const auto passes = named(names.passes, count);
  const auto summed = [&](double (*of)(const std::vector<double>&)) {
    return histogram.counts ? std::optional(of(*histogram.counts)) : std::nullopt;
  };
  say_count(Quantity::passes_speculative, passes, path(names.passes), summed(sum), histogram.field,
            say, message);
  say_count(Quantity::accepted, named(names.accepted, count), path(names.accepted),
            summed(weighted_sum), histogram.field, say, message);
  say.add(Quantity::offered, named(names.offered, count), path(names.offered), names.offered_rule);
  say.add(Quantity::draft_n_max, named(names.n_max, count), path(names.n_max));
  say.add(Quantity::acceptance_length, named(names.length, amount), path(names.length),
          names.length_rule);
  say.add(Quantity::acceptance_rate, named(names.rate, amount), path(names.rate), names.rate_rule);
  if (histogram.counts) {
    say.add_list(Quantity::accepted_at, accepted_by_position(*histogram.counts), histogram.field,
                 "passes that accepted more tokens than stand before the position");
    say.add_list(Quantity::accepted_lengths, histogram.counts, histogram.field);
  }
  read_widths(stats, names, say, message);
  message.speculates = true;
}

}  // namespace paceline::dialect
