#include "metrics/bytes_read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "model/bytes.hpp"
#include "trace/names.hpp"

namespace paceline::metrics {

namespace {

using Classes = std::vector<model::BytesOfClass>;

/// What a drafter with a model reads; nothing for plain and for n-grams alone.
util::Result<std::optional<model::ReadFacts>> drafter_of(const trace::EngineFacts& facts,
                                                         const trace::Setup& setup,
                                                         const model::ReadFacts& target) {
  const trace::SpecType type = setup.spec_type;
  if (type == trace::SpecType::none || trace::is_ngram(type)) return std::nullopt;
  std::optional<model::ReadFacts> own;
  if (facts.drafter)
    own = facts.drafter->reads;
  else if (facts.target.drafter)
    own = facts.target.drafter->reads;
  if (own) return model::with_borrowed(std::move(*own), target);
  return util::fail(util::ErrorKind::not_enough_data,
                    "what a pass of the drafter reads is not known");
}

class Reading {
 public:
  Reading(const trace::EngineFacts& facts, const model::ReadFacts& target,
          std::optional<model::ReadFacts> drafter, std::string drafter_name)
      : facts_(facts),
        target_(target),
        drafter_(std::move(drafter)),
        drafter_name_(std::move(drafter_name)) {}

  util::Result<void> add(const trace::Pass& pass) {
    const model::PassShape shape = shape_of(pass);
    PACELINE_TRY_ASSIGN(const Classes target, model::bytes_of_pass(target_, shape));
    for (const auto& one : target) {
      bytes_.by_class[one.name] += one.bytes;
      bytes_.has_model |= one.is_model;
    }
    for (const auto& table : target_.rows)
      if (table.rows > 1)
        bytes_.rows_gathered[table.name] += static_cast<double>(table.rows) * pass.width;
    if (!drafter_) return {};
    PACELINE_TRY_ASSIGN(const Classes taken_in, model::bytes_of_taking_in(*drafter_, shape));
    add_drafter(taken_in);
    return add_draft(pass, shape);
  }

  BytesRead take() { return std::move(bytes_); }

 private:
  model::PassShape shape_of(const trace::Pass& pass) const {
    model::PassShape shape;
    shape.width = pass.width;
    shape.depth = pass.depth;
    shape.n_ctx = facts_.n_ctx;
    shape.n_ubatch = facts_.n_ubatch;
    shape.cache_type_k = facts_.cache_type_k;
    shape.cache_type_v = facts_.cache_type_v;
    return shape;
  }

  /// A draft that n-grams made cost the drafter nothing.
  util::Result<void> add_draft(const trace::Pass& pass, const model::PassShape& shape) {
    if (pass.attempts == 0 || (!pass.drafter.empty() && pass.drafter != drafter_name_)) return {};
    const int tokens = pass.generated.value_or(pass.offered);
    if (tokens < 1) return {};
    PACELINE_TRY_ASSIGN(const Classes draft, model::bytes_of_draft(*drafter_, tokens, shape));
    add_drafter(draft);
    return {};
  }

  void add_drafter(const Classes& classes) {
    bytes_.by_class[drafter_class] += model::total_bytes(classes);
    for (const auto& one : classes) bytes_.has_model |= one.is_model;
  }

  const trace::EngineFacts& facts_;
  const model::ReadFacts& target_;
  std::optional<model::ReadFacts> drafter_;
  std::string drafter_name_;
  BytesRead bytes_;
};

}  // namespace

util::Result<BytesRead> bytes_read(const trace::EngineFacts& facts, const trace::Setup& setup,
                                   const trace::Request& request) {
  if (facts.server)
    return util::fail(util::ErrorKind::not_enough_data,
                      "a server does not say where its layers lie and what its passes read");
  if (facts.target_placement && !facts.target_placement->devices.empty())
    return util::fail(util::ErrorKind::not_enough_data,
                      "layers lie on a device whose bandwidth is not measured in a run");
  if (!facts.target.reads)
    return util::fail(util::ErrorKind::not_enough_data, facts.target.reads_unknown.empty()
                                                            ? "what a pass reads is not known"
                                                            : facts.target.reads_unknown);
  PACELINE_TRY_ASSIGN(auto drafter, drafter_of(facts, setup, *facts.target.reads));
  Reading reading(facts, *facts.target.reads, std::move(drafter), util::enum_name(setup.spec_type));
  for (const trace::Pass& pass : request.passes) PACELINE_TRY(reading.add(pass));
  return reading.take();
}

double total_bytes(const BytesRead& bytes) {
  double total = 0;
  for (const auto& [name, sum] : bytes.by_class) total += sum;
  return total;
}

double drafter_bytes(const BytesRead& bytes) {
  const auto found = bytes.by_class.find(drafter_class);
  return found == bytes.by_class.end() ? 0 : found->second;
}

}  // namespace paceline::metrics
