#include "dialect/ik_llama.hpp"

#include "dialect/openai_routes.hpp"

namespace paceline::dialect {

namespace {

using trace::Quantity;

constexpr long deepest_draft = 4096;

/// One depth of timings.draft_by_depth; false when it is no such thing.
bool read_depth(const util::Json& entry, const Fields& timings, std::vector<double>& offered,
                std::vector<double>& accepted) {
  const Fields fields(entry, timings.path("draft_by_depth"), timings.oddities());
  const auto depth = fields.count("depth");
  const auto drafted = fields.count("draft_n");
  const auto taken = fields.count("draft_n_accepted");
  if (!depth || !drafted || !taken || *depth < 1 || *depth > deepest_draft) return false;
  const auto position = static_cast<std::size_t>(*depth - 1);
  if (offered.size() <= position) {
    offered.resize(position + 1, 0);
    accepted.resize(position + 1, 0);
  }
  offered[position] = static_cast<double>(*drafted);
  accepted[position] = static_cast<double>(*taken);
  return true;
}

}  // namespace

std::vector<trace::Ability> IkLlama::abilities() const {
  return common_abilities()
      .can(Quantity::prompt_cached,
           "timings.cache_n, or tokens_evaluated less timings.prompt_n, of /completion")
      .can(Quantity::offered_at, "timings.draft_by_depth of /completion")
      .can(Quantity::accepted_at, "timings.draft_by_depth of /completion")
      .can(Quantity::passes_speculative,
           "timings.draft_by_depth of /completion: drafts of one token or more")
      .list();
}

/// Context of the whole server, which llama.cpp's own /props does not have.
std::optional<int> IkLlama::whole_context(const Fields& props) const {
  return props.small_count("n_ctx");
}

std::optional<std::string> IkLlama::recognises(const Answers& answers) const {
  const auto props = answer_object(answers, "/props");
  if (!props || !is_llama_props(*props) || !props->contains("n_ctx")) return std::nullopt;
  return "/props names n_ctx of the whole server";
}

void IkLlama::read_more_timings(const Fields& timings, Sayings& say) const {
  const util::Json* depths = timings.array("draft_by_depth");
  if (depths == nullptr || depths->empty()) return;
  std::vector<double> offered;
  std::vector<double> accepted;
  for (const auto& entry : *depths)
    if (!read_depth(entry, timings, offered, accepted))
      return timings.odd("draft_by_depth", "has an entry that is none");
  const std::string field = timings.path("draft_by_depth");
  say.add(Quantity::passes_speculative, std::optional(offered[0]), field,
          "drafts of one token or more: offered at the first position");
  say.add_list(Quantity::offered_at, offered, field, "depth 1 is the first position");
  say.add_list(Quantity::accepted_at, accepted, field, "depth 1 is the first position");
}

}  // namespace paceline::dialect
