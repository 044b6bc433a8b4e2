#include "dialect/counter_pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "dialect/fields.hpp"
#include "dialect/prometheus.hpp"

namespace paceline::dialect {

namespace {

/// Without a fraction where it has none, whatever its size.
std::string whole(double value) { return fmt::format("{:.15g}", value); }

}  // namespace

std::optional<double> CounterPair::moved_by(std::string_view name) const {
  const auto before = counter(before_, name);
  const auto after = counter(after_, name);
  if (!before || !after) return std::nullopt;
  return *after - *before;
}

std::optional<std::vector<double>> CounterPair::list_moved_by(std::string_view name,
                                                              std::string_view total) const {
  const auto after = after_.by_position.find(std::string(name));
  if (after == after_.by_position.end()) return std::nullopt;
  const auto before = before_.by_position.find(std::string(name));
  const bool was_there = before != before_.by_position.end();
  if (!was_there && counter(before_, total).value_or(1) > 0) return std::nullopt;
  std::vector<double> moved = after->second;
  if (!was_there) return moved;
  if (before->second.size() > moved.size()) return std::nullopt;
  for (std::size_t i = 0; i < before->second.size(); ++i) moved[i] -= before->second[i];
  const bool fell = std::any_of(moved.begin(), moved.end(), [](double by) { return by < 0; });
  return fell ? std::nullopt : std::optional(std::move(moved));
}

bool CounterPair::fell(std::vector<std::string>& oddities) const {
  for (const auto& [name, before] : before_.values) {
    const auto after = counter(after_, name);
    if (!name.ends_with("_total") || !after || *after >= before) continue;
    add_oddity(oddities, name + " fell from " + whole(before) + " to " + whole(*after) +
                             " during the request: the server was restarted or reset");
    return true;
  }
  return false;
}

bool CounterPair::was_busy(const Signs& signs, std::vector<std::string>& oddities) const {
  for (const std::string_view gauge : signs.busy)
    for (const Counters* reading : {&before_, &after_})
      if (counter(*reading, gauge).value_or(0) > 0) {
        add_oddity(oddities, std::string(gauge) + " was " + whole(*counter(*reading, gauge)) +
                                 " while our request did not run: somebody else uses the server");
        return true;
      }
  return false;
}

bool CounterPair::is_of_one_request(const Signs& signs, std::optional<long> output_tokens,
                                    std::vector<std::string>& oddities) const {
  if (fell(oddities) || was_busy(signs, oddities)) return false;
  const auto tokens = moved_by(signs.tokens);
  const std::string name(signs.tokens);
  if (!tokens) {
    add_oddity(oddities, name + " is not among the counters: nobody can tell whose they are");
    return false;
  }
  if (!output_tokens) return true;
  if (*tokens <= 0 && *output_tokens > 0) {
    add_oddity(oddities, name + " did not move during a request of " +
                             std::to_string(*output_tokens) + " tokens");
    return false;
  }
  if (std::abs(*tokens - static_cast<double>(*output_tokens)) < 0.5) return true;
  add_oddity(oddities, name + " moved by " + whole(*tokens) + " during a request of " +
                           std::to_string(*output_tokens) +
                           " tokens: somebody else uses the server, or one of both is wrong");
  return false;
}

}  // namespace paceline::dialect
