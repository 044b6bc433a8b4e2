#include "report/terminal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "support/sample_run.hpp"
#include "util/printable.hpp"

namespace paceline::report {
namespace {

using document::Document;
using support::sample_document;

constexpr Style wide = {false, 140};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The line with every run of spaces as one: what a reader sees, whatever the widths.
std::string squeezed(const std::string& line) {
  std::string result;
  for (const char character : line)
    if (character != ' ' || (!result.empty() && result.back() != ' ')) result += character;
  return result;
}

bool has_row(const std::string& text, const std::string& row) {
  const auto lines = lines_of(text);
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return squeezed(line) == row; });
}

TEST(Terminal, TakesTokensPerSecondApartInARowForEachArm) {
  const std::string text = terminal(sample_document(), wide);
  EXPECT_TRUE(has_row(text, "arm tok/s = passes/s x tok/pass speed-up pass cost (alone) repeats"));
  EXPECT_TRUE(has_row(text, "plain 80.0 [76.8-84.0] 80.0 [78.4-82.4] 1.00 2 %")) << text;
  // dflash-n6 on json: 80 / 2.5 x 3.5 = 112; 3.5 / 2.5 = 1.40; -4 % and +5.04 % around both;
  // the widths alone gave a cost of 2.5 x 1.01, -3 % and +4.03 %.
  EXPECT_TRUE(has_row(text,
                      "dflash-n6 112 [108-118] 32.0 [31.4-33.0] 3.50 [3.40-3.64] "
                      "1.40x [1.34-1.47] 2.50 [2.45-2.58] 2.52 [2.45-2.63] 2 %"))
      << text;
}

TEST(Terminal, PutsFireRateAndDraftLengthBesideEveryAcceptance) {
  const std::string text = terminal(sample_document(), wide);
  EXPECT_TRUE(has_row(text, "class arm accepted tokens fire rate draft/pass acc. length"));
  EXPECT_TRUE(has_row(text,
                      "json dflash-n6 41.5 % [39.4-44.0] 1370 of 3300 98.0 % [97.5-99.5] "
                      "5.90 [5.84-6.02] 3.49"))
      << text;
}

TEST(Terminal, GivesAcceptanceAtEachOfTheFirstEightPositions) {
  auto document = sample_document();
  for (auto& arm : document.arms)
    for (auto& workload : arm.workloads) workload.acceptance.positions.clear();
  EXPECT_FALSE(contains(terminal(document, wide), "Accepted at each position"));
  document::Position taken;
  taken.of_offered = document::known(0.756);
  document::Position unreached;
  unreached.of_offered.reason = "none was offered here";
  auto& json = *std::find_if(document.arms[1].workloads.begin(), document.arms[1].workloads.end(),
                             [](const auto& one) { return one.workload_class == "json"; });
  json.acceptance.positions = {taken, unreached};
  const std::string short_drafts = terminal(document, wide);
  EXPECT_TRUE(has_row(short_drafts, "class arm 1 2"));
  EXPECT_TRUE(contains(short_drafts, "76 %"));
  EXPECT_TRUE(contains(short_drafts, "none was offered here"));
  json.acceptance.positions.resize(12, unreached);
  EXPECT_TRUE(has_row(terminal(document, wide), "class arm 1 2 3 4 5 6 7 8"));
}

TEST(Terminal, GivesEachOfSeveralDraftersARowAndNamesThePlaceWhereTokensArePicked) {
  auto document = sample_document();
  EXPECT_FALSE(contains(terminal(document, wide), "Drafters of an arm"));
  auto& acceptance = document.arms[1].workloads[0].acceptance;
  const auto count = [](long value) { return document::known(value); };
  acceptance.by_drafter = {
      {"ngram-simple", count(4), count(12), count(28), count(24), count(16), count(14)},
      {"draft-mtp", count(6), count(8), count(18), count(17), count(12), count(9)}};
  auto& drafter = document.drafter.value->by_arm[0];
  drafter.on_device = document::known(true);
  drafter.candidates = document::known(10);
  const std::string text = terminal(document, wide);
  EXPECT_TRUE(has_row(text, "arm class drafter asked drafted accepted"));
  EXPECT_TRUE(has_row(text, "dflash-n6 prose ngram-simple 12 4 14 of 24")) << text;
  EXPECT_TRUE(has_row(text, "draft-mtp 8 6 9 of 17")) << text;
  EXPECT_TRUE(contains(text, "picked on the device (10 candidates)")) << text;
}

