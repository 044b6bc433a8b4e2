#include "document/json.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"
#include "util/json.hpp"

namespace paceline::document {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// What an independent validator finds wrong with the text by docs/report.schema.json; empty when
/// nothing. It needs Debian's python3-jsonschema.
std::string schema_errors(const std::string& text) {
  const std::string source = PACELINE_SOURCE_DIR;
  const support::TemporaryFolder folder;
  const auto document = folder.path() / "document.json";
  const auto said = folder.path() / "said.txt";
  std::ofstream(document) << text;
  const std::string command = "python3 '" + source + "/tests/support/validate_json.py' '" + source +
                              "/docs/report.schema.json' '" + document.string() + "' > '" +
                              said.string() + "' 2>&1";
  const int status = std::system(command.c_str());
  const std::string errors = contents(said);
  if (status != 0 && errors.empty()) return "the validator did not run";
  return status == 0 ? "" : errors;
}

util::Json parsed(const Document& document) {
  auto json = util::parse_json(to_json_text(document), "the document");
  EXPECT_TRUE(json) << json.error().message;
  return json.value_or(util::Json{});
}

TEST(ReportSchema, HoldsForACompleteRun) {
  Document document = support::sample_document();
  document.said = "It pays on json.";
  EXPECT_EQ(schema_errors(to_json_text(document)), "");
}

TEST(ReportSchema, HoldsForTextsThatWereHeldAgainstPlains) {
  auto trace = support::sample_trace();
  for (auto& arm : trace.header.arms) arm.sampling.temp = 0;
  auto summary = support::sample_summary();
  const std::string digest(64, '0');
  metrics::Lossless lossless{3, 1, "wrong: first at token 7", metrics::Verdict::wrong, 1, 0, 1, {}};
  lossless.each = {{"p", metrics::Verdict::equal, digest, digest, 0, 0, {}, {}},
                   {"q", metrics::Verdict::near_tie, digest, digest, 7, 8, 0.5, 0.75},
                   {"r", metrics::Verdict::wrong, digest, "", 1, 0, {}, {}}};
  summary.arms[1].classes[0].lossless = lossless;
  const Document document =
      assemble(trace, summary, support::sample_mix(), support::sample_machine());
  EXPECT_EQ(schema_errors(to_json_text(document)), "");
}

TEST(ReportSchema, HoldsForComparisonsThatTellAndThatDoNot) {
  auto trace = support::sample_trace();
  trace.header.comparison =
      trace::Comparison{"A", "B", "A again", "", "-ctk q8_0", 0.02, 0.03, {3}};
  metrics::Comparison told;
  told.a = "A";
  told.b = "B";
  told.margin = 0.02;
  told.launches = 3;
  told.ratios.tokens_per_s = support::estimate(1.1, 1.05, 1.15);
  told.ratios.passes_per_s = told.ratios.tokens_per_pass = metrics::unknown("no passes");
  told.again.tokens_per_s = support::estimate(1, 0.99, 1.01);
  told.again.passes_per_s = told.again.tokens_per_pass = metrics::unknown("no passes");
  told.again_spread = 0.01;
  told.finding = metrics::Finding::faster;
  told.launches_reason = "it is told";
  told.power = 0.9;
  told.limit = 0.03;
  told.limit_verdict = metrics::LimitVerdict::kept;
  told.launch_figures = {{"A", 0, 20, 10, 2}, {"B", 0, 22, {}, {}}};
  metrics::Comparison untold;
  untold.a = "A";
  untold.b = "B";
  untold.margin = 0.02;
  untold.workload_class = "json";
  untold.finding = metrics::Finding::too_few;
  untold.because = untold.launches_reason = "too few: 2 launches";
  for (auto* ratios : {&untold.ratios, &untold.again})
    ratios->tokens_per_s = ratios->passes_per_s = ratios->tokens_per_pass =
        metrics::unknown("too few");
  auto summary = support::sample_summary();
  summary.comparisons = {told, untold};
  const Document document =
      assemble(trace, summary, support::sample_mix(), support::sample_machine());
  EXPECT_EQ(schema_errors(to_json_text(document)), "");
  const util::Json json = parsed(document).at("comparisons");
  EXPECT_EQ(json.at(0).at("class"), nullptr);
  EXPECT_EQ(json.at(0).at("verdict"), "faster");
  EXPECT_EQ(json.at(0).at("limit").at("verdict"), "kept");
  EXPECT_EQ(json.at(1).at("class"), "json");
  EXPECT_EQ(json.at(1).at("launches_needed").at("reason"), "too few: 2 launches");
}

TEST(ReportSchema, HoldsForARunWithFailures) {
  auto trace = support::sample_trace();
  trace.interrupted = true;
  trace.launches[1].outcome = {trace::OutcomeKind::crashed,
                               "the engine process died",
                               11,
                               std::nullopt,
                               {"loading", "Segmentation fault"}};
  trace.launches[1].facts.reset();
  trace.launches[2].requests[0].outcome = {
      trace::OutcomeKind::timed_out, "no sign of life", std::nullopt, std::nullopt, {}};
  auto summary = support::sample_summary();
  summary.contradictions = {"accepted is 3 in the tokens and 2 in the passes"};
  const Document document =
      assemble(trace, summary, support::sample_mix(), support::sample_machine());
  EXPECT_EQ(schema_errors(to_json_text(document)), "");
}

TEST(ReportSchema, HoldsWhereNothingIsKnown) {
  auto trace = support::sample_trace();
  for (auto& launch : trace.launches) {
    launch.facts.reset();
    launch.requests.clear();
    launch.outcome = {trace::OutcomeKind::refused, "no such file", std::nullopt, 1, {}};
  }
  metrics::Summary summary;
  for (const auto& arm : trace.header.arms) {
    metrics::ArmSummary lost;
    lost.name = arm.name;
    lost.launches_lost = 3;
    lost.classes.emplace_back().workload_class = "prose";
    summary.arms.push_back(lost);
  }
  const Document document = assemble(trace, summary, {}, {});
  EXPECT_EQ(schema_errors(to_json_text(document)), "");
}

TEST(ReportSchema, HoldsForOneLaunchOfAPlainArm) {
  auto trace = support::sample_trace();
  trace.header.rounds = 1;
  trace.header.arms.resize(1);
  trace.launches.resize(1);
  auto summary = support::sample_summary();
  summary.arms.resize(1);
  summary.curves.clear();
  auto& rate = summary.arms[0].classes[0].tokens_per_s;
  rate = {80, std::nullopt, std::nullopt, "", "", 1, "too few: 1 prompt"};
  const Document document =
      assemble(trace, summary, support::sample_mix(), support::sample_machine());
  EXPECT_EQ(schema_errors(to_json_text(document)), "");
}

TEST(ReportSchema, HoldsWithoutAPlainArm) {
  auto trace = support::sample_trace();
  trace.header.arms.erase(trace.header.arms.begin());
  auto summary = support::sample_summary();
  summary.arms.erase(summary.arms.begin());
  for (auto& arm : summary.arms)
    for (auto& of_class : arm.classes) of_class.speedup = metrics::unknown("no plain arm");
  const Document document =
      assemble(trace, summary, support::sample_mix(), support::sample_machine());
  EXPECT_EQ(schema_errors(to_json_text(document)), "");
}

TEST(ReportSchema, HoldsWhereAModelAndALogHeldBytesThatAreNoText) {
  auto trace = support::sample_trace();
  trace.launches[0].facts->target.name = "\xff\xfe\x1b[31m";
  trace.launches[3].outcome = {
      trace::OutcomeKind::crashed, "\xc3", 6, std::nullopt, {"\x80\n\x01"}};
  const Document document =
      assemble(trace, support::sample_summary(), support::sample_mix(), support::sample_machine());
  EXPECT_EQ(schema_errors(to_json_text(document)), "");
}

TEST(ReportSchema, RefusesAKeyThatItDoesNotName) {
  util::Json json = parsed(support::sample_document());
  json["arms"][0]["workloads"][0]["decode"]["tok_s"] = 1;
  EXPECT_NE(schema_errors(json.dump()).find("tok_s"), std::string::npos);
}

TEST(ReportSchema, RefusesAFigureWithoutValueAndReason) {
  util::Json json = parsed(support::sample_document());
  json["arms"][0]["workloads"][0]["decode"]["tokens_per_s"] = {{"value", nullptr}};
  EXPECT_NE(schema_errors(json.dump()).find("tokens_per_s"), std::string::npos);
}

TEST(ReportSchema, RefusesANullThatHasNoReason) {
  util::Json json = parsed(support::sample_document());
  json["machine"]["governor"] = nullptr;
  EXPECT_NE(schema_errors(json.dump()).find("governor"), std::string::npos);
}

TEST(DocumentJson, HasTheFixedKeysInTheirOrder) {
  const util::Json json = parsed(support::sample_document());
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{
                "schema",         "tool",        "created",  "trace_id",  "machine",
                "engine",         "target",      "drafter",  "projector", "servers",
                "sampling",       "concurrency", "launches", "arms",      "comparisons",
                "default_prices", "mix",         "memory",   "fills",     "sweep",
                "llc_bytes",      "quality",     "noise",    "loads",     "crossover_concurrency",
                "width_curves",   "outcomes",    "facts",    "warnings",  "said"}));
}

