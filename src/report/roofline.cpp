#include "report/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "report/format.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Roofline;
using document::RooflineClass;
using document::RooflinePass;
using util::Align;
using util::Cell;
using util::printable;

constexpr std::size_t label_width = 12;
constexpr std::size_t most_notes = 50;

std::string line(const char* label, const std::string& text, const Style& style) {
  return labelled(label, text, label_width, style.width);
}

std::string amount(double count) { return bytes(static_cast<std::uint64_t>(std::llround(count))); }

std::string share(double value) { return fmt::format("{:+.2f} %", 100 * value); }

std::string model_text(const document::Model& model) {
  std::string text = printable(model.file);
  if (!model.name.empty()) text += " \"" + printable(model.name) + "\"";
  text += fmt::format(", {}, {} parameters", printable(model.architecture),
                      short_count(model.parameters));
  if (model.bits_per_weight.value)
    text += fmt::format(" at {} bits", figure(*model.bits_per_weight.value));
  return text;
}

std::string token_text(const document::TokenRead& token) {
  return fmt::format(
      "reads {} parameters: {} at {} bits each, {} at exactly 4 bits; the {} parameters beside "
      "them "
      "are not read for it (all of the file at exactly 4 bits: {})",
      short_count(static_cast<std::uint64_t>(token.parameters)), amount(token.weight_bytes),
      figure(token.bits_per_weight), amount(token.bytes_at_4_bits),
      short_count(static_cast<std::uint64_t>(token.parameters_beside)),
      amount(token.file_bytes_at_4_bits));
}

std::string heading_of(const RooflinePass& pass) {
  if (pass.part == "draft") return fmt::format("draft of {}", pass.width);
  return fmt::format("w={}", pass.width);
}

const RooflineClass* find(const RooflinePass& pass, const std::string& name) {
  const auto found = std::find_if(pass.classes.begin(), pass.classes.end(),
                                  [&](const RooflineClass& one) { return one.name == name; });
  return found == pass.classes.end() ? nullptr : &*found;
}

/// One table of all passes of one part, a column each.
class PartTable {
 public:
  PartTable(std::vector<const RooflinePass*> passes, std::string_view title)
      : passes_(std::move(passes)) {
    table_.add_column(std::string(title), Align::left);
    for (const RooflinePass* pass : passes_) table_.add_column(heading_of(*pass), Align::right);
  }

  std::string render(bool colour) {
    for (const std::string& name : names()) add_class(name, false);
    add_row("all", [](const RooflinePass& pass) { return amount(pass.bytes); });
    add_known("on the device", &RooflinePass::device_bytes, amount);
    add_known("on the CPU", &RooflinePass::cpu_bytes, amount);
    if (is_observed()) add_observed();
    add_known("ceiling, a second", &RooflinePass::ceiling_per_s, figure);
    add_known("experts of a layer", &RooflinePass::experts_per_layer, figure);
    add_known("by uniform routing", &RooflinePass::uniform_experts, figure);
    return table_.render(2, colour);
  }

 private:
  bool is_observed() const {
    return std::any_of(passes_.begin(), passes_.end(),
                       [](const RooflinePass* pass) { return pass->observed.value.has_value(); });
  }

  /// All classes of any of them, in the order in which they come.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const RooflinePass* pass : passes_)
      for (const RooflineClass& one : pass->classes)
        if (std::find(all.begin(), all.end(), one.name) == all.end()) all.push_back(one.name);
    return all;
  }

  template <class Text>
  void add_row(const std::string& label, Text text) {
    std::vector<Cell> cells{{label}};
    for (const RooflinePass* pass : passes_) cells.push_back({text(*pass)});
    table_.add_row(std::move(cells));
  }

  void add_class(const std::string& name, bool observed) {
    add_row(printable(name), [&](const RooflinePass& pass) -> std::string {
      const RooflineClass* one = find(pass, name);
      if (one == nullptr) return "";
      const auto& value = observed ? one->observed : one->bytes;
      if (!value.value) return "";
      return (!observed && one->is_model ? "~" : "") + amount(*value.value);
    });
  }

  void add_observed() {
    add_row("observed", [](const RooflinePass&) { return std::string(); });
    for (const std::string& name : names()) add_class(name, true);
    add_known("all", &RooflinePass::observed, amount);
    add_known("difference", &RooflinePass::difference, share);
  }

  void add_known(const char* label, document::Known<double> RooflinePass::*field,
                 std::string (*text)(double)) {
    const auto has = [&](const RooflinePass* pass) { return (pass->*field).value.has_value(); };
    if (std::none_of(passes_.begin(), passes_.end(), has)) return;
    add_row(label, [&](const RooflinePass& pass) {
      return (pass.*field).value ? text(*(pass.*field).value) : std::string();
    });
  }

  std::vector<const RooflinePass*> passes_;
  util::TextTable table_;
};

std::string part_table(const Roofline& roofline, const char* part, std::string_view title,
                       const Style& style) {
  std::vector<const RooflinePass*> passes;
  for (const RooflinePass& pass : roofline.passes)
    if (pass.part == part) passes.push_back(&pass);
  if (passes.empty()) return "";
  return "\n" + PartTable(std::move(passes), title).render(style.colour);
}

