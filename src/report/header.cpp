#include "report/header.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "report/format.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Document;

constexpr std::size_t label_width = 11;

std::string line(const char* label, const std::string& text, const Style& style) {
  return labelled(label, text, label_width, style.width);
}

void add_if(std::vector<std::string>& parts, std::string part) {
  if (!part.empty()) parts.push_back(std::move(part));
}

std::string comma_separated(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string model_text(const document::Model& model) {
  std::map<std::string, std::uint64_t> by_type;
  for (const auto& row : model.recipe) by_type[row.type] += row.bytes.value.value_or(0);
  std::vector<std::string> types;
  for (const auto& [type, size] : by_type)
    types.push_back(util::printable(type) + " " + (size > 0 ? bytes(size) : "of unknown size"));
  std::string text = util::printable(model.file);
  if (!model.name.empty()) text += " \"" + util::printable(model.name) + "\"";
  text += fmt::format(" ({}, {}", util::printable(model.architecture), bytes(model.file_bytes));
  if (!types.empty()) text += ": " + comma_separated(types);
  return text +
         (model.synthetic.value ? "), SYNTHETIC: its text and acceptance mean nothing" : ")");
}

/// As ", looks up 12, min hits 1"; nothing for a type without sizes.
std::string ngram_text(const document::NgramSizes& sizes) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<int>& value) {
    if (value) text += fmt::format(", {} {}", name, *value);
  };
  add("looks up", sizes.size_n);
  add("at least", sizes.n_min);
  add("min hits", sizes.min_hits);
  return text;
}

/// As ", acceptance FORCED (length 3, geometric)".
std::string forced_text(const document::Forced& forced) {
  const std::string length = forced.length ? fmt::format("length {:g}, ", *forced.length) : "";
  return fmt::format(", acceptance FORCED ({}{})", length, util::printable(forced.schedule));
}

/// Types of a drafter inside the target's file, as in "in the target's file (f16, f32)".
std::string part_text(const document::DraftPart& part) {
  std::set<std::string> types;
  for (const auto& row : part.recipe) types.insert(util::printable(row.type));
  return "in the target's file (" + comma_separated({types.begin(), types.end()}) + ")";
}

/// As ", picked on the device of 10 candidates"; nothing where it was not seen.
std::string picked_text(const document::Drafter& drafter) {
  if (!drafter.on_device.value || drafter.ngram.value) return "";
  if (!*drafter.on_device.value) return ", picked on the host";
  return drafter.candidates.value
             ? fmt::format(", picked on the device ({} candidates)", *drafter.candidates.value)
             : ", picked on the device";
}

/// As ", 33 of 33 layers on CUDA0, graph splits 2"; nothing where no device takes layers.
std::string placement_text(const document::Placement& placement) {
  if (!placement.layers_offloaded.value || !placement.layers.value) return "";
  std::vector<std::string> names;
  for (const auto& device : placement.devices) names.push_back(util::printable(device));
  std::string text = fmt::format(", {} of {} layers on {}", *placement.layers_offloaded.value,
                                 *placement.layers.value, comma_separated(names));
  if (placement.graph_splits.value)
    text += ", graph splits " + util::printable(*placement.graph_splits.value);
  return text;
}

std::string drafter_text(const document::Drafter& drafter) {
  std::string text = util::printable(drafter.arm) + ": " + util::printable(drafter.spec_type);
  if (drafter.n_max.value) text += fmt::format(", up to {} tokens", *drafter.n_max.value);
  if (drafter.block.value) text += fmt::format(", block of {}", *drafter.block.value);
  if (drafter.ngram.value) text += ngram_text(*drafter.ngram.value);
  if (drafter.forced.value) text += forced_text(*drafter.forced.value);
  text += picked_text(drafter);
  if (drafter.placement.value) text += placement_text(*drafter.placement.value);
  text += ", ";
  text += drafter.file.value   ? model_text(*drafter.file.value)
          : drafter.part.value ? part_text(*drafter.part.value)
                               : util::printable(drafter.file.reason);
  return drafter.rollback.value ? text + ", rollback " + util::printable(*drafter.rollback.value)
                                : text;
}

std::string drafter_lines(const Document& document, const Style& style) {
  if (!document.drafter.value) return line("drafter", document.drafter.reason, style);
  std::string text;
  for (const auto& drafter : document.drafter.value->by_arm)
    if (drafter.spec_type != "undeclared")  // then the server's line says what is known
      text += line(text.empty() ? "drafter" : "", drafter_text(drafter), style);
  return text;
}