TEST(DocumentJson, GivesAFigureWithItsInterval) {
  const util::Json json = parsed(support::sample_document());
  // dflash-n6 on json: 80 / 2.5 passes per second, 3.5 tokens per pass, 4 % below.
  const auto& rate = json["arms"][1]["workloads"][3]["decode"]["tokens_per_s"];
  EXPECT_NEAR(rate["value"].get<double>(), 112, 1e-9);
  EXPECT_NEAR(rate["low"].get<double>(), 112 * 0.96, 1e-9);
  EXPECT_EQ(rate["level"], "95 % over prompts and launches");
  EXPECT_EQ(rate["n"], 10);
  EXPECT_FALSE(rate.contains("reason"));
}

TEST(DocumentJson, GivesAnUnknownFigureAsNullWithItsReasonAndNothingElse) {
  const util::Json json = parsed(support::sample_document());
  const auto& speedup = json["arms"][0]["workloads"][0]["decode"]["speedup"];
  EXPECT_EQ(speedup, (util::Json{{"value", nullptr}, {"reason", "no drafter"}}));
}

TEST(DocumentJson, TurnsAValueThatIsNoNumberIntoAnUnknownOne) {
  auto summary = support::sample_summary();
  summary.arms[0].classes[0].tokens_per_s.value = std::numeric_limits<double>::infinity();
  const util::Json json = parsed(
      assemble(support::sample_trace(), summary, support::sample_mix(), support::sample_machine()));
  const auto& rate = json["arms"][0]["workloads"][0]["decode"]["tokens_per_s"];
  EXPECT_TRUE(rate["value"].is_null());
  EXPECT_FALSE(rate["reason"].get<std::string>().empty());
}

