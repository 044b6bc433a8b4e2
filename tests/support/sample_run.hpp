#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "document/assemble.hpp"
#include "machine/machine.hpp"
#include "metrics/summary.hpp"
#include "trace/trace.hpp"

// A run written by hand: a plain arm and three speculating ones on four classes, three launches
// each. Its figures are chosen so that every verdict occurs, and they are consistent
// (tok/s = passes/s x tok/pass, speed-up = tok/pass / cost).

namespace paceline::support {

inline metrics::Estimate estimate(double value, double low, double high) {
  return {value, low, high, "95 % over prompts and launches", "t on log rates", 10, ""};
}

inline metrics::Estimate exactly(double value) { return estimate(value, value, value); }

/// Tensors of one class: F32 takes 4 bytes an element, everything else here 2.
inline model::TensorGroup sample_group(const std::string& tensor_class, const std::string& type,
                                       std::uint64_t bytes) {
  return {tensor_class, type, 1, bytes / (type == "f32" ? 4 : 2), bytes, "0"};
}

inline trace::EngineFacts sample_facts(const trace::Arm& arm) {
  trace::EngineFacts facts;
  facts.engine = "llama.cpp (embedded)";
  facts.version = "v0.5.0";
  facts.build = "b1 for Linux x86_64";
  facts.devices = {"CPU (AVX2)"};
  facts.target.path = "/home/somebody/models/heavy.gguf";
  facts.target.architecture = "qwen35";
  facts.target.name = "lab target";
  facts.target.file_bytes = 360'000'000;
  facts.target.parameters = 180'000'000;
  facts.target.recipe = {sample_group("ffn_up", "f16", 359'000'000),
                         sample_group("attn_norm", "f32", 900'000)};
  facts.target.drafter = model::DrafterFacts{};
  facts.target.drafter->kind = "mtp";
  facts.target.drafter->nextn_layers = 1;
  facts.target.drafter->recipe = {sample_group("nextn.eh_proj", "f16", 262'144)};
  facts.target.layers = 38;
  facts.sampling.settings = {{"temp", 0.7, trace::Origin::user},
                             {"top_k", 40, trace::Origin::library},
                             {"top_p", 0.95, trace::Origin::library},
                             {"min_p", 0.05, trace::Origin::library},
                             {"xtc_probability", 0, trace::Origin::library},
                             {"penalty_last_n", 64, trace::Origin::library},
                             {"penalty_repeat", 1, trace::Origin::library},
                             {"dry_multiplier", 0, trace::Origin::library}};
  facts.sampling.chain = {"top-k", "top-p", "min-p", "temp-ext", "dist"};
  facts.n_ctx = 1024;
  facts.n_batch = 2048;
  facts.n_ubatch = 512;
  facts.threads = arm.setup.threads;
  facts.cache_type_k = "f16";
  facts.cache_type_v = "f16";
  facts.rollback = arm.setup.spec_type == trace::SpecType::none ? "none" : "partial";
  facts.memory = {360'000'000, 12'000'000, 3'000'000, 401'000'000};
  facts.load_s = 0.4;
  if (arm.setup.spec_type == trace::SpecType::none) return facts;
  facts.draft_n_max = arm.setup.draft_n_max;
  facts.draft_on_device = false;
  if (arm.setup.spec_type == trace::SpecType::draft_dflash) {
    facts.drafter = model::FileFacts{};
    facts.drafter->path = "/home/somebody/models/dflash-f16.gguf";
    facts.drafter->architecture = "dflash";
    facts.drafter->file_bytes = 2'950'000;
    facts.drafter->recipe = {sample_group("ffn_up", "f16", 2'890'000)};
    facts.draft_block = 8;
  }
  return facts;
}

inline trace::Arm sample_arm(std::string name, trace::SpecType spec_type, int draft_n_max) {
  trace::Arm arm;
  arm.name = std::move(name);
  arm.setup.model_path = "/home/somebody/models/heavy.gguf";
  arm.setup.spec_type = spec_type;
  arm.setup.draft_n_max = draft_n_max;
  arm.setup.n_ctx = 1024;
  arm.setup.threads = 1;
  if (spec_type == trace::SpecType::draft_dflash)
    arm.setup.draft_path = "/home/somebody/models/dflash-f16.gguf";
  arm.sampling.temp = 0.7;
  return arm;
}

/// One request of four tokens: the first from prefill, then a pass each, at depths 100 to 102.
inline trace::Request sample_request(const std::string& workload_class) {
  trace::Request request;
  request.prompt_id = workload_class + "-1";
  request.workload_class = workload_class;
  request.family = request.prompt_id;
  request.stop = trace::StopReason::limit;
  request.prefill = {100, 100, 0, 1'000'000'000, 0};
  request.emissions.push_back({-1, {1}, 0, 0, 1'000'000'000, {}});
  for (int index = 0; index < 3; ++index) {
    trace::Pass pass;
    pass.index = index;
    pass.depth = 100 + index;
    request.passes.push_back(pass);
    request.emissions.push_back({index, {2 + index}, 0, 0, 2'000'000'000, {}});
  }
  request.noise = {0.004, 4.0, 0.02, 2.0};
  return request;
}

inline trace::Trace sample_trace() {
  trace::Trace trace;
  trace.header = {"0123abcd", "2026-01-02T03:04:05Z", "0.1.0", 42,    3,  4,      "lab",
                  {},         trace::PromptForm::raw, false,   false, {}, "bare", {}};
  trace.header.arms = {sample_arm("plain", trace::SpecType::none, 0),
                       sample_arm("dflash-n6", trace::SpecType::draft_dflash, 6),
                       sample_arm("dflash-n7", trace::SpecType::draft_dflash, 7),
                       sample_arm("mtp-n3", trace::SpecType::draft_mtp, 3)};
  for (int round = 0; round < trace.header.rounds; ++round)
    for (const auto& arm : trace.header.arms) {
      trace::Launch launch;
      launch.index = static_cast<int>(trace.launches.size());
      launch.round = round;
      launch.arm = arm.name;
      launch.facts = sample_facts(arm);
      for (const char* name : {"prose", "c", "python", "json"})
        launch.requests.push_back(sample_request(name));
      trace.launches.push_back(std::move(launch));
    }
  return trace;
}

struct SampleFigures {
  const char* workload_class;
  double tokens_per_pass;
  double pass_cost;
  long offered;
  long accepted;
};

/// The plain arm makes 80 passes a second; an interval is 4 % to both sides, of a cost 2 %.
inline metrics::ClassSummary sample_class(const SampleFigures& figures, bool plain) {
  metrics::ClassSummary summary;
  summary.workload_class = figures.workload_class;
  summary.prompts = 10;
  summary.families = 10;
  summary.launches = 3;
  summary.n_eff = 9.6;
  summary.counts.requests = 30;
  summary.counts.output_tokens = 1950;
  summary.counts.decode_tokens = 1920;
  summary.counts.decode_s = 24;
  summary.counts.prefill_tokens = 3000;
  summary.counts.prefill_s = 6;
  const double passes_per_s = 80 / figures.pass_cost;
  const auto around = [](double value, double share) {
    return estimate(value, value * (1 - share), value * (1 + share) * 1.01);
  };
  summary.tokens_per_s = around(passes_per_s * figures.tokens_per_pass, 0.04);
  summary.passes_per_s = around(passes_per_s, 0.02);
  summary.seconds_per_pass = around(1 / passes_per_s, 0.02);
  summary.tokens_per_pass = plain ? exactly(1) : around(figures.tokens_per_pass, 0.03);
  summary.prefill_tokens_per_s = around(500, 0.01);
  summary.ttft_s = around(0.2, 0.01);
  summary.repeated_8gram_share = 0.02;
  summary.as_run_tokens_per_s = 80;
  if (plain) {
    summary.counts.passes = summary.counts.passes_plain = 1920;
    for (auto* one :
         {&summary.speedup, &summary.pass_cost, &summary.pass_cost_from_widths, &summary.fire_rate,
          &summary.attempt_rate, &summary.draft_per_pass, &summary.acceptance})
      *one = metrics::unknown("no drafter");
    return summary;
  }
  summary.counts.passes = summary.counts.passes_speculative = 1920 - figures.accepted;
  summary.counts.attempts = summary.counts.passes;
  summary.counts.generated = figures.offered;
  summary.counts.offered = summary.counts.tested = figures.offered;
  summary.counts.accepted = summary.counts.accepted_in_passes = figures.accepted;
  summary.counts.positions = {{summary.counts.passes, summary.counts.passes, figures.accepted}};
  summary.counts.histogram = {{{6, 0}, 1000}, {{6, 2}, 500}};
  summary.speedup = around(figures.tokens_per_pass / figures.pass_cost, 0.04);
  summary.pass_cost = around(figures.pass_cost, 0.02);
  summary.pass_cost_from_widths = around(figures.pass_cost * 1.01, 0.03);
  summary.fire_rate = around(0.98, 0.005);
  summary.attempt_rate = around(1, 0.005);
  summary.draft_per_pass = around(5.9, 0.01);
  summary.acceptance =
      around(static_cast<double>(figures.accepted) / static_cast<double>(figures.offered), 0.05);
  summary.acceptance_length =
      1 + static_cast<double>(figures.accepted) / summary.counts.passes_speculative.number();
  return summary;
}

inline metrics::ArmSummary sample_arm_summary(std::string name,
                                              const std::vector<SampleFigures>& classes) {
  metrics::ArmSummary arm;
  arm.name = std::move(name);
  arm.launches_done = 3;
  for (const auto& figures : classes)
    arm.classes.push_back(sample_class(figures, arm.name == "plain"));
  arm.pat_decode = estimate(81, 78, 85);
  arm.pat_end_to_end = estimate(70, 68, 73);
  return arm;
}

/// Milliseconds per pass at widths 1, 2, ..: width 8 is a slow step, as F16 kernels of one thread
/// make one.
inline metrics::WidthCurve sample_curve(const std::string& arm) {
  metrics::WidthCurve curve;
  curve.arm = arm;
  double narrower_s = 0;
  for (const double ms : {11.7, 19.8, 20.1, 21.6, 23.1, 25.0, 27.4, 50.2, 52.8}) {
    metrics::WidthCost cost;
    cost.width = static_cast<int>(curve.widths.size()) + 1;
    cost.depth = 128;
    cost.verify_s = estimate(ms / 1000, ms * 0.98 / 1000, ms * 1.02 / 1000);
    cost.step = narrower_s > 0 ? ms / 1000 / narrower_s : 0;
    narrower_s = ms / 1000;
    curve.widths.push_back(cost);
  }
  return curve;
}

inline metrics::Summary sample_summary() {
  metrics::Summary summary;
  summary.arms = {
      sample_arm_summary(
          "plain",
          {{"prose", 1, 1, 0, 0}, {"c", 1, 1, 0, 0}, {"python", 1, 1, 0, 0}, {"json", 1, 1, 0, 0}}),
      sample_arm_summary("dflash-n6", {{"prose", 1.36, 2.5, 8000, 500},
                                       {"c", 1.57, 2.5, 8000, 660},
                                       {"python", 1.37, 2.5, 8000, 430},
                                       {"json", 3.5, 2.5, 3300, 1370}}),
      sample_arm_summary("dflash-n7", {{"prose", 1.38, 4.3, 9000, 540},
                                       {"c", 1.6, 4.3, 9000, 700},
                                       {"python", 1.4, 4.3, 9000, 460},
                                       {"json", 3.8, 4.3, 3500, 1420}}),
      sample_arm_summary("mtp-n3", {{"prose", 1.72, 1.9, 3200, 800},
                                    {"c", 1.9, 1.9, 3100, 870},
                                    {"python", 1.52, 1.9, 3700, 640},
                                    {"json", 2.96, 1.9, 1900, 1270}})};
  summary.curves = {sample_curve("dflash-n7")};
  return summary;
}

inline trace::Mix sample_mix() {
  trace::Mix mix;
  mix.name = "equal shares";
  for (const char* name : {"prose", "c", "python", "json"}) mix.classes[name] = {0.25, 64, {}};
  return mix;
}

inline machine::MachineFacts sample_machine() {
  machine::MachineFacts machine;
  machine.processor = "AMD EPYC";
  machine.cores_online = 2;
  machine.cores_physical = 2;
  machine.l2_bytes = 512 * 1024;
  machine.l3_bytes = 32 * 1024 * 1024;
  machine.memory_bytes = 8ULL << 30;
  machine.kernel = "Linux 6.1.0";
  machine.os = "Debian GNU/Linux 12 (bookworm)";
  machine.virtualised = true;
  machine.load = machine::LoadAverages{0.2, 0.1, 0.05};
  return machine;
}

inline document::Document sample_document() {
  return document::assemble(sample_trace(), sample_summary(), sample_mix(), sample_machine());
}

}  // namespace paceline::support