std::string type_pair(const document::Known<std::string>& k,
                      const document::Known<std::string>& v) {
  if (!k.value || !v.value) return "";
  return util::printable(*k.value) + "/" + util::printable(*v.value);
}

/// "q8_0/f16", with the drafter's where they are others; empty where nobody says.
std::string kv_of_arm(const document::Settings& settings) {
  const std::string own = type_pair(settings.cache_type_k, settings.cache_type_v);
  const std::string drafter = type_pair(settings.draft_cache_type_k, settings.draft_cache_type_v);
  return drafter.empty() || drafter == own ? own : own + ", its drafter " + drafter;
}

/// Types of KV caches by arm; empty where all are of the same, which the engine's line tells.
std::string kv_text(const Document& document) {
  std::set<std::string> types;
  std::string text;
  for (const auto& arm : document.arms) {
    const std::string of_arm = kv_of_arm(arm.settings);
    if (of_arm.empty()) continue;
    types.insert(of_arm);
    text += (text.empty() ? "" : "; ") + util::printable(arm.name) + " " + of_arm;
  }
  return types.size() > 1 ? text : "";
}

std::string engine_text(const document::Engine& engine, bool one_kv) {
  std::vector<std::string> parts = {util::printable(engine.name)};
  if (engine.version.value) parts.back() += " " + util::printable(*engine.version.value);
  if (engine.build.value) add_if(parts, util::printable(*engine.build.value));
  for (const auto& device : engine.devices) add_if(parts, util::printable(device));
  if (const auto kv = type_pair(engine.cache_type_k, engine.cache_type_v); one_kv && !kv.empty())
    parts.push_back("KV " + kv);
  if (engine.flash_attention.value)
    parts.emplace_back(*engine.flash_attention.value ? "flash attention on"
                                                     : "flash attention off");
  if (engine.n_batch.value && engine.n_ubatch.value)
    parts.push_back(fmt::format("batch {}/{}", *engine.n_batch.value, *engine.n_ubatch.value));
  const std::string text = comma_separated(parts);
  return engine.placement.value ? text + placement_text(*engine.placement.value) : text;
}

/// "mtp: llama-server b1-de3ff81 at http://.., started here, 1 slot of 4096 tokens, drafts by ..".
std::string server_text(const document::Server& server) {
  std::vector<std::string> parts = {util::printable(server.arm) + ": " + server.dialect};
  if (server.build.value) parts.back() += " " + util::printable(*server.build.value);
  parts.back() += " at " + util::printable(server.url);
  parts.emplace_back(server.managed ? "started here" : "running already (" + server.chosen + ")");
  if (server.model.value && !server.managed)
    parts.push_back("model " + util::printable(*server.model.value));
  if (server.slots.value && server.n_ctx_slot.value)
    parts.push_back(fmt::format("{} {} of {} tokens", *server.slots.value,
                                *server.slots.value == 1 ? "slot" : "slots",
                                *server.n_ctx_slot.value));
  std::vector<std::string> types;
  for (const auto& type : server.spec_types) types.push_back(util::printable(type));
  if (!server.speculates.value)
    parts.emplace_back("whether it speculates is not known");
  else if (!*server.speculates.value)
    parts.emplace_back("does not speculate");
  else
    parts.push_back(types.empty() ? "speculates" : "speculates by " + comma_separated(types));
  return comma_separated(parts);
}

std::string server_lines(const Document& document, const Style& style) {
  std::string text;
  for (const auto& server : document.servers)
    text += line(text.empty() ? "server" : "", server_text(server), style);
  return text;
}

std::string virtual_text(const document::Machine& machine) {
  if (!machine.virtualised.value) return "";
  if (!*machine.virtualised.value) return "no hypervisor";
  return machine.hypervisor.value ? "virtual (" + util::printable(*machine.hypervisor.value) + ")"
                                  : std::string("virtual");
}

std::string machine_text(const document::Machine& machine) {
  std::vector<std::string> parts;
  if (machine.processor.value) add_if(parts, util::printable(*machine.processor.value));
  if (machine.cores_online.value)
    parts.push_back(fmt::format("{} cores online", *machine.cores_online.value));
  if (machine.l2_bytes.value) parts.push_back("L2 " + binary_bytes(*machine.l2_bytes.value));
  if (machine.l3_bytes.value) parts.push_back("L3 " + binary_bytes(*machine.l3_bytes.value));
  if (machine.memory_bytes.value)
    parts.push_back("memory " + binary_bytes(*machine.memory_bytes.value));
  if (machine.os.value) add_if(parts, util::printable(*machine.os.value));
  if (machine.kernel.value) add_if(parts, util::printable(*machine.kernel.value));
  add_if(parts, virtual_text(machine));
  if (machine.governor.value) add_if(parts, "governor " + util::printable(*machine.governor.value));
  if (machine.load.value)
    parts.push_back("load " + figure(machine.load.value->one_minute) + " at the start");
  return parts.empty() ? util::printable(machine.processor.reason) : comma_separated(parts);
}