TEST(Terminal, GivesTheWidthsOfPassesTheMostFrequentFirst) {
  auto document = sample_document();
  for (auto& arm : document.arms)
    for (auto& workload : arm.workloads)
      workload.widths = document::not_known<document::WidthHistogram>("not counted");
  EXPECT_FALSE(contains(terminal(document, wide), "Widths of passes"));
  document.arms[1].workloads[0].widths =
      document::known(document::WidthHistogram{{{1, 10}, {4, 2}, {7, 28}}});
  const std::string text = terminal(document, wide);
  EXPECT_TRUE(has_row(text, "dflash-n6 prose 7: 28, 1: 10, 4: 2")) << text;
}

TEST(Terminal, SaysWhatWasMeasuredWithWhat) {
  const std::string text = terminal(sample_document(), wide);
  EXPECT_TRUE(contains(text, "heavy.gguf \"lab target\" (qwen35, 360 MB: f16 359 MB, f32 900 kB)"));
  EXPECT_TRUE(contains(text, "dflash-n7: draft-dflash, up to 7 tokens, block of 8"));
  EXPECT_TRUE(contains(text, "llama.cpp (embedded) v0.5.0, b1 for Linux x86_64"));
  EXPECT_TRUE(contains(text, "AMD EPYC, 2 cores online, L2 512 KiB, L3 32 MiB, memory 8 GiB"));
  EXPECT_TRUE(contains(text,
                       "asked: temp 0.7; unasked, by the library's default: top_k 40, top_p 0.95, "
                       "min_p 0.05\n"));
  EXPECT_TRUE(contains(text, "12 of 12 launches done; one request at a time"));
}

TEST(Terminal, SaysWhatAnImageTookWhereAProjectorWasLoaded) {
  auto document = sample_document();
  EXPECT_FALSE(contains(terminal(document, wide), "mmproj.gguf"));
  document::Projector projector;
  projector.file.file = "mmproj.gguf";
  projector.file.architecture = "clip";
  projector.allocated_bytes = 900'000'000;
  projector.image_width = projector.image_height = 448;
  projector.image_tokens = 256;
  projector.prompt_tokens = 263;
  projector.encode_s = {0.2, 0.3, 0.5};
  projector.prefill_s = {1, 1, 1};
  projector.launches = 3;
  document.projector = document::known(projector);
  const std::string text = terminal(document, wide);
  EXPECT_TRUE(contains(text, "vision   mmproj.gguf")) << text;
  EXPECT_TRUE(contains(text,
                       "900 MB in memory; one image of 448 x 448 pixels a launch takes 256 "
                       "tokens: encoded in 0.30 s (0.20 to"));
  EXPECT_TRUE(contains(text, "prompt of 263 tokens read in 1.00 s"));
}

