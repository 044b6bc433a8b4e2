#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "machine/probe/survey.hpp"
#include "support/program.hpp"
#include "support/sample_survey.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MachineProbe : public ::testing::Test {
 protected:
  std::string home() const { return folder_.path().string(); }
  std::string kept() const { return home() + "/cache/paceline/machine-probe.json"; }
  std::string document() const { return home() + "/m.json"; }

  void keep(const std::string& text) const {
    std::filesystem::create_directories(home() + "/cache/paceline");
    ASSERT_TRUE(util::write_file(kept(), text));
  }

  support::Ended probe(const std::string& how) const {
    return support::run_program(home(), {"machine", how, "--json", document()});
  }

  util::Json measured() const {
    const auto text = util::read_file(document());
    return util::parse_json(text.value_or(""), "m.json").value_or(util::Json::object())["probe"];
  }

  void expect_valid() const {
    const std::string source = PACELINE_SOURCE_DIR;
    const std::string command = "python3 '" + source + "/tests/support/validate_json.py' '" +
                                source + "/docs/machine.schema.json' '" + document() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(MachineProbe, ShowsWhatWasKeptSinceTheMachineWasStarted) {
  machine::Survey survey = support::sample_survey();
  survey.key = machine::survey_key().value();
  survey.booted_s = machine::seconds_since_boot();
  keep(machine::survey_text(survey));
  const auto ended = probe("--probe");
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("ago, in 14 s"));
  EXPECT_THAT(ended.errors, Not(HasSubstr("Probing")));
  EXPECT_EQ(measured()["bandwidth"].at(0)["bytes_per_s"]["best"], 41e9);
  expect_valid();
}

TEST_F(MachineProbe, MeasuresAgainWhereTheKeptFileIsRubbishAndKeepsWhatItFound) {
  keep("{\"key\": 3");
  const auto ended = probe("--probe");
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("measured again: the kept probe"));
  EXPECT_THAT(ended.errors, HasSubstr("Probing the memory, about"));
  expect_valid();
  const auto probe = measured();
  EXPECT_GT(probe["bandwidth"].at(0)["bytes_per_s"]["best"], 0);
  EXPECT_EQ(probe["devices"].at(0)["name"], "CPU");
  const auto read =
      machine::parse_survey(util::read_file(kept()).value(), machine::survey_key().value(),
                            machine::seconds_since_boot());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->created, probe["created"]);
}

TEST_F(MachineProbe, StopsAtCtrlCAndKeepsNothing) {
  support::Program program(home(), {"machine", "--probe=fresh"});
  ASSERT_GT(program.wait_for_child(), 0);
  program.send(SIGINT);
  EXPECT_EQ(program.wait().exit_code, 130);
  EXPECT_FALSE(std::filesystem::exists(kept()));
}

TEST_F(MachineProbe, RefusesAnotherWordThanFresh) {
  EXPECT_EQ(probe("--probe=often").exit_code, 2);
}

trace::Finished probe_devices(protocol::ProbeDevices job, trace::DeviceSpeeds& speeds) {
  support::WorkerProcess worker;
  worker.send(protocol::Submit{9, job});
  while (const auto report = worker.receive()) {
    const auto& event = std::get<protocol::Happened>(*report).event;
    if (const auto* said = std::get_if<trace::DeviceSpeeds>(&event)) speeds = *said;
    if (const auto* last = std::get_if<trace::Finished>(&event)) return *last;
  }
  ADD_FAILURE() << "the worker ended";
  return {};
}

TEST(ProbeDevices, CopiesToAndFromTheCpuAndReadsItsWeights) {
  trace::DeviceSpeeds speeds;
  const auto ended = probe_devices({8u << 20, 2}, speeds);
  ASSERT_EQ(ended.outcome.kind, trace::OutcomeKind::done) << ended.outcome.reason;
  ASSERT_FALSE(speeds.list.empty());
  const auto& cpu = speeds.list.front();
  EXPECT_EQ(cpu.name, "CPU");
  EXPECT_EQ(cpu.reason, "") << "copies came back as they went, and each row's sum was right";
  EXPECT_EQ(cpu.bytes, 8u << 20);
  for (const auto* rates :
       {&cpu.upload_bytes_per_s, &cpu.download_bytes_per_s, &cpu.read_bytes_per_s})
    EXPECT_GE(rates->size(), 3u);
}

TEST(ProbeDevices, RefusesNoThreadsAndNoBytes) {
  trace::DeviceSpeeds speeds;
  EXPECT_EQ(probe_devices({8u << 20, 0}, speeds).outcome.kind, trace::OutcomeKind::refused);
  EXPECT_EQ(probe_devices({100, 2}, speeds).outcome.kind, trace::OutcomeKind::refused);
  EXPECT_TRUE(speeds.list.empty());
}

}  // namespace
}  // namespace paceline
