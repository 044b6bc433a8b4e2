#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "model/bytes.hpp"
#include "model/facts.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "trace/names.hpp"
#include "util/files.hpp"

namespace paceline {
namespace {

using testing::HasSubstr;
using trace::OutcomeKind;
using trace::PassPart;
using trace::SpecType;

constexpr int context = 2048;

/// Text without repetitions to speak of, a letter a token for synthetic models.
std::string text(std::size_t letters) {
  std::string made;
  unsigned state = 1;
  while (made.size() < letters) {
    state = state * 1103515245 + 12345;
    made.push_back(static_cast<char>('a' + (state >> 16) % 26));
  }
  return made;
}

struct Shape {
  const char* architecture;
  std::map<std::string, std::int64_t> numbers;
  SpecType type = SpecType::none;
  const char* drafter = "";  ///< empty: none, or in the target's file
};

std::string name_of(const testing::TestParamInfo<Shape>& info) {
  std::string name = info.param.architecture;
  if (*info.param.drafter != '\0') name += std::string("_") + info.param.drafter;
  if (info.param.type == SpecType::draft_mtp) name += "_mtp";
  for (const auto& [number, value] : info.param.numbers) name += "_" + number;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class Observed : public testing::TestWithParam<Shape> {
 protected:
  std::string made(protocol::Invent job) {
    job.destination_path = folder.path() / (std::to_string(++files) + ".gguf");
    const auto outcome = worker.run(job).finished.outcome;
    EXPECT_EQ(outcome.kind, OutcomeKind::done) << outcome.reason;
    return job.destination_path;
  }

  std::string target() {
    protocol::Invent job;
    job.architecture = GetParam().architecture;
    job.shape = GetParam().numbers;
    job.quant = "q8_0";
    return made(std::move(job));
  }

  std::string drafter(const std::string& target) {
    if (*GetParam().drafter == '\0') return "";
    protocol::Invent job;
    job.architecture = GetParam().drafter;
    job.target_path = target;
    job.seed = 2;
    return made(std::move(job));
  }

  trace::Observation observe(const std::string& target, const std::string& drafter, int depth,
                             const std::vector<int>& widths, int output = 0) {
    protocol::Observe job;
    job.setup.model_path = target;
    job.setup.spec_type = GetParam().type;
    if (!drafter.empty()) job.setup.draft_path = drafter;
    if (!drafter.empty() || GetParam().type == SpecType::draft_mtp) job.setup.draft_n_max = 4;
    job.setup.kv = {std::string(kv_type), std::string(kv_type)};
    job.setup.n_ctx = context;
    job.text = text(1000);
    job.depth = depth;
    job.widths = widths;
    job.n_predict = output;
    auto report = worker.run(job);
    EXPECT_EQ(report.finished.outcome.kind, OutcomeKind::done) << report.finished.outcome.reason;
    return report.observation.value_or(trace::Observation{});
  }

  support::TemporaryFolder folder;
  support::WorkerProcess worker;
  int files = 0;
  const char* kv_type = "f16";
};

model::PassShape shape_of(const trace::ObservedPass& pass) {
  return {.width = pass.width,
          .depth = pass.depth,
          .n_ctx = context,
          .experts_per_layer = pass.experts_per_layer};
}

/// Every class and all of them together are within 1 % of what the graph read; a class of less than
/// 0.1 % of the pass may be off by as much as that.
void expect_agreement(const std::vector<model::BytesOfClass>& formula,
                      const trace::ObservedPass& pass) {
  std::map<std::string, double> expected;
  for (const auto& one : formula) expected[one.name] = one.bytes;
  std::map<std::string, double> observed;
  double total = 0;
  for (const auto& one : pass.classes) {
    observed[one.name] = static_cast<double>(one.bytes);
    total += static_cast<double>(one.bytes);
  }
  const double all = model::total_bytes(formula);
  const std::string what = util::enum_name(pass.part) + std::string(" of width ") +
                           std::to_string(pass.width) + " at " + std::to_string(pass.depth);
  EXPECT_NEAR(total, all, 0.01 * all) << what;
  for (const auto& [name, bytes] : expected)
    EXPECT_NEAR(observed[name], bytes, std::max(0.01 * bytes, 0.001 * all)) << what << ": " << name;
  // EAGLE3 leaves the last token that it takes in for later.
  for (const char* rows : {"embedding", "n-gram table"}) {
    if (pass.part == PassPart::taking_in) continue;
    EXPECT_EQ(observed[rows], expected[rows]) << what << ": " << rows;
  }
  for (const auto& [name, bytes] : observed)
    EXPECT_TRUE(expected.contains(name) || bytes < 0.001 * all) << what << ": " << name;
}

/// The formula knows the file's head alone, the observation the operands of the graph alone.
TEST_P(Observed, BytesOfAPassAreThoseOfTheFormula) {
  const std::string path = target();
  const model::FileFacts file = model::read_file_facts(path).value();
  ASSERT_TRUE(file.reads) << file.reads_unknown;
  for (const int depth : {0, 300, 900}) {
    const auto seen = observe(path, "", depth, {1, 4, 8, 16});
    ASSERT_EQ(seen.passes.size(), 4u);
    for (const trace::ObservedPass& pass : seen.passes) {
      expect_agreement(model::bytes_of_pass(*file.reads, shape_of(pass)).value(), pass);
      EXPECT_EQ(pass.experts_per_layer.has_value(), file.reads->experts.has_value());
    }
  }
}

TEST_P(Observed, CellsOfAQuantisedCacheAreThoseOfTheFormula) {
  kv_type = "q8_0";
  const std::string path = target();
  const model::FileFacts file = model::read_file_facts(path).value();
  for (const trace::ObservedPass& pass : observe(path, "", 900, {1, 16}).passes) {
    model::PassShape shape = shape_of(pass);
    shape.cache_type_k = shape.cache_type_v = kv_type;
    expect_agreement(model::bytes_of_pass(*file.reads, shape).value(), pass);
  }
}

INSTANTIATE_TEST_SUITE_P(Synth, Observed,
                         testing::Values(Shape{"llama", {}}, Shape{"llama", {{"tied", 1}}},
                                         Shape{"muse-glimmer", {}}, Shape{"gemma4", {}},
                                         Shape{"gemma4", {{"tied", 1}, {"interval", 2}}},
                                         Shape{"qwen35", {}}, Shape{"qwen35", {{"mtp", 1}}},
                                         Shape{"qwen4exp", {{"experts", 32}}}),
                         name_of);

class ObservedDrafter : public Observed {};

TEST_P(ObservedDrafter, BytesOfADraftAndOfTakingInAreThoseOfTheFormula) {
  const std::string path = target();
  const std::string draft_path = drafter(path);
  const model::FileFacts file = model::read_file_facts(path).value();
  ASSERT_TRUE(file.reads) << file.reads_unknown;
  std::optional<model::ReadFacts> reads;
  if (draft_path.empty()) {
    reads = file.drafter->reads;
  } else {
    const model::FileFacts own = model::read_file_facts(draft_path).value();
    ASSERT_TRUE(own.reads) << own.reads_unknown;
    reads = model::with_borrowed(*own.reads, *file.reads);
  }
  ASSERT_TRUE(reads);
  int drafts = 0;
  for (const trace::ObservedPass& pass : observe(path, draft_path, 300, {1, 4, 8}).passes) {
    if (pass.part == PassPart::taking_in)
      expect_agreement(model::bytes_of_taking_in(*reads, shape_of(pass)).value(), pass);
    if (pass.part != PassPart::draft) continue;
    expect_agreement(model::bytes_of_draft(*reads, pass.width, shape_of(pass)).value(), pass);
    ++drafts;
  }
  EXPECT_EQ(drafts, 3);
}

INSTANTIATE_TEST_SUITE_P(
    Synth, ObservedDrafter,
    testing::Values(Shape{"llama", {}, SpecType::draft_simple, "draft-simple"},
                    Shape{"llama", {}, SpecType::draft_eagle3, "eagle3"},
                    Shape{"llama", {}, SpecType::draft_dflash, "dflash"},
                    Shape{"muse-glimmer", {}, SpecType::draft_dflash, "dflash2"},
                    Shape{"muse-glimmer", {}, SpecType::draft_dspark, "dspark"},
                    Shape{"gemma4", {}, SpecType::draft_mtp, "gemma4-assistant"},
                    Shape{"qwen35", {{"mtp", 1}}, SpecType::draft_mtp, ""}),
    name_of);

class ObservedMixture : public Observed {};

TEST_P(ObservedMixture, ExpertsTablesAndUnionsOfRealDraftsAreCounted) {
  const std::string path = target();
  const auto seen = observe(path, drafter(path), 300, {1, 16}, 64);
  const auto& numbers = GetParam().numbers;
  const auto experts = static_cast<double>(numbers.at("experts"));
  ASSERT_TRUE(seen.experts);
  EXPECT_EQ(seen.experts->count, experts);
  EXPECT_EQ(seen.experts->layers, 4);
  EXPECT_EQ(seen.experts->shares.size(), experts);
  double sum = 0;
  for (const double share : seen.experts->shares) sum += share;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(seen.passes.front().width, 1);
  EXPECT_EQ(seen.passes.front().experts_per_layer, 2) << "each token uses two of a layer";
  // 2 n-grams of 2 heads each: four rows a token, of a quarter of the width 256, in Q8_0.
  ASSERT_EQ(seen.tables.size(), 2u);
  const auto table = std::find_if(seen.tables.begin(), seen.tables.end(),
                                  [](const auto& one) { return one.name == "n-gram table"; });
  ASSERT_NE(table, seen.tables.end());
  EXPECT_EQ(table->row_bytes, 64u / 32 * 34);
  EXPECT_EQ(table->gathers, 4 * table->tokens);
  EXPECT_EQ(table->tokens, 317u) << "those of depth and widths";
  EXPECT_LE(table->different_rows, table->gathers);
  EXPECT_GT(table->pages_per_token, 1);
  EXPECT_LE(table->pages_per_token, 8) << "a row may lie across two pages";
  ASSERT_FALSE(seen.speculative.empty());
  for (const auto& one : seen.speculative) {
    EXPECT_GE(one.experts_per_layer, 2);
    EXPECT_LE(one.experts_per_layer, std::min(experts, 2.0 * one.width));
    EXPECT_EQ(one.offered, one.passes * (one.width - 1));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Synth, ObservedMixture,
    testing::Values(Shape{"qwen4exp", {{"experts", 32}}, SpecType::draft_simple, "draft-simple"}),
    name_of);

class ObservedShared : public Observed {};

/// Synthetic models have a cache for each layer; the file is told otherwise by its key alone.
TEST_P(ObservedShared, LayersReadTheCellsOfOthersAndComputeNone) {
  const std::string path = target();
  std::string bytes = util::read_file(path).value();
  const std::string key = "gemma4.attention.shared_kv_layers";
  const std::size_t at = bytes.find(key);
  ASSERT_NE(at, std::string::npos);
  bytes[at + key.size() + 4] = 2;  // the value is behind the number of its type
  ASSERT_TRUE(util::write_file(path, bytes));
  const model::FileFacts file = model::read_file_facts(path).value();
  ASSERT_TRUE(file.reads) << file.reads_unknown;
  for (const trace::ObservedPass& pass : observe(path, "", 900, {1, 8}).passes)
    expect_agreement(model::bytes_of_pass(*file.reads, shape_of(pass)).value(), pass);
}

INSTANTIATE_TEST_SUITE_P(Synth, ObservedShared, testing::Values(Shape{"gemma4", {{"interval", 2}}}),
                         name_of);

class RooflineCommand : public testing::Test {
 protected:
  support::Ended run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "roofline");
    return support::run_program(folder.path(), arguments);
  }

  std::string schema_errors(const std::string& document) {
    const std::string source = PACELINE_SOURCE_DIR;
    const std::string said = folder.path() / "said.txt";
    const std::string command = "python3 '" + source + "/tests/support/validate_json.py' '" +
                                source + "/docs/roofline.schema.json' '" + document + "' > '" +
                                said + "' 2>&1";
    const int status = std::system(command.c_str());
    return status == 0 ? "" : "invalid: " + util::read_file(said).value_or("");
  }

  support::TemporaryFolder folder;
};

TEST_F(RooflineCommand, SaysTheBytesOfAShapeWithoutAFile) {
  const std::string json = folder.path() / "r.json";
  const auto ended =
      run({"--like", "qwen3.8-27b", "--quant", "q4_0", "--bandwidth", "273e9", "--json", json});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("assumed of qwen3.8-27b"));
  EXPECT_THAT(ended.output, HasSubstr("273 GB a second, as given"));
  EXPECT_EQ(schema_errors(json), "");
}

TEST_F(RooflineCommand, SaysWhatADeviceReadsOfTheLayersOnIt) {
  const std::string json = folder.path() / "r.json";
  const auto ended = run({"-m", support::lab_model("target-mtp-f16.gguf"), "--mtp", "-ngl", "2",
                          "--bandwidth", "47e9", "--device-bandwidth", "900e9", "--json", json});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("-ngl 2: the output and the last of 7 blocks"));
  EXPECT_THAT(ended.output, HasSubstr("on the device"));
  EXPECT_EQ(schema_errors(json), "");
}

TEST_F(RooflineCommand, PutsWhatItObservedBesideTheFormula) {
  const std::string json = folder.path() / "r.json";
  const auto ended =
      run({"-m", support::lab_model("target-mtp-f16.gguf"), "-md",
           support::lab_model("dflash-f16.gguf"), "--observe", "--widths", "1,4", "--json", json});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("difference"));
  EXPECT_THAT(ended.output, HasSubstr("bytes of a draft"));
  EXPECT_EQ(schema_errors(json), "");
}

TEST_F(RooflineCommand, RefusesWhatMakesNoSense) {
  EXPECT_EQ(run({}).exit_code, 2);
  EXPECT_EQ(run({"--like", "smol-135m", "--observe"}).exit_code, 2);
  EXPECT_EQ(run({"--like", "smol-135m", "--shape", "layers"}).exit_code, 2);
  EXPECT_EQ(run({"--like", "smol-135m", "--depth", "5000", "-c", "4096"}).exit_code, 2);
  EXPECT_EQ(run({"--like", "smol-135m", "--device-bandwidth", "9e9"}).exit_code, 2);
}

}  // namespace
}  // namespace paceline