std::string table_text(const document::GatheredTable& table) {
  std::string text = fmt::format(
      "{} rows of {} for {} tokens, {} of them different, from {}; {} pages of 4096 "
      "bytes for a token",
      table.gathers, amount(table.row_bytes), table.tokens, table.different_rows,
      amount(table.table_bytes), figure(table.pages_per_token));
  if (table.same_page_share.value)
    text += fmt::format(", {} % of rows on the page of the row before",
                        figure(100 * *table.same_page_share.value));
  return text;
}

std::string experts_text(const document::ExpertUse& use) {
  double half = 0;
  std::size_t needed = 0;
  while (needed < use.shares.size() && half < 0.5) half += use.shares[needed++];
  const double first = use.shares.empty() ? 0 : use.shares.front();
  return fmt::format(
      "{} picks in {} layers of {} experts; the most picked expert of a layer has "
      "{} % of its picks, {} experts have half of them (uniform: {} %, {})",
      use.picks, use.layers, use.count, figure(100 * first), needed,
      figure(100.0 / std::max(use.count, 1)), (use.count + 1) / 2);
}

std::string union_text(const document::ExpertUnion& one) {
  return fmt::format(
      "width {}: {} experts of a layer in {} passes, {} of {} drafted tokens "
      "accepted; uniform routing {}",
      one.width, figure(one.experts_per_layer), one.passes, one.accepted, one.offered,
      figure(one.uniform_experts));
}

std::string observed_text(const Roofline& roofline, const Style& style) {
  std::string text;
  if (roofline.tables.value)
    for (const auto& table : *roofline.tables.value)
      text += line(text.empty() ? "gathered" : "", printable(table.name) + ": " + table_text(table),
                   style);
  if (roofline.experts.value) text += line("experts", experts_text(*roofline.experts.value), style);
  if (roofline.speculative.value)
    for (const auto& one : *roofline.speculative.value)
      text += line(&one == &roofline.speculative.value->front() ? "drafted" : "", union_text(one),
                   style);
  return text.empty() ? text : "\n" + text;
}

/// "47.0 GB a second, as given", or why not.
std::string bandwidth_text(const document::Known<double>& bandwidth) {
  return bandwidth.value ? fmt::format("{} a second, as given", amount(*bandwidth.value))
                         : printable(bandwidth.reason);
}

/// What -ngl has put there, by the number of the file's blocks.
std::string offload_text(int asked, const Roofline& roofline) {
  const auto& blocks = roofline.model.layers;
  if (asked == 0) return "-ngl 0: nothing; all is on the CPU";
  std::string text = fmt::format("-ngl {}: the output", asked);
  const int last = std::min(asked - 1, blocks.value.value_or(asked - 1));
  if (last > 0)
    text += fmt::format(" and the last {}of {} blocks, with KV cells and states",
                        last > 1 ? fmt::format("{} ", last) : "",
                        blocks.value ? std::to_string(*blocks.value) : "its");
  const auto& part = roofline.model.drafter.value;
  if (last > 0 && part && part->nextn_layers.value) text += " (those for prediction come last)";
  text += "; tables that are read by the row stay on the CPU";
  return roofline.drafter.value ? text + "; where the drafter is was not asked" : text;
}

bool has_model(const Roofline& roofline) {
  for (const RooflinePass& pass : roofline.passes)
    for (const RooflineClass& one : pass.classes)
      if (one.is_model) return true;
  return false;
}

}  // namespace

std::string roofline(const Roofline& roofline, const Style& style) {
  std::string text = line("model", model_text(roofline.model), style);
  if (roofline.drafter.value) text += line("drafter", model_text(*roofline.drafter.value), style);
  text += line("a token", token_text(roofline.token), style);
  text += line("context",
               fmt::format("{} cells, K {}, V {}, at most {} tokens computed at once; first pass "
                           "behind {} tokens",
                           roofline.n_ctx, printable(roofline.cache_type_k),
                           printable(roofline.cache_type_v), roofline.n_ubatch,
                           roofline.passes.empty() ? 0 : roofline.passes.front().depth),
               style);
  text += line("bandwidth", bandwidth_text(roofline.bandwidth), style);
  if (roofline.n_gpu_layers.value) {
    text += line("device", offload_text(*roofline.n_gpu_layers.value, roofline), style);
    text += line("", "bandwidth: " + bandwidth_text(roofline.device_bandwidth), style);
  }
  for (std::size_t i = 0; i < std::min(roofline.notes.size(), most_notes); ++i)
    text += line(i == 0 ? "note" : "", printable(roofline.notes[i]), style);
  text += part_table(roofline, "target", "bytes of a pass", style);
  text += part_table(roofline, "draft", "bytes of a draft", style);
  text += part_table(roofline, "taking_in", "drafter after it", style);
  if (has_model(roofline))
    text +=
        "\n  ~ a model: experts that uniform routing would lead to, where none were observed.\n";
  return text + observed_text(roofline, style);
}

}  // namespace paceline::report
