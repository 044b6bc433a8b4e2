#include "report/demo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "report/format.hpp"
#include "report/width_step.hpp"

namespace paceline::report {

namespace {

using document::Arm;
using document::Document;
using document::Quantity;
using document::Workload;

enum class Verdict { pays, loses, cannot_tell, unknown };

Verdict verdict_of(const Quantity& speedup) {
  if (!speedup.value) return Verdict::unknown;
  if (speedup.low && *speedup.low > 1) return Verdict::pays;
  if (speedup.high && *speedup.high < 1) return Verdict::loses;
  return Verdict::cannot_tell;
}

/// "json (1.70x) and c (1.02x)": the classes of that verdict.
std::string classes_with(const Arm& arm, Verdict verdict) {
  std::vector<std::string> names;
  for (const Workload& workload : arm.workloads)
    if (const Quantity& speedup = workload.decode.speedup; verdict_of(speedup) == verdict)
      names.push_back(speedup.value
                          ? fmt::format("{} ({}x)", workload.workload_class, figure(*speedup.value))
                          : fmt::format("{} ({})", workload.workload_class, speedup.reason));
  return listed(names);
}

std::string arm_sentence(const Arm& arm) {
  constexpr std::pair<Verdict, const char*> says[] = {{Verdict::pays, "pays on "},
                                                      {Verdict::loses, "loses on "},
                                                      {Verdict::cannot_tell, "cannot tell on "},
                                                      {Verdict::unknown, "has no speed-up on "}};
  std::string text;
  for (const auto& [verdict, verb] : says)
    if (const auto classes = classes_with(arm, verdict); !classes.empty())
      text += (text.empty() ? "" : "; ") + std::string(verb) + classes;
  return text.empty() ? "" : fmt::format(" {}: {}.", arm.name, text);
}

struct Example {
  const Arm* arm = nullptr;
  const Workload* workload = nullptr;
};

double speedup_of(const Example& example) { return *example.workload->decode.speedup.value; }

/// Workloads whose speed-up, tokens per pass and pass cost are all known, slowest first.
std::vector<Example> compared(const Document& document) {
  std::vector<Example> examples;
  for (const Arm& arm : document.arms)
    for (const Workload& workload : arm.workloads) {
      const auto& decode = workload.decode;
      if (speculates(arm) && decode.speedup.value && decode.tokens_per_pass.value &&
          decode.pass_cost.value)
        examples.push_back({&arm, &workload});
    }
  std::stable_sort(examples.begin(), examples.end(), [](const Example& a, const Example& b) {
    return speedup_of(a) < speedup_of(b);
  });
  return examples;
}

std::string because(const Example& example) {
  const auto& decode = example.workload->decode;
  return fmt::format("on {} a pass of {} makes {} tokens for the time of {} plain passes",
                     example.workload->workload_class, example.arm->name,
                     figure(*decode.tokens_per_pass.value), figure(*decode.pass_cost.value));
}

std::string why_sentence(const Document& document) {
  const auto examples = compared(document);
  if (examples.empty()) return "";
  const Example& best = examples.back();
  const Example& worst = examples.front();
  std::string text = " A draft pays where a pass makes more tokens than it costs plain passes: ";
  text += because(best);
  if (examples.size() > 1) text += ", " + because(worst);
  return text + ".";
}

/// Where the same drafter clearly makes more of one class's passes than of another's.
std::string text_sentence(const Document& document) {
  const auto examples = compared(document);
  if (examples.empty()) return "";
  const Arm& arm = *examples.back().arm;
  const auto fewer_tokens = [](const Workload& a, const Workload& b) {
    return a.decode.tokens_per_pass.value < b.decode.tokens_per_pass.value;
  };
  const auto [least, most] =
      std::minmax_element(arm.workloads.begin(), arm.workloads.end(), fewer_tokens);
  const Quantity& few = least->decode.tokens_per_pass;
  const Quantity& many = most->decode.tokens_per_pass;
  if (!few.high || !many.low || *few.high >= *many.low || least->looping.value.value_or(false) ||
      most->looping.value.value_or(false))
    return "";
  return fmt::format(" The text decides: {} makes {} tokens a pass on {} and {} on {}.", arm.name,
                     figure(*many.value), most->workload_class, figure(*few.value),
                     least->workload_class);
}

/// The index of the width of the arm's longest pass (its longest draft and one more token).
std::optional<std::size_t> longest_pass(const Arm& arm, const document::WidthCurve& curve) {
  if (!arm.settings.draft_n_max.value) return std::nullopt;
  for (std::size_t index = 0; index < curve.widths.size(); ++index)
    if (curve.widths[index].width == *arm.settings.draft_n_max.value + 1) return index;
  return std::nullopt;
}

std::string step_sentence_of(const Arm& arm, const document::WidthCurve& curve, std::size_t index) {
  const auto& wide = curve.widths[index];
  const auto& narrow = curve.widths[index - 1];
  std::string text = fmt::format(
      " The longest drafts of {} ({} tokens) meet a slow step: a pass of {} tokens takes {} ms, "
      "one "
      "of {} takes {} ms",
      arm.name, wide.width - 1, wide.width, figure(1000 * *wide.verify_s.value), narrow.width,
      figure(1000 * *narrow.verify_s.value));
  // A pass of one token has no draft: then there is no shorter longest draft to name.
  if (narrow.width > 1)
    text += fmt::format(", so {} is the better longest draft to try", narrow.width - 1);
  return text + ".";
}

std::set<int> slow_widths(const Document& document) {
  std::set<int> slow;
  for (const auto& curve : document.width_curves)
    for (std::size_t index = 0; index < curve.widths.size(); ++index)
      if (is_slow_step(curve, index)) slow.insert(curve.widths[index].width);
  return slow;
}

std::string steps_sentence(const Document& document) {
  if (document.width_curves.empty())
    return " Passes were not timed by width, so whether a draft length meets a slow step of the "
           "kernels cannot be told.";
  std::string text;
  for (const Arm& arm : document.arms) {
    const auto* curve = curve_of(document, arm.name);
    if (curve == nullptr || !speculates(arm)) continue;
    const auto index = longest_pass(arm, *curve);
    if (index && is_slow_step(*curve, *index)) text += step_sentence_of(arm, *curve, *index);
  }
  if (!text.empty()) return text;
  const auto slow = slow_widths(document);
  if (slow.empty())
    return " No draft length meets a slow step of the kernels: no pass takes longer than its width "
           "accounts for.";
  std::vector<std::string> widths;
  widths.reserve(slow.size());
  for (const int width : slow) widths.push_back(std::to_string(width));
  return fmt::format(
      " Passes of {} tokens are a slow step of the kernels; no arm's longest draft was seen to end "
      "on one.",
      listed(widths));
}

/// Two arms that draft alike but for the length, one on a slow step and one below it, are held
/// against each other class by class.
std::string against_shorter(const Arm& slow, const Arm& shorter) {
  std::vector<std::string> faster;
  std::vector<std::string> slower;
  std::vector<std::string> unclear;
  for (const Workload& workload : slow.workloads)
    for (const Workload& other : shorter.workloads) {
      if (other.workload_class != workload.workload_class) continue;
      const auto& a = other.decode.tokens_per_s;
      const auto& b = workload.decode.tokens_per_s;
      if (!a.value || !b.value) continue;
      const bool clear = a.low && a.high && b.low && b.high;
      if (clear && *a.low > *b.high)
        faster.push_back(workload.workload_class);
      else if (clear && *a.high < *b.low)
        slower.push_back(workload.workload_class);
      else
        unclear.push_back(workload.workload_class);
    }
  std::vector<std::string> parts;
  if (!faster.empty()) parts.push_back("faster on " + listed(faster));
  if (!slower.empty()) parts.push_back("slower on " + listed(slower));
  if (!unclear.empty()) parts.push_back("cannot tell on " + listed(unclear));
  if (parts.empty()) return "";
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : "; ") + part;
  return fmt::format(" {}, which drafts one token less than {}: {}.", shorter.name, slow.name,
                     text);
}

std::string shorter_sentences(const Document& document) {
  std::string text;
  for (const Arm& slow : document.arms) {
    const auto* curve = curve_of(document, slow.name);
    if (curve == nullptr || !speculates(slow)) continue;
    const auto index = longest_pass(slow, *curve);
    if (!index || !is_slow_step(*curve, *index)) continue;
    for (const Arm& shorter : document.arms)
      if (shorter.settings.spec_type == slow.settings.spec_type &&
          shorter.settings.draft_path == slow.settings.draft_path &&
          shorter.settings.draft_n_max.value == *slow.settings.draft_n_max.value - 1)
        text += against_shorter(slow, shorter);
  }
  return text;
}

std::string looping_sentence(const Document& document) {
  std::set<std::string> looping;
  for (const Arm& arm : document.arms)
    for (const Workload& workload : arm.workloads)
      if (workload.looping.value.value_or(false)) looping.insert(workload.workload_class);
  if (looping.empty()) return "";
  return fmt::format(" The output of {} repeats itself, so classes are not to be compared here.",
                     listed({looping.begin(), looping.end()}));
}

std::string launches_sentence(const Document& document) {
  const bool few = std::any_of(document.arms.begin(), document.arms.end(),
                               [](const Arm& arm) { return arm.launches_done < 3; });
  return few ? " With fewer than 3 launches of an arm this holds for these launches only." : "";
}

std::string speculation_sentences(const Document& document) {
  std::string text;
  for (const Arm& arm : document.arms)
    if (speculates(arm)) text += arm_sentence(arm);
  return text;
}

}  // namespace

std::string demo_paragraph(const Document& document) {
  if (!any_speculates(document))
    return "No arm speculates: every pass makes one token, and tokens per second are passes per "
           "second." +
           looping_sentence(document) + launches_sentence(document);
  const auto speculation = speculation_sentences(document);
  if (speculation.empty()) return "Nothing was measured that could tell whether speculation pays.";
  return "Speculation on this machine, against the same model without a drafter (each by its own "
         "interval; no A/A arm was run)." +
         speculation + why_sentence(document) + text_sentence(document) + steps_sentence(document) +
         shorter_sentences(document) + looping_sentence(document) + launches_sentence(document);
}

}  // namespace paceline::report
