#include "report/header.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <set>
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
  return wrapped(fmt::format("  {:<9}{}", label, text), label_width, style.width);
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
  return text + ")";
}

/// Types of a drafter inside the target's file, as in "in the target's file (f16, f32)".
std::string part_text(const document::DraftPart& part) {
  std::set<std::string> types;
  for (const auto& row : part.recipe) types.insert(util::printable(row.type));
  return "in the target's file (" + comma_separated({types.begin(), types.end()}) + ")";
}

std::string drafter_text(const document::Drafter& drafter) {
  std::string text = util::printable(drafter.arm) + ": " + util::printable(drafter.spec_type);
  if (drafter.n_max.value) text += fmt::format(", up to {} tokens", *drafter.n_max.value);
  if (drafter.block.value) text += fmt::format(", block of {}", *drafter.block.value);
  text += ", ";
  text += drafter.file.value   ? model_text(*drafter.file.value)
          : drafter.part.value ? part_text(*drafter.part.value)
                               : util::printable(drafter.file.reason);
  return text + ", rollback " + util::printable(drafter.rollback);
}

std::string drafter_lines(const Document& document, const Style& style) {
  if (!document.drafter.value) return line("drafter", document.drafter.reason, style);
  std::string text;
  for (const auto& drafter : document.drafter.value->by_arm)
    text += line(text.empty() ? "drafter" : "", drafter_text(drafter), style);
  return text;
}

std::string engine_text(const document::Engine& engine) {
  std::vector<std::string> parts = {util::printable(engine.name) + " " +
                                    util::printable(engine.version)};
  add_if(parts, util::printable(engine.build));
  for (const auto& device : engine.devices) add_if(parts, util::printable(device));
  parts.push_back(fmt::format("KV {}/{}", util::printable(engine.cache_type_k),
                              util::printable(engine.cache_type_v)));
  parts.emplace_back(engine.flash_attention ? "flash attention on" : "flash attention off");
  parts.push_back(fmt::format("batch {}/{}", engine.n_batch, engine.n_ubatch));
  return comma_separated(parts);
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
  return parts.empty() ? "nothing about it could be read" : comma_separated(parts);
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

std::string threads_text(const Document& document) {
  std::set<std::string> each;
  for (const auto& arm : document.arms)
    each.insert(
        fmt::format("{} with {} tokens of context", arm.settings.threads, arm.settings.n_ctx));
  return comma_separated({each.begin(), each.end()});
}

template <class T>
void add_asked(std::vector<std::string>& parts, const char* name, const std::optional<T>& value) {
  if (value) parts.push_back(fmt::format("{} {:g}", name, static_cast<double>(*value)));
}

std::string sampling_text(const document::Sampling& sampling) {
  std::vector<std::string> asked;
  add_asked(asked, "temp", sampling.requested.temp);
  add_asked(asked, "top_k", sampling.requested.top_k);
  add_asked(asked, "top_p", sampling.requested.top_p);
  add_asked(asked, "min_p", sampling.requested.min_p);
  std::string text = asked.empty() ? "nothing asked for" : "asked: " + comma_separated(asked);
  if (!sampling.effective.value) return text + "; in force: unknown, " + sampling.effective.reason;
  std::vector<std::string> others;
  for (const auto& parameter : sampling.not_requested)
    others.push_back(fmt::format("{} {:g}", parameter.parameter, parameter.value));
  if (others.empty()) return text + "; nothing else filters or reshapes";
  return text + "; in force though nobody asked: " + comma_separated(others);
}

std::string protocol_text(const Document& document) {
  const auto& launches = document.launches;
  return fmt::format(
      "{}, output capped at {} tokens; {} rounds of {} arms, {} of {} launches done{}; {} at a "
      "time; seed {}",
      util::printable(launches.workload), launches.n_predict, launches.rounds, document.arms.size(),
      launches.done, launches.planned, launches.interrupted ? " (interrupted)" : "",
      document.concurrency.sequences == 1
          ? std::string("one request")
          : fmt::format("{} requests", document.concurrency.sequences),
      launches.seed);
}

}  // namespace

std::string header_text(const Document& document, const Style& style) {
  std::string text = util::emphasised(
      fmt::format("{} {}", document.tool.name, util::printable(document.tool.version)),
      util::Emphasis::heading, style.colour);
  text += fmt::format("  {}  trace {}\n", util::printable(document.created),
                      util::printable(document.trace_id));
  const auto& target = document.target;
  text += line("target", target.value ? model_text(*target.value) : target.reason, style);
  text += drafter_lines(document, style);
  const auto& engine = document.engine;
  text += line("engine", engine.value ? engine_text(*engine.value) : engine.reason, style);
  text += line("machine", machine_text(document.machine), style);
  text += line("noise", noise_text(document.noise), style);
  text += line("threads", threads_text(document), style);
  text += line("sampling", sampling_text(document.sampling), style);
  text += line("run", protocol_text(document), style);
  return text;
}

}  // namespace paceline::report