std::string noise_text(const document::Noise& noise) {
  std::vector<std::string> parts;
  if (noise.steal_share.value)
    parts.push_back(figure(100 * *noise.steal_share.value) + " % of CPU time stolen");
  if (noise.pressure_share.value)
    parts.push_back(figure(100 * *noise.pressure_share.value) +
                    " % of the time some task waited for a CPU");
  if (noise.worst_request.value && noise.worst_request.value->steal_share > 0)
    parts.push_back(fmt::format("worst request {} % stolen ({}, {})",
                                figure(100 * noise.worst_request.value->steal_share),
                                util::printable(noise.worst_request.value->arm),
                                util::printable(noise.worst_request.value->prompt)));
  return parts.empty() ? util::printable(noise.steal_share.reason) : comma_separated(parts);
}

const document::MemoryReading* reading_at(const document::ArmMemory& memory, const char* when) {
  for (const auto& reading : memory.readings)
    if (reading.when == when) return &reading;
  return nullptr;
}

/// ", CUDA0: model 7 GB, context 1 GB, compute 90 MB, unaccounted 200 MB", of devices with a memory
/// of their own.
std::string allocated_text(const document::ArmMemory& memory) {
  std::string text;
  for (const auto& device : memory.devices) {
    if (!device.unaccounted_bytes.value) continue;
    const std::int64_t rest = *device.unaccounted_bytes.value;
    text += fmt::format(", {}: model {}, context {}, compute {}, unaccounted {}{}",
                        util::printable(device.device), bytes(device.model_bytes),
                        bytes(device.context_bytes), bytes(device.compute_bytes),
                        rest < 0 ? "-" : "", bytes(static_cast<std::uint64_t>(std::abs(rest))));
  }
  return text;
}

/// "92 MB after the run (59 MB after loading), peak 99 MB, context 12 MB, 7 GB on GPU-1"; empty
/// where nothing was read.
std::string memory_of_arm(const document::ArmMemory& memory) {
  const auto* loaded = reading_at(memory, "after_load");
  const auto* last = reading_at(memory, "after_run");
  const bool ran = last != nullptr;
  if (!ran) last = loaded;
  if (last == nullptr) return "";
  if (!last->pss_bytes.value) return "unknown, " + util::printable(last->pss_bytes.reason);
  std::string text = bytes(*last->pss_bytes.value) + (ran ? " after the run" : " after loading");
  if (ran && loaded != nullptr && loaded->pss_bytes.value)
    text += fmt::format(" ({} after loading)", bytes(*loaded->pss_bytes.value));
  if (last->peak_bytes.value) text += ", peak " + bytes(*last->peak_bytes.value);
  if (memory.context_bytes.value) text += ", context " + bytes(*memory.context_bytes.value);
  for (const auto& device : last->devices)
    text += fmt::format(", {} on {}", bytes(device.bytes), util::printable(device.device));
  return text + allocated_text(memory);
}

/// The engines' share of memory by arm; empty where nothing was read.
std::string memory_text(const document::Memory& memory) {
  std::string text;
  for (const auto& arm : memory.by_arm)
    if (const std::string of_arm = memory_of_arm(arm); !of_arm.empty())
      text += (text.empty() ? "" : "; ") + util::printable(arm.arm) + " " + of_arm;
  return text;
}

/// "0.31 s", or of several launches "0.31 s (0.28 to 0.35)".
std::string spread_text(const document::Spread& spread, int launches) {
  const std::string text = figure(spread.median) + " s";
  return launches < 2
             ? text
             : fmt::format("{} ({} to {})", text, figure(spread.least), figure(spread.most));
}

std::string projector_text(const document::Projector& projector) {
  return fmt::format(
      "{}, {} in memory; one image of {} x {} pixels a launch takes {} tokens: encoded in {}, its "
      "prompt of {} tokens read in {}",
      model_text(projector.file), bytes(projector.allocated_bytes), projector.image_width,
      projector.image_height, projector.image_tokens,
      spread_text(projector.encode_s, projector.launches), projector.prompt_tokens,
      spread_text(projector.prefill_s, projector.launches));
}

std::string threads_text(const Document& document) {
  std::set<std::string> each;
  for (const auto& arm : document.arms)
    if (arm.settings.threads.value && arm.settings.n_ctx.value)
      each.insert(fmt::format("{} with {} tokens of context", *arm.settings.threads.value,
                              *arm.settings.n_ctx.value));
  return comma_separated({each.begin(), each.end()});
}