TEST(DocumentJson, KeepsAValueWithoutAnIntervalAndSaysWhy) {
  auto summary = support::sample_summary();
  summary.arms[0].classes[0].tokens_per_s = {80, std::nullopt,        std::nullopt, "", "",
                                             3,  "too few: 3 prompts"};
  const util::Json json = parsed(
      assemble(support::sample_trace(), summary, support::sample_mix(), support::sample_machine()));
  const auto& rate = json["arms"][0]["workloads"][0]["decode"]["tokens_per_s"];
  EXPECT_EQ(rate["value"], 80);
  EXPECT_TRUE(rate["low"].is_null());
  EXPECT_TRUE(rate["high"].is_null());
  EXPECT_EQ(rate["reason"], "too few: 3 prompts");
}

TEST(DocumentJson, NamesWhatThisVersionCannotKnowAndNeverGivesZero) {
  const util::Json json = parsed(support::sample_document());
  EXPECT_TRUE(json["comparisons"].is_array());
  EXPECT_TRUE(json["comparisons"].empty());
  for (const char* key : {"llc_bytes", "quality"}) {
    EXPECT_TRUE(json[key]["value"].is_null()) << key;
    EXPECT_FALSE(json[key]["reason"].get<std::string>().empty()) << key;
  }
  EXPECT_TRUE(json["memory"]["after_fill"]["value"].is_null());
}

}  // namespace
}  // namespace paceline::document
