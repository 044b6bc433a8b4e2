#include "document/facts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "document/counted.hpp"
#include "util/assert.hpp"

namespace paceline::document {

namespace {

using Reason = std::optional<std::string>;  ///< absent: the fact is known

struct Evidence {
  const Document& document;
  const trace::Trace& trace;
};

/// Whether `holds` is true of every class on every arm, and there is one.
template <class Holds>
bool every_workload(const Document& document, Holds holds) {
  bool any = false;
  for (const Arm& arm : document.arms)
    for (const Workload& workload : arm.workloads) {
      if (!holds(arm, workload)) return false;
      any = true;
    }
  return any;
}

Reason recipe(const Evidence& evidence) {
  if (!evidence.document.target.value) return evidence.document.target.reason;
  return recipe_gap(*evidence.document.target.value);
}

/// An n-gram drafter has neither a file nor a part of one: its sizes are all there is to know.
Reason drafter_gap(const Drafter& one) {
  if (one.ngram.value) return std::nullopt;
  if (one.file.value) {
    if (auto gap = recipe_gap(*one.file.value)) return gap;
  } else if (!one.part.value || one.part.value->recipe.empty()) {
    return one.part.value ? "the types of its blocks are not known" : one.part.reason;
  }
  return one.block.value || one.n_max.value ? Reason{} : one.n_max.reason;
}

Reason drafter(const Evidence& evidence) {
  if (!evidence.document.drafter.value) return evidence.document.drafter.reason;
  for (const Drafter& one : evidence.document.drafter.value->by_arm)
    if (auto gap = drafter_gap(one)) return one.arm + ": " + *gap;
  return std::nullopt;
}

Reason task_distribution(const Evidence& evidence) {
  const auto& shares = evidence.document.mix.shares;
  if (shares.empty()) return "no mix of classes is declared";
  const bool covered = every_workload(evidence.document, [&](const Arm&, const Workload& workload) {
    return shares.contains(workload.workload_class) || shares.contains(workload.base_class);
  });
  return covered ? Reason{} : "a measured class has no share in the mix";
}

Reason acceptance(const Evidence& evidence) {
  const bool all = every_workload(evidence.document, [](const Arm& arm, const Workload& workload) {
    const Acceptance& counts = workload.acceptance;
    if (!speculates(arm)) return true;
    // A drafter that was run and never drafted is known by just that.
    if (counts.attempts.value > 0 && counts.offered.value == 0)
      return counts.fire_rate.value.has_value();
    return counts.rate.value && counts.fire_rate.value && counts.draft_per_pass.value;
  });
  return all ? Reason{} : "a speculating arm has a class without acceptance, fire rate or drafts";
}

Reason tokens_per_pass(const Evidence& evidence) {
  const bool all = every_workload(evidence.document, [](const Arm&, const Workload& workload) {
    return workload.decode.tokens_per_pass.value.has_value();
  });
  return all ? Reason{} : "a class was not measured on every arm";
}

Reason sampling(const Evidence& evidence) {
  const auto& effective = evidence.document.sampling.effective;
  return effective.value ? Reason{} : effective.reason;
}

Reason prefill_and_decode(const Evidence& evidence) {
  const bool all = every_workload(evidence.document, [](const Arm&, const Workload& workload) {
    return workload.decode.tokens_per_s.value && workload.prefill.prefill_tokens_per_s.value;
  });
  return all ? Reason{} : "a class has no rate for prefill or for decode";
}

Reason kv_position(const Evidence& evidence) {
  const auto& engine = evidence.document.engine;
  if (!engine.value) return engine.reason;
  if (!engine.value->cache_type_k.value || !engine.value->cache_type_v.value)
    return "the engine does not name its KV types";
  const bool all = every_workload(evidence.document, [](const Arm&, const Workload& workload) {
    return workload.depth.value.has_value();
  });
  return all ? Reason{} : "a class has no pass whose depth was seen";
}

Reason memory(const Evidence& evidence) {
  const auto& after_fill = evidence.document.memory.after_fill;
  return after_fill.value ? Reason{} : after_fill.reason;
}

/// Offload only matters where there is a device to offload to.
Reason backend(const Evidence& evidence) {
  const auto& engine = evidence.document.engine;
  if (!engine.value) return engine.reason;
  const auto& devices = engine.value->devices;
  if (devices.empty()) return "the engine names no device";
  const bool only_cpu = std::all_of(devices.begin(), devices.end(), [](const std::string& device) {
    return std::string_view(device).substr(0, 3) == "CPU";
  });
  const auto& placement = engine.value->placement;
  if (!only_cpu && (!placement.value || !placement.value->layers_offloaded.value))
    return "the engine does not say which layers were offloaded";
  const auto& drafters = evidence.document.drafter;
  if (!drafters.value) return std::nullopt;
  for (const Drafter& one : drafters.value->by_arm)
    if (!one.on_device.value) return one.arm + ": " + one.on_device.reason;
  return std::nullopt;
}

Reason quality(const Evidence& evidence) { return evidence.document.quality.reason; }

Reason build(const Evidence& evidence) {
  const auto& engine = evidence.document.engine;
  if (!engine.value) return engine.reason;
  // A server's build id tells its version; a version alone does not tell the build.
  const bool is_server = !evidence.document.servers.empty();
  if ((!engine.value->version.value && !is_server) || !engine.value->build.value)
    return is_server ? "the server does not name its build"
                     : "the engine does not name its version and build";
  if (evidence.document.tool.version.empty()) return "the tool's version is not recorded";
  return one_build(evidence.trace) ? Reason{} : "launches ran different builds";
}

/// A working set that a cache holds has no ceiling in memory, and that is known then.
Reason ceiling(const Evidence& evidence) {
  std::string gap = "no class was measured";
  const bool all = every_workload(evidence.document, [&](const Arm&, const Workload& workload) {
    const Quantity& share = workload.ceiling.share;
    if (share.value || std::string_view(share.reason).starts_with("cache:")) return true;
    gap = share.reason;
    return false;
  });
  return all ? Reason{} : gap;
}

Reason concurrency(const Evidence& evidence) {
  const auto& engine = evidence.document.engine;
  if (!engine.value) return engine.reason;
  return engine.value->n_batch.value ? Reason{}
                                     : "the server does not say the shape of its batches";
}

Reason power(const Evidence& evidence) {
  const Document& document = evidence.document;
  std::vector<std::string> missing;
  if (!document.machine.power_cap_w.value) missing.emplace_back("the power cap");
  if (!document.noise.clock_mhz.value) missing.emplace_back("clocks while requests ran");
  if (!document.noise.throttled.value) missing.emplace_back("throttling");
  if (missing.empty()) return {};
  return fmt::format("this system does not show {}", fmt::join(missing, ", "));
}

Reason output_length(const Evidence& evidence) {
  const Launches& launches = evidence.document.launches;
  if (launches.n_predict <= 0) return "no output cap is recorded";
  return launches.stop_rule.empty() ? "no stop rule is recorded" : Reason{};
}

Reason sample_size(const Evidence& evidence) {
  const bool all = every_workload(evidence.document, [](const Arm&, const Workload& workload) {
    return workload.prompts > 0 && workload.launches > 0 && workload.n_eff > 0;
  });
  return all ? Reason{} : "a class has no prompt that every launch finished";
}

struct Rule {
  const char* fact;
  bool needs_drafter;  ///< does not apply where no arm speculates
  Reason (*missing)(const Evidence&);
};

constexpr std::array rules = {
    Rule{"F1", false, recipe},
    Rule{"F2", true, drafter},
    Rule{"F3", false, task_distribution},
    Rule{"F4", true, acceptance},
    Rule{"F5", false, tokens_per_pass},
    Rule{"F6", false, sampling},
    Rule{"F7", false, prefill_and_decode},
    Rule{"F8", false, kv_position},
    Rule{"F9", false, memory},
    Rule{"F10", false, backend},
    Rule{"F11", false, quality},
    Rule{"F12", false, build},
    Rule{"F13", false, ceiling},
    Rule{"F14", false, concurrency},
    Rule{"F15", false, power},
    Rule{"F16", false, output_length},
    Rule{"F17", false, sample_size},
};
static_assert(rules.size() == 17, "DEFINITIONS 11 has seventeen facts");

}  // namespace

std::string verdict_of(const std::vector<MissingFact>& missing) {
  if (missing.empty()) return "benchmark";
  const bool screenshot = std::any_of(missing.begin(), missing.end(), [](const MissingFact& fact) {
    return fact.fact == "F4" || fact.fact == "F5" || fact.fact == "F12";
  });
  return screenshot ? "screenshot" : "incomplete";
}

bool one_build(const trace::Trace& trace) {
  const trace::EngineFacts* first = first_facts(trace, "");
  return std::all_of(
      trace.launches.begin(), trace.launches.end(), [&](const trace::Launch& launch) {
        return !launch.facts ||
               (launch.facts->engine == first->engine && launch.facts->version == first->version &&
                launch.facts->build == first->build);
      });
}

Facts to_facts(const Document& document, const trace::Trace& trace) {
  const Evidence evidence{document, trace};
  Facts facts;
  for (const Rule& rule : rules) {
    if (rule.needs_drafter && !any_speculates(document)) {
      facts.not_applicable.push_back({rule.fact, "no arm speculates"});
    } else if (auto reason = rule.missing(evidence)) {
      PACELINE_ASSERT(!reason->empty());
      facts.missing.push_back({rule.fact, *reason});
    } else {
      facts.known.emplace_back(rule.fact);
    }
  }
  facts.verdict = verdict_of(facts.missing);
  return facts;
}

}  // namespace paceline::document
