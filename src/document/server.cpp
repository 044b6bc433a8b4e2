#include "document/server.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "document/counted.hpp"
#include "trace/names.hpp"

namespace paceline::document {

namespace {

const char* const unsaid = "the server does not say";

std::vector<Ability> to_abilities(const std::vector<trace::Ability>& from) {
  std::vector<Ability> abilities;
  for (const auto& ability : from)
    abilities.push_back(
        {util::enum_name(ability.quantity),
         ability.source.empty() ? not_known<std::string>(ability.reason) : known(ability.source)});
  return abilities;
}

struct TallyField {
  const char* name;
  trace::Counted trace::Tally::*counted;
};

constexpr TallyField tally_fields[] = {
    {"passes", &trace::Tally::passes},
    {"passes_speculative", &trace::Tally::passes_speculative},
    {"passes_replay", &trace::Tally::passes_replay},
    {"attempts", &trace::Tally::attempts},
    {"generated", &trace::Tally::generated},
    {"offered", &trace::Tally::offered},
    {"tested", &trace::Tally::tested},
    {"accepted", &trace::Tally::accepted},
    {"overshoot", &trace::Tally::overshoot},
    {"residual_passes", &trace::Tally::residual_passes},
    {"prefill_tokens", &trace::Tally::prompt_processed},
    {"prefill_cached", &trace::Tally::prompt_cached},
};

/// The longest draft, where answers say it and the server's facts do not.
std::optional<int> longest_draft(const trace::Trace& trace, const std::string& arm) {
  std::optional<int> longest;
  for_each_counted(trace, [&](const trace::Launch& launch, const trace::Request& request) {
    if (launch.arm != arm || !request.answer) return;
    for (const auto& said : request.answer->said)
      if (said.quantity == trace::Quantity::draft_n_max && said.value >= 0 && said.value < 1e6)
        longest = std::max(longest.value_or(0), static_cast<int>(said.value));
  });
  return longest;
}

/// Every field that was read and every rule that was used, once.
std::vector<Provenance> to_provenance(const trace::Trace& trace, const std::string& arm) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::set<Key> found;
  for_each_counted(trace, [&](const trace::Launch& launch, const trace::Request& request) {
    if (launch.arm != arm || !request.answer) return;
    for (const auto& said : request.answer->said)
      found.insert({util::enum_name(said.quantity), "said", said.endpoint, said.field, said.rule});
    found.insert({"ttft_s, ttfo_s, client_decode_s", "derived", "", "", "by our own clock"});
    if (!request.tally) return;
    for (const auto& [name, counted] : tally_fields) {
      const trace::Counted& count = (*request.tally).*counted;
      if (count.value) found.insert({name, "derived", "", "", count.rule});
    }
  });
  std::vector<Provenance> provenance;
  for (const auto& [quantity, kind, endpoint, field, rule] : found)
    provenance.push_back({quantity, kind, endpoint, field, rule});
  return provenance;
}

Server to_server(const trace::Arm& arm, const trace::EngineFacts& facts) {
  const trace::ServerFacts& said = *facts.server;
  const bool managed = !arm.setup.server_bin.empty();
  const char* const not_ours = "the server was not started by us";
  Server server;
  server.arm = arm.name;
  server.dialect = said.dialect;
  server.chosen = said.chosen;
  server.url = said.url;
  server.managed = managed;
  server.build = facts.build.empty() ? not_known<std::string>(unsaid) : known(facts.build);
  server.model = known_or(said.model, unsaid);
  server.quant = known_or(said.quant, unsaid);
  server.slots = known_or(said.slots, unsaid);
  server.n_ctx_slot = known_or(said.n_ctx_slot, unsaid);
  server.speculates = known_or(said.speculates, unsaid);
  server.spec_types = said.spec_types;
  server.draft_n_max = known_or(said.draft_n_max, unsaid);
  server.forced_acceptance = known_or(said.forced_acceptance, unsaid);
  server.command_line = known_or(said.command_line, not_ours);
  server.binary_sha256 = known_or(said.binary_sha256, not_ours);
  server.binary_is_script = known_or(said.binary_is_script, not_ours);
  server.abilities = to_abilities(said.abilities);
  return server;
}

}  // namespace

std::vector<Server> to_servers(const trace::Trace& trace) {
  std::vector<Server> servers;
  for (const auto& arm : trace.header.arms) {
    const trace::EngineFacts* facts = first_facts(trace, arm.name);
    if (facts == nullptr || !facts->server) continue;
    servers.push_back(to_server(arm, *facts));
    servers.back().provenance = to_provenance(trace, arm.name);
    if (const auto longest = longest_draft(trace, arm.name);
        longest && !servers.back().draft_n_max.value)
      servers.back().draft_n_max = known(*longest);
  }
  return servers;
}

}  // namespace paceline::document
