#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "support/gguf_case.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

namespace paceline {
namespace {

using std::filesystem::file_size;
using support::Ended;
using support::lab_model;
using ::testing::HasSubstr;

class Inspect : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  Ended run(const std::vector<std::string>& arguments) {
    return support::run_program(folder_.path().string(), arguments);
  }

  /// What an independent validator finds wrong with the file by that schema.
  std::string schema_errors(const std::string& schema, const std::string& document) {
    const std::string source = PACELINE_SOURCE_DIR;
    const std::string said = path("said.txt");
    const std::string command = "python3 '" + source + "/tests/support/validate_json.py' '" +
                                source + "/docs/" + schema + "' '" + document + "' > '" + said +
                                "' 2>&1";
    const int status = std::system(command.c_str());
    return status == 0 ? "" : "invalid: " + util::read_file(said).value_or("");
  }

  util::Json json(const std::string& file) {
    return util::parse_json(util::read_file(file).value_or(""), file).value_or(util::Json{});
  }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(Inspect, SaysWhatTheLabTargetIsAsTextAndAsJson) {
  const Ended ended = run({"inspect", lab_model("target-mtp-f16.gguf"), "--json", path("i.json")});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("target-mtp-f16.gguf"));
  EXPECT_THAT(ended.output, HasSubstr("mtp, 1 block of its own; in the target's file"));
  EXPECT_EQ(schema_errors("inspect.schema.json", path("i.json")), "");
  const util::Json model = json(path("i.json")).at("model");
  EXPECT_EQ(model.at("file_bytes"), file_size(lab_model("target-mtp-f16.gguf")));
  EXPECT_EQ(model.at("layers"), 7);
  EXPECT_EQ(model.at("vocabulary"), 2048);
  EXPECT_EQ(model.at("has_chat_template"), false);
  EXPECT_EQ(model.at("drafter").at("kind"), "mtp");
}

TEST_F(Inspect, SaysWhatTheLabDrafterIs) {
  const Ended ended = run({"inspect", lab_model("dflash-f16.gguf"), "--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto document = util::parse_json(ended.output, "standard output");
  ASSERT_TRUE(document) << "standard output holds the document alone";
  const auto& drafter = document->at("model").at("drafter");
  EXPECT_EQ(drafter.at("kind"), "dflash");
  EXPECT_EQ(drafter.at("block"), 8);
  EXPECT_EQ(drafter.at("target_layers"), util::Json({1, 3, 4, 5}));
}

/// Through the worker and back to the exit code, for every hostile file that is refused.
TEST_F(Inspect, RefusesHostileFilesWithTheReasonAndLivesOn) {
  int refused = 0;
  for (const auto& one : support::gguf_header_cases()) {
    ASSERT_TRUE(util::write_file(path("m.gguf"), one.bytes));
    const Ended ended = run({"inspect", path("m.gguf")});
    EXPECT_EQ(ended.exit_code, one.refused.empty() ? 0 : 3) << one.input << ended.errors;
    EXPECT_THAT(ended.errors, HasSubstr(one.refused)) << one.input;
    refused += one.refused.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 10);
}

TEST_F(Inspect, OutlivesAWorkerThatIsKilled) {
  ASSERT_TRUE(util::write_file(path("worker"), "#!/bin/sh\nkill -SEGV $$\n"));
  ASSERT_EQ(::chmod(path("worker").c_str(), 0755), 0);
  ::setenv("PACELINE_WORKER", path("worker").c_str(), 1);
  const Ended ended = run({"inspect", lab_model("small-f16.gguf")});
  ::unsetenv("PACELINE_WORKER");
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.errors, HasSubstr("signal 11"));
}

TEST_F(Inspect, DoesNotWriteOverWhatItReads) {
  std::filesystem::copy(lab_model("small-f16.gguf"), path("m.gguf"));
  const Ended ended = run({"inspect", path("m.gguf"), "--json", path("m.gguf")});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(util::read_file(path("m.gguf")).value(),
            util::read_file(lab_model("small-f16.gguf")).value());
}

/// What is refused by inspection is refused by loading, before llama.cpp sees it.
TEST_F(Inspect, LoadingRefusesWithTheSameWords) {
  support::WorkerProcess worker;
  const auto bytes = util::read_file(lab_model("small-f16.gguf")).value();
  const std::size_t half = bytes.size() / 2;
  ASSERT_TRUE(util::write_file(path("cut.gguf"), bytes.substr(0, half)));
  trace::Setup setup = support::lab_setup(trace::SpecType::none);
  setup.model_path = path("cut.gguf");
  EXPECT_THAT(worker.open(setup).outcome.reason,
              HasSubstr("is cut short: it has " + std::to_string(half) + " of at least "));
  setup.model_path = lab_model("dflash-f16.gguf");
  EXPECT_THAT(worker.open(setup).outcome.reason, HasSubstr("is a drafter"));
  setup.model_path = lab_model("small-f16.gguf");
  EXPECT_EQ(worker.open(setup).outcome.kind, trace::OutcomeKind::done) << "it lives on";
}

TEST_F(Inspect, MachineSaysWhatItIs) {
  const Ended ended = run({"machine", "--json", path("m.json")});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("processor"));
  EXPECT_EQ(schema_errors("machine.schema.json", path("m.json")), "");
  EXPECT_FALSE(json(path("m.json")).at("devices").empty()) << "there is a CPU at least";
}

}  // namespace
}  // namespace paceline
