#include "support/golden.hpp"

#include <algorithm>
#include <stdexcept>

#include "support/worker_process.hpp"
#include "trace/names.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

namespace paceline::support {

namespace {

/// F16 arithmetic moves a logit by less; at nearer ties the engine may take the other token.
constexpr double sure_gap = 0.05;

GoldenDraft draft_from(const util::Json& json) {
  return {json.at("draft").get<std::vector<int>>(), json.at("top2_gap").get<std::vector<double>>()};
}

GoldenText text_from(const util::Json& json) {
  GoldenText text;
  text.id = json.at("id").get<std::string>();
  text.prompt = json.at("prompt_ids").get<std::vector<int>>();
  text.output = json.at("greedy_ids").get<std::vector<int>>();
  text.passes = json.at("passes").get<int>();
  text.offered = json.at("offered").get<int>();
  text.accepted = json.at("accepted").get<int>();
  text.least_gap = json.at("min_top2_gap").get<double>();
  for (const auto& draft : json.at("drafts"))
    text.drafts[draft.at("position").get<int>()] = draft_from(draft);
  return text;
}

void compare(const GoldenDraft& expected, const std::vector<int>& drafted,
             GoldenComparison& result) {
  ++result.drafts;
  for (std::size_t i = 0; i < drafted.size(); ++i) {
    const bool sure = expected.gaps[i] > sure_gap;
    const bool same = drafted[i] == expected.tokens.at(i);
    if (sure) ++result.compared;
    if (sure && !same) ++result.different;
    // What follows was drafted behind another token.
    if (!same) return;
  }
}

}  // namespace

Golden read_golden(const std::string& name) {
  const std::string file = name + "-golden.json";
  const auto json = util::parse_json(util::read_file(lab_model(file)).value(), file).value();
  const auto type = util::enum_from_name<trace::SpecType>(json.at("spec_type").get<std::string>());
  if (!type) throw std::runtime_error(file + " is of no known type");
  Golden golden{lab_setup(*type, json.at("n_max").get<int>()), {}};
  golden.setup.model_path = lab_model(json.at("target").get<std::string>());
  if (!json.at("drafter").is_null())
    golden.setup.draft_path = lab_model(json.at("drafter").get<std::string>());
  for (const auto& text : json.at("texts")) golden.texts.push_back(text_from(text));
  return golden;
}

std::vector<JobReport> run_golden(const Golden& golden, const trace::Setup& setup) {
  WorkerProcess worker;
  const auto opened = worker.open(setup);
  if (!opened.facts) throw std::runtime_error(opened.outcome.reason);
  std::vector<JobReport> reports;
  for (const GoldenText& text : golden.texts)
    reports.push_back(worker.run(greedy(text.prompt, static_cast<int>(text.output.size()))));
  return reports;
}

GoldenComparison compare_drafts(const Golden& golden, const trace::Setup& setup) {
  const std::vector<JobReport> reports = run_golden(golden, setup);
  GoldenComparison result;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const GoldenText& text = golden.texts[i];
    const std::vector<int> output = reports[i].tokens();
    for (const trace::Pass& pass : reports[i].passes) {
      if (pass.kind != trace::PassKind::speculative) continue;
      const auto expected = text.drafts.find(pass.depth);
      const auto emitted = pass.depth - static_cast<std::ptrdiff_t>(text.prompt.size());
      // Behind another text other drafts are right.
      if (expected != text.drafts.end() &&
          std::equal(output.begin(), output.begin() + emitted + 1, text.output.begin()))
        compare(expected->second, pass.draft, result);
    }
  }
  return result;
}

}  // namespace paceline::support