/// "; WHO: temp 0.7, top_k 40" of the settings that one origin decided; nothing when it did none.
std::string by_origin(const std::vector<document::SamplingSetting>& settings,
                      std::string_view origin, std::string_view who) {
  std::vector<std::string> parts;
  for (const auto& setting : settings)
    if (setting.origin == origin)
      parts.push_back(fmt::format("{} {:g}", util::printable(setting.parameter), setting.value));
  return parts.empty() ? "" : fmt::format("; {}: {}", who, comma_separated(parts));
}

std::string asked_text(const document::RequestedSampling& requested) {
  std::vector<std::string> asked;
  for (const auto& setting : requested.settings)
    asked.push_back(fmt::format("{} {:g}", setting.parameter, setting.value));
  if (requested.samplers) asked.push_back("samplers " + util::printable(*requested.samplers));
  return asked.empty() ? "nothing asked for" : "asked: " + comma_separated(asked);
}

std::string sampling_text(const document::Sampling& sampling) {
  std::string text = asked_text(sampling.requested);
  if (!sampling.effective.value) return text + "; in force: unknown, " + sampling.effective.reason;
  const auto& effective = *sampling.effective.value;
  text += by_origin(effective.settings, "tool", "by this tool");
  text += by_origin(sampling.not_requested, "gguf", "unasked, by the model's file");
  text += by_origin(sampling.not_requested, "library", "unasked, by the library's default");
  text += by_origin(sampling.not_requested, "server", "unasked, by the server");
  const bool only_ours = std::all_of(sampling.not_requested.begin(), sampling.not_requested.end(),
                                     [](const auto& setting) { return setting.origin == "tool"; });
  if (only_ours) text += "; nothing else filters or reshapes";
  if (effective.chain_origin == "gguf") text += "; the order of samplers is the model file's";
  for (const auto& unread : effective.unread) text += "; " + util::printable(unread);
  return text;
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const auto& note : notes) text += "; " + util::printable(note);
  return text;
}

std::string_view state_text(std::string_view protocol) {
  if (protocol == "warm_session")
    return ", drafters keep what they learned from earlier requests (warm_session)";
  if (protocol == "server")
    return ", a server's drafter may keep what it learned from earlier ones";
  return "";
}

std::string_view text_text(bool force_text) {
  return force_text ? ", text FORCED (every arm follows what plain wrote first)" : "";
}

std::string protocol_text(const Document& document) {
  const auto& launches = document.launches;
  return fmt::format(
      "{} ({} form){}, output capped at {} tokens, {}{}; {} {} of {} {}, {} of {} launches "
      "done{}; {} at a time{}; seed {}",
      util::printable(launches.workload), launches.prompt_form, notes_text(launches.workload_notes),
      launches.n_predict, launches.stop_rule, text_text(launches.force_text), launches.rounds,
      launches.rounds == 1 ? "round" : "rounds", document.arms.size(),
      document.arms.size() == 1 ? "arm" : "arms", launches.done, launches.planned,
      launches.interrupted ? " (interrupted)" : "",
      document.loads.empty() ? "one request" : "one request, and then many,",
      state_text(launches.protocol), launches.seed);
}

}  // namespace

std::string header_text(const Document& document, const Style& style) {
  std::string text = util::emphasised(
      fmt::format("{} {}", document.tool.name, util::printable(document.tool.version)),
      util::Emphasis::heading, style.colour);
  text += fmt::format("  {}  trace {}\n", util::printable(document.created),
                      util::printable(document.trace_id));
  const auto& target = document.target;
  text += line("target", target.value ? model_text(*target.value) : util::printable(target.reason),
               style);
  text += drafter_lines(document, style);
  if (const auto& projector = document.projector.value)
    text += line("vision", projector_text(*projector), style);
  text += server_lines(document, style);
  const auto& engine = document.engine;
  const std::string kv = kv_text(document);
  text +=
      line("engine", engine.value ? engine_text(*engine.value, kv.empty()) : engine.reason, style);
  if (!kv.empty()) text += line("KV types", kv, style);
  text += line("machine", machine_text(document.machine), style);
  text += line("noise", noise_text(document.noise), style);
  if (const std::string threads = threads_text(document); !threads.empty())
    text += line("threads", threads, style);
  if (const std::string memory = memory_text(document.memory); !memory.empty())
    text += line("memory", memory, style);
  text += line("sampling", sampling_text(document.sampling), style);
  text += line("run", protocol_text(document), style);
  return text;
}

}  // namespace paceline::report
