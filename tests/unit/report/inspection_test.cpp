#include "report/inspection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/machine.hpp"
#include "support/sample_run.hpp"
#include "support/sample_survey.hpp"

namespace paceline::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Style wide{false, 300};

model::FileFacts sample_file() {
  model::FileFacts facts;
  facts.path = "/somewhere/else/m.gguf";
  facts.gguf_version = 3;
  facts.architecture = "llama";
  facts.name = "A model";
  facts.file_bytes = 1000;
  facts.parameters = 1536;
  facts.recipe = {{"ffn_down", "q4_K", 4, 1024, 576, "0-2, 4"},
                  {"ffn_down", "q6_K", 1, 256, 210, "3"},
                  {"output", "type 99 (unknown)", 1, 256, std::nullopt, ""}};
  facts.imatrix = model::Imatrix{"i.dat", std::nullopt, 224, std::nullopt};
  return facts;
}

std::string shown(const model::FileFacts& facts) {
  document::Inspection inspection;
  inspection.model = document::to_model(facts);
  return report::inspection(inspection, wide);
}

TEST(Inspection, ShowsTheRecipeWithBitsPerWeightAndItsExceptions) {
  const std::string text = shown(sample_file());
  EXPECT_THAT(text, HasSubstr("m.gguf  \"A model\""));
  EXPECT_THAT(text, Not(HasSubstr("/somewhere")));
  EXPECT_THAT(text, HasSubstr("ffn_down is q6_K in blk 3"));
  EXPECT_THAT(text, HasSubstr("4.50")) << "576 bytes for 1024 weights";
  EXPECT_THAT(text, HasSubstr("6.56")) << "210 bytes for 256 weights";
  EXPECT_THAT(text, HasSubstr("type 99 (unknown)"));
  EXPECT_THAT(text, Not(HasSubstr("bits per weight;"))) << "one size is unknown, so the sum is";
  EXPECT_THAT(text, HasSubstr("yes: file i.dat and 224 entries"));
}

TEST(Inspection, SaysOfRandomWeightsThatTheyMeanNothing) {
  auto facts = sample_file();
  EXPECT_THAT(shown(facts), Not(HasSubstr("SYNTHETIC")));
  facts.synthetic = "llama, 4 layers, seed 1";
  EXPECT_THAT(shown(facts), HasSubstr("random weights, llama, 4 layers, seed 1; its text and "
                                      "acceptance mean nothing"));
}

TEST(Inspection, SaysWhatIsMissingOfASplitModelAndWhatDrafts) {
  auto facts = sample_file();
  facts.split = model::SplitFacts{3, 1, 2, {"m-00003-of-00003.gguf"}};
  facts.drafter = model::DrafterFacts{"dflash", 16, 15, {2, 10}, std::nullopt, {}};
  const std::string text = shown(facts);
  EXPECT_THAT(text, HasSubstr("file 1 of 3, 2 are there; missing: m-00003-of-00003.gguf"));
  EXPECT_THAT(text, HasSubstr("dflash, block of 16 tokens, reads the inputs of target layers 2 "
                              "and 10; the whole file is the drafter"));
}

TEST(Inspection, IsObeyedByNoTerminal) {
  const std::string hostile = "\x1b[2J\r\n\x07\xff";
  auto facts = sample_file();
  facts.path += hostile;
  facts.name = facts.architecture = hostile;
  facts.file_type = hostile;
  facts.recipe[1] = {hostile, hostile, 1, 1, 1, hostile};
  facts.imatrix = model::Imatrix{hostile, hostile, 1, 1};
  facts.sampling = {{hostile, hostile}};
  facts.split = model::SplitFacts{2, 1, 1, {hostile}};
  facts.drafter =
      model::DrafterFacts{hostile, 1, 1, {1}, 1, {{hostile, hostile, 1, 1, 1, hostile}}};
  facts.oddities = {hostile};
  const std::string text = shown(facts);
  EXPECT_EQ(text.find_first_of("\x1b\r\x07\xff"), std::string::npos);
}

TEST(MachineReport, SaysWhatIsKnownAndWhyTheRestIsNot) {
  document::MachineReport report;
  report.machine = document::to_machine(support::sample_machine());
  report.devices = document::to_devices(
      trace::Devices{{{"CUDA0", "GPU", "a\x1b card", 1ULL << 30, 2ULL << 30}}});
  report.now = document::to_load_now({0.02, 2.0, std::nullopt, 1.0});
  const std::string text = machine(report, wide);
  EXPECT_THAT(text, HasSubstr("AMD EPYC"));
  EXPECT_THAT(text, HasSubstr("CUDA0 (GPU): a\\x1b card, 1 GiB of 2 GiB free"));
  EXPECT_THAT(text, HasSubstr("CPU time stolen: 1.00 %")) << "0.02 of 2 CPU seconds";
  EXPECT_THAT(text, HasSubstr("unknown (the kernel keeps no pressure figures)"));
  EXPECT_THAT(text, HasSubstr("governor    unknown (not readable on this machine)"));
  EXPECT_THAT(text, HasSubstr("hardware range unknown (not readable on this machine)"));
  EXPECT_THAT(text, HasSubstr("over 1.00 s"));
  report.machine.clock_min_mhz = document::known(1500.0);
  report.machine.clock_max_mhz = document::known(3675.0);
  EXPECT_THAT(machine(report, wide), HasSubstr("hardware from 1500 MHz to 3675 MHz"));
}

TEST(MachineReport, ShowsAProbeWithItsAgeFiguresAndFindings) {
  document::MachineReport report;
  auto survey = support::sample_survey();
  survey.devices[1].reason = "busy\x1b";
  report.probe = document::known(document::to_probe(survey, 1720));
  const std::string text = machine(report, wide);
  EXPECT_THAT(text, HasSubstr("measured 12 min 0 s ago, in 14 s"));
  EXPECT_THAT(text, HasSubstr("41.0, 40.0, 40.0 ["));
  EXPECT_THAT(text, HasSubstr("38.0, 37.0, 37.0 ["));
  EXPECT_THAT(text, HasSubstr("64 B  10.0 / 25.0")) << "huge pages / small ones";
  EXPECT_THAT(text, HasSubstr("64 B  100 / 105"));
  EXPECT_THAT(text, HasSubstr("CPU: GB/s, best: to the device 11.0, from it 8.00"));
  EXPECT_THAT(text, HasSubstr("CUDA0: busy\\x1b"));
  EXPECT_THAT(text, HasSubstr("16 at once, from a table of 1024 MiB 2.5 times as slow"));
}

TEST(MachineReport, SaysWhyNothingWasProbed) {
  document::MachineReport report;
  report.probe.reason = "not asked for";
  EXPECT_THAT(machine(report, wide), HasSubstr("probe       not asked for"));
}

TEST(MachineReport, SaysWhyTheDevicesAreNotKnown) {
  document::MachineReport report;
  report.devices = document::to_devices(util::fail(util::ErrorKind::engine, "no worker is there"));
  EXPECT_THAT(machine(report, {}), HasSubstr("unknown (no worker is there)"));
}

}  // namespace
}  // namespace paceline::report