TEST(Terminal, GivesTheMemoryThatEnginesHeldWhereItWasRead) {
  auto document = sample_document();
  EXPECT_FALSE(contains(terminal(document, wide), "after the run"));
  const auto reading = [](const char* when, std::uint64_t pss) {
    return document::MemoryReading{when,
                                   document::known(pss),
                                   document::not_known<std::uint64_t>("no"),
                                   {{"GPU-1", 7'000'000'000}}};
  };
  document.memory.by_arm[0].readings = {reading("after_load", 401'000'000),
                                        reading("after_run", 512'000'000)};
  document.memory.by_arm[1].readings = {reading("after_load", 620'000'000)};
  document.memory.by_arm[2].readings = {reading("after_load", 1)};
  document.memory.by_arm[2].readings[0].pss_bytes =
      document::not_known<std::uint64_t>("it was not ours");
  const std::string text = terminal(document, wide);
  EXPECT_TRUE(contains(text,
                       "plain 512 MB after the run (401 MB after loading), context 12 MB, 7 GB on "
                       "GPU-1"))
      << text;
  EXPECT_TRUE(contains(text, "; dflash-n6 620 MB after loading, context 12 MB"));
  EXPECT_TRUE(contains(text, "unknown, it was not ours"));
}

TEST(Terminal, TellsKvTypesByArmWhereTheyDiffer) {
  auto document = sample_document();
  EXPECT_TRUE(contains(terminal(document, wide), ", KV f16/f16"));
  EXPECT_FALSE(contains(terminal(document, wide), "KV types"));
  document.arms[1].settings.cache_type_k = document::known(std::string("q8_0"));
  document.arms[3].settings.draft_cache_type_k = document::known(std::string("q4_0"));
  document.arms[3].settings.draft_cache_type_v = document::known(std::string("f16"));
  const std::string text = terminal(document, wide);
  EXPECT_FALSE(contains(text, ", KV f16/f16")) << "not all arms are";
  EXPECT_TRUE(contains(text, "KV types"));
  EXPECT_TRUE(contains(text,
                       "plain f16/f16; dflash-n6 q8_0/f16; dflash-n7 f16/f16; mtp-n3 "
                       "f16/f16, its drafter q4_0/f16"))
      << text;
}

TEST(Terminal, TellsPeakContextAndTheMemoryOfDevices) {
  auto document = sample_document();
  auto& memory = document.memory.by_arm[0];
  memory.readings = {{"after_load",
                      document::known(std::uint64_t{401'000'000}),
                      document::not_known<std::uint64_t>("no"),
                      {}}};
  memory.readings[0].peak_bytes = document::known(std::uint64_t{512'000'000});
  const auto no = document::not_known<std::uint64_t>("no");
  memory.devices = {{"CPU", 1, 1, 1, no, no, document::not_known<std::int64_t>("no")},
                    {"CUDA0", 7'000'000'000, 900'000'000, 80'000'000, no, no,
                     document::known(std::int64_t{-3'000'000})}};
  EXPECT_TRUE(contains(terminal(document, wide),
                       "plain 401 MB after loading, peak 512 MB, context 12 MB, CUDA0: model 7 GB, "
                       "context 900 MB, compute 80 MB, unaccounted -3 MB"))
      << terminal(document, wide);
}

TEST(Terminal, TellsSettingsOfTheFileAndTheToolFromTheLibrarys) {
  auto document = sample_document();
  auto& sampling = document.sampling;
  sampling.requested = {{}, "top_k;temperature"};
  sampling.effective.value->settings = {{"temp", 0.7, "tool"}, {"top_k", 20, "gguf"}};
  sampling.effective.value->chain_origin = "gguf";
  sampling.effective.value->unread = {"min_p is no number"};
  sampling.not_requested = {{"top_k", 20, "gguf"}};
  const std::string text = terminal(document, wide);
  EXPECT_TRUE(
      contains(text, "asked: samplers top_k;temperature; by this tool: temp 0.7; unasked,"));
  EXPECT_TRUE(contains(text, "by the model's file: top_k 20; the order of samplers"));
  EXPECT_FALSE(contains(text, "by the library's default"));
  sampling.requested.samplers.reset();
  EXPECT_TRUE(contains(terminal(document, wide), "nothing asked for; by this tool: temp 0.7"));
  EXPECT_TRUE(contains(text, "min_p is no number\n"));
}

TEST(Terminal, NamesAnNgramDrafterByItsSizesAndAWarmSessionAsSuch) {
  auto document = sample_document();
  auto& drafter = document.drafter.value->by_arm.back();
  drafter.spec_type = "ngram-mod";
  drafter.n_max = document::known(64);
  drafter.ngram = document::known(document::NgramSizes{24, 64, std::nullopt, 48});
  EXPECT_FALSE(contains(terminal(document, wide), "warm_session"));
  document.launches.protocol = "warm_session";
  const std::string text = terminal(document, wide);
  EXPECT_TRUE(contains(text, "ngram-mod, up to 64 tokens, looks up 24, at least 48"));
  EXPECT_TRUE(contains(text, "(warm_session)"));
}

TEST(Terminal, GivesTheMixThePrefillAndTheFacts) {
  const std::string text = terminal(sample_document(), wide);
  EXPECT_TRUE(contains(text,
                       "Mix \"equal shares\" of c 25 %, json 25 %, prose 25 % and python 25 %, 64 "
                       "tokens a request"));
  EXPECT_TRUE(has_row(text, "mtp-n3 81.0 [78.0-85.0] 70.0 [68.0-73.0]"));
  EXPECT_TRUE(has_row(text, "plain 500 / 200 ms 500 / 200 ms 500 / 200 ms 500 / 200 ms"));
  EXPECT_TRUE(has_row(text, "known F1 F2 F3 F4 F5 F6 F7 F8 F10 F12 F14 F16 F17"));
  EXPECT_TRUE(has_row(text, "verdict incomplete"));
}

TEST(Terminal, MarksTheSlowStepOfTheWidths) {
  const std::string text = terminal(sample_document(), wide);
  EXPECT_TRUE(has_row(text, "7 27.4 ±0.5 x1.10")) << text;
  EXPECT_TRUE(has_row(text, "8 50.2 ±1.0 x1.83 slow")) << text;
  EXPECT_TRUE(has_row(text, "9 52.8 ±1.1 x1.05")) << text;
}

TEST(Terminal, ShowsTheReasonWhereThereIsNoFigure) {
  auto summary = support::sample_summary();
  auto& of_class = summary.arms[1].classes[0];
  of_class.speedup = metrics::unknown("only 37 draft tokens offered, under 100: no comparison");
  of_class.pass_cost = of_class.speedup;
  const std::string text = terminal(
      document::assemble(support::sample_trace(), summary, support::sample_mix(), {}), wide);
  EXPECT_TRUE(has_row(text,
                      "dflash-n6 43.5 [41.8-45.7] 32.0 [31.4-33.0] 1.36 [1.32-1.41] - (1) "
                      "- (1) 2.52 [2.45-2.63] 2 %"))
      << text;
  EXPECT_TRUE(contains(text, "\n(1) only 37 draft tokens offered, under 100: no comparison\n"));
}

TEST(Terminal, ShowsAValueWithoutAnIntervalAndWhy) {
  auto summary = support::sample_summary();
  summary.arms[0].classes[0].tokens_per_s = {
      77, std::nullopt, std::nullopt, "", "", 3, "too few: 3 independent prompts"};
  const std::string text = terminal(
      document::assemble(support::sample_trace(), summary, support::sample_mix(), {}), wide);
  EXPECT_TRUE(has_row(text, "plain 77.0 (1) 80.0 [78.4-82.4] 1.00 2 %")) << text;
  EXPECT_TRUE(contains(text, "\n(1) too few: 3 independent prompts\n"));
}

TEST(Terminal, FitsItsTablesIntoTheWidthAndKeepsEveryRow) {
  for (const int width : {80, 100, 120}) {
    const std::string text = terminal(sample_document(), {false, width});
    for (const auto& line : lines_of(text))
      EXPECT_LE(util::columns(line), static_cast<std::size_t>(width)) << line;
    EXPECT_TRUE(contains(text, "1.40x [1.34-1.47]")) << "the speed-up keeps its interval";
  }
}

TEST(Terminal, DoesNotLoseAllIntervalsToOneLongName) {
  Document document = sample_document();
  document.arms[0].name = std::string(60, 'n');
  const std::string text = terminal(document, {false, 80});
  EXPECT_TRUE(contains(text, std::string(60, 'n') + "  80.0"));
}

TEST(Terminal, ColoursGainsGreenAndLossesRedAndOnlyWhenAsked) {
  const std::string coloured = terminal(sample_document(), {true, 140});
  EXPECT_TRUE(contains(coloured, "\x1b[32m1.40x [1.34-1.47]\x1b[0m"));
  EXPECT_TRUE(contains(coloured, "\x1b[31m0.54x [0.52-0.57]\x1b[0m"));
  EXPECT_TRUE(contains(coloured, "  1.00x [0.96-1.05]  ")) << "cannot tell: no colour";
  EXPECT_FALSE(contains(terminal(sample_document(), wide), "\x1b"));
}

TEST(Terminal, NeverObeysWhatAModelAPathOrALogSays) {
  auto trace = support::sample_trace();
  const std::string hostile = "\x1b[2J\r\n\x07\xff";
  trace.header.workload += hostile;
  trace.header.trace_id += hostile;
  trace.header.arms[1].name += hostile;
  trace.launches[0].facts->target.name += hostile;
  trace.launches[0].facts->target.recipe[0].type = hostile;
  trace.launches[0].facts->devices[0] += hostile;
  trace.launches[0].requests[0].prompt_id += hostile;
  trace.launches[0].requests[0].noise.steal_s = 1;
  trace.launches[1].outcome = {
      trace::OutcomeKind::crashed, hostile, 11, std::nullopt, {hostile, "| " + hostile}};
  trace.launches[3].requests[0].outcome.kind = trace::OutcomeKind::refused;
  trace.launches[3].requests[0].prompt_id += hostile;
  trace.launches[4].facts->version += hostile;
  auto summary = support::sample_summary();
  summary.arms[1].name += hostile;
  summary.arms[2].classes[0].workload_class += hostile;
  summary.arms[2].classes[0].speedup = metrics::unknown(hostile);
  summary.arms[2].classes[1].lossless = {1, 0, hostile};
  summary.curves[0].arm += hostile;
  summary.contradictions = {hostile};
  auto machine = support::sample_machine();
  machine.processor = hostile;
  machine.hypervisor = hostile;
  Document document = document::assemble(trace, summary, support::sample_mix(), machine);
  document.said = hostile;
  for (const char character : terminal(document, wide))
    EXPECT_TRUE(character == '\n' || static_cast<unsigned char>(character) >= 0x20);
}

TEST(Terminal, ShowsFailuresWithTheEnginesLastLines) {
  auto trace = support::sample_trace();
  trace.launches[1].outcome = {
      trace::OutcomeKind::crashed, "the engine process died", 11, std::nullopt, {"ggml: assert"}};
  const std::string text = terminal(
      document::assemble(trace, support::sample_summary(), support::sample_mix(), {}), wide);
  EXPECT_TRUE(contains(text,
                       "  dflash-n6, round 1, launch: crashed, the engine process died, signal 11\n"
                       "    | ggml: assert\n"));
}

TEST(Terminal, CountsTheFailuresThatItDoesNotShow) {
  auto trace = support::sample_trace();
  for (auto& launch : trace.launches)
    launch.requests[0].outcome.kind = trace::OutcomeKind::timed_out;
  const std::string text = terminal(
      document::assemble(trace, support::sample_summary(), support::sample_mix(), {}), wide);
  EXPECT_TRUE(contains(text, "  and 2 more, all in the JSON document\n"));
}

TEST(Terminal, GivesEachWarningItsNextStep) {
  auto trace = support::sample_trace();
  trace.interrupted = true;
  const std::string text = terminal(
      document::assemble(trace, support::sample_summary(), support::sample_mix(), {}), wide);
  EXPECT_TRUE(contains(text,
                       "  interrupted: the run was cut short: 12 of 12 launches were made. Next: "
                       "repeat it whole before quoting a figure.\n"));
}

TEST(Terminal, ShowsPhasesAndLosslessnessWhereTheyWereMeasured) {
  auto summary = support::sample_summary();
  summary.arms[1].classes[0].phases = metrics::PhaseSummary{
      0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.036, 0.035, 9};
  summary.arms[1].classes[0].lossless = metrics::Lossless{10, 10, "equal"};
  const std::string text = terminal(
      document::assemble(support::sample_trace(), summary, support::sample_mix(), {}), wide);
  EXPECT_TRUE(has_row(text,
                      "class arm draft checkpoint verify process sample accept rollback "
                      "other synced unsynced"));
  EXPECT_TRUE(has_row(text, "prose dflash-n6 1.00 2.00 3.00 4.00 5.00 6.00 7.00 8.00 36.0 35.0"));
  EXPECT_TRUE(has_row(text, "class arm verdict equal near ties wrong unknown"));
  EXPECT_TRUE(has_row(text, "prose dflash-n6 equal 10 of 10 0 0 0"));
  EXPECT_FALSE(contains(terminal(sample_document(), wide), "Phases"));
}

TEST(Terminal, ShowsNoZeroForAnOverlapThatIsNotKnown) {
  auto summary = support::sample_summary();
  auto& known = summary.arms[1].classes[0].phases.emplace();
  known.synced_total_s = 0.036;
  known.unsynced_total_s = 0.035;
  known.overlap_s = 0.001;
  auto& unknown = summary.arms[1].classes[1].phases.emplace();
  unknown.synced_total_s = 0.036;
  unknown.unsynced_total_s = 0.035;
  const std::string text = terminal(
      document::assemble(support::sample_trace(), summary, support::sample_mix(), {}), wide);
  EXPECT_TRUE(has_row(text, "class arm synced overlap unsynced")) << text;
  EXPECT_TRUE(has_row(text, "prose dflash-n6 36.0 1.00 35.0")) << text;
  EXPECT_TRUE(has_row(text, "c dflash-n6 36.0 - 35.0")) << text;
}

TEST(Terminal, TellsWhereATextIsWrongAndWarnsOfIt) {
  auto summary = support::sample_summary();
  auto& item = summary.arms[1].classes[0];
  item.lossless = metrics::Lossless{
      10, 8, "wrong: first at token 7 of prompt p", metrics::Verdict::wrong, 1, 0, 1, {}};
  item.speedup = metrics::unknown("its greedy text on prose is wrong");
  const std::string text = terminal(
      document::assemble(support::sample_trace(), summary, support::sample_mix(), {}), wide);
  EXPECT_TRUE(has_row(text, "prose dflash-n6 wrong 8 of 10 1 1 0"));
  EXPECT_TRUE(has_row(text, "prose on dflash-n6 wrong: first at token 7 of prompt p"));
  EXPECT_TRUE(contains(text, "wrong_text: greedy texts differ from plain's"));
  EXPECT_TRUE(contains(text, "its greedy text on prose is wrong"));
}

TEST(Terminal, ShowsARunThatNeverOpenedWithoutATable) {
  auto trace = support::sample_trace();
  trace.launches.clear();
  const std::string text = terminal(document::assemble(trace, {}, {}, {}), wide);
  EXPECT_TRUE(contains(text, "no launch opened, see outcomes"));
  EXPECT_TRUE(has_row(text, "verdict screenshot"));
  EXPECT_FALSE(contains(text, "tok/pass  "));
}

}  // namespace
}  // namespace paceline::report
