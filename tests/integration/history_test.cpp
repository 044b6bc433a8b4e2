#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "support/measuring_test.hpp"

namespace paceline {
namespace {

using support::Ended;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string target = std::string(PACELINE_SOURCE_DIR) + "/models/target-mtp-f16.gguf";

const std::string a_trace =
    std::string(PACELINE_SOURCE_DIR) + "/fuzz/seeds/trace_file_fuzz/small.jsonl";

class HistoryOfRuns : public support::MeasuringTest {
 protected:
  HistoryOfRuns() { std::filesystem::copy_file(target, model_); }

  /// What is typed for a study of plain and MTP on three prompts.
  std::vector<std::string> study(const std::string& launches,
                                 const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {
        "run",  "-m",        model_, "--spec-type", "draft-mtp", "--class",
        "json", "--prompts", "3",    "--widths",    "1",         "-n",
        "40",   "-t",        "1",    "--launches",  launches};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::vector<std::string> traced(const std::string& launches) const {
    return study(launches, {"--trace", path("t.jsonl")});
  }

  Ended history(std::vector<std::string> words) const {
    words.insert(words.begin(), "history");
    return support::run_program(home(), words);
  }

  /// Ends a study by a signal once that many measured requests are finished.
  void cut_off(int requests, int signal) const {
    support::Program program(home(), traced("2"));
    ASSERT_TRUE(wait_for_requests(path("t.jsonl"), requests));
    program.send(signal);
    program.wait();
  }

  Ended resume(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"run", "--resume", "last"});
    return support::run_program(home(), more);
  }

  /// The studies of the store, which are valid by the schema.
  util::Json listed() const {
    EXPECT_EQ(history({"list", "--json", path("h.json")}).exit_code, 0);
    const std::string source = PACELINE_SOURCE_DIR;
    const std::string command = "python3 '" + source + "/tests/support/validate_json.py' '" +
                                source + "/docs/history.schema.json' '" + path("h.json") + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return document("h.json").at("studies");
  }

  /// Arm and prompts of the launches that count.
  static std::vector<std::string> structure(const trace::Trace& trace) {
    std::vector<std::string> launches;
    for (const auto& launch : trace.launches) {
      std::string text = launch.arm + " " + std::to_string(launch.round);
      for (const auto& request : launch.requests)
        text += " " + request.prompt_id + "/" + std::to_string(request.seed);
      launches.push_back(std::move(text));
    }
    return launches;
  }

  trace::Trace exported() const {
    const auto trace = trace::read_trace(history({"export", "last"}).output);
    EXPECT_TRUE(trace) << trace.error().message;
    return *trace;
  }

  std::string model_ = path("model.gguf");
};

TEST_F(HistoryOfRuns, ShowsAgainWhatWasPrintedAndGivesTheTraceBack) {
  const Ended ran = support::run_program(home(), traced("1"));
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("paceline history show"));
  const Ended shown = history({"show", "last"});
  EXPECT_THAT(shown.output, HasSubstr(ran.output)) << "the same report";
  EXPECT_EQ(history({"export", "last"}).output, *util::read_file(path("t.jsonl")));
  const auto studies = listed();
  ASSERT_EQ(studies.size(), 1u);
  EXPECT_EQ(studies[0].at("state"), "done");
  EXPECT_EQ(studies[0].at("requests"), 6) << "two arms on three prompts";
  ASSERT_EQ(history({"import", path("t.jsonl"), "--db", path("other.db")}).exit_code, 0);
  EXPECT_EQ(history({"export", "--all", "--db", path("other.db")}).output,
            *util::read_file(path("t.jsonl")));
  EXPECT_THAT(history({"show", "last", "--requests", "--arm", "mtp"}).output, HasSubstr("done"));
  EXPECT_THAT(history({"show", "last", "--arm", "mtp"}).errors, HasSubstr("add --requests"));
  EXPECT_THAT(history({"diff", "last", "last"}).output, HasSubstr("Nothing differs"));
  ASSERT_EQ(history({"tag", "last", "good"}).exit_code, 0);
  ASSERT_EQ(history({"prune", "--older", "0"}).exit_code, 0);
  EXPECT_EQ(listed().size(), 1u) << "it has a tag";
  ASSERT_EQ(history({"tag", "last", "good", "--remove"}).exit_code, 0);
  ASSERT_EQ(history({"prune", "--keep-bytes", "1"}).exit_code, 0);
  EXPECT_EQ(listed().size(), 0u);
}

TEST_F(HistoryOfRuns, StudyKilledTwiceIsGoneOnWithAndIsWhole) {
  cut_off(4, SIGKILL);
  EXPECT_EQ(listed().at(0).at("state"), "cut off");
  const auto finished = *util::read_file(path("t.jsonl"));
  {
    support::Program again(home(), {"run", "--resume", "last"});
    ASSERT_TRUE(wait_for_requests(path("t.jsonl"), 8));
    again.send(SIGKILL);
    again.wait();
  }
  const Ended ended = resume({"--dry-run"});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  const Ended whole = resume();
  ASSERT_EQ(whole.exit_code, 0) << whole.errors;
  EXPECT_THAT(whole.output, HasSubstr("gone on with at"));
  const auto text = history({"export", "last"}).output;
  const auto lines_end = finished.rfind('\n') + 1;
  EXPECT_EQ(text.substr(0, lines_end), finished.substr(0, lines_end)) << "nothing is lost";
  EXPECT_EQ(text, *util::read_file(path("t.jsonl"))) << "the trace file goes on, too";
  EXPECT_THAT(history({"show", "last"}).output, HasSubstr("Superseded: launch"));
  const auto resumed = structure(exported());
  ASSERT_EQ(support::run_program(home(), study("2")).exit_code, 0);
  EXPECT_EQ(resumed, structure(exported())) << "as an undisturbed run";
  EXPECT_EQ(resume().exit_code, 2) << "that one is complete";
}

TEST_F(HistoryOfRuns, StudyIsNotGoneOnWithWhereSomethingChangedUnlessToldSo) {
  cut_off(2, SIGINT);
  EXPECT_EQ(listed().at(0).at("state"), "interrupted");
  EXPECT_EQ(resume({"-n", "5"}).exit_code, 2) << "its command line is known";
  EXPECT_EQ(support::run_program(home(), {"fill", "--resume", "last"}).exit_code, 2);
  std::filesystem::last_write_time(model_, std::filesystem::file_time_type::clock::now());
  const Ended refused = resume();
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("file " + model_ + " was"));
  EXPECT_THAT(refused.errors, HasSubstr("--resume-anyway"));
  const Ended anyway = resume({"--resume-anyway"});
  ASSERT_EQ(anyway.exit_code, 0) << anyway.errors;
  EXPECT_THAT(anyway.output, HasSubstr("had changed: file"));
}

TEST_F(HistoryOfRuns, ExportWritesOverNoFile) {
  ASSERT_EQ(history({"import", a_trace}).exit_code, 0);
  ASSERT_TRUE(util::write_file(path("workload.jsonl"), "mine"));
  const Ended refused = history({"export", "last", path("workload.jsonl")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("exists already"));
  EXPECT_EQ(*util::read_file(path("workload.jsonl")), "mine");
  const Ended wrote = history({"export", "last", path("new.jsonl")});
  EXPECT_EQ(wrote.exit_code, 0) << wrote.errors;
  EXPECT_THAT(wrote.errors, HasSubstr("f98f92 to " + path("new.jsonl")));
  EXPECT_EQ(*util::read_file(path("new.jsonl")), *util::read_file(a_trace));
  EXPECT_EQ(history({"export", "last", "/dev/stdout"}).output, *util::read_file(a_trace));
}

TEST_F(HistoryOfRuns, ImportTakesTheSoundStudiesAndNamesTheOthers) {
  const auto text = *util::read_file(a_trace);
  ASSERT_TRUE(util::write_file(path("cut.jsonl"), text.substr(0, text.size() / 2)));
  const auto in_other = [this](std::vector<std::string> words) {
    words.insert(words.end(), {"--db", path("b.db")});
    return history(words);
  };
  const Ended cut = in_other({"import", path("cut.jsonl")});
  EXPECT_EQ(cut.exit_code, 0);
  EXPECT_THAT(cut.errors, HasSubstr("is cut off"));
  EXPECT_THAT(cut.errors, HasSubstr("f98f92 --db " + path("b.db") + ")")) << "the hint works";
  ASSERT_TRUE(util::write_file(path("two.jsonl"), "{}\n" + text));
  const Ended two = in_other({"import", path("two.jsonl")});
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.errors, HasSubstr("in place of a shorter copy"));
  EXPECT_THAT(two.errors, HasSubstr("two.jsonl: trace line 1: "));
  EXPECT_THAT(two.errors, HasSubstr("1 of its 2 studies"));
  EXPECT_EQ(in_other({"export", "last"}).output, text);
  EXPECT_EQ(in_other({"remove", "no-such"}).exit_code, 2);
  EXPECT_THAT(in_other({"remove", "f98f92"}).errors, HasSubstr("Removed 2026"));
  EXPECT_THAT(in_other({"list"}).output, HasSubstr("No study"));
}

TEST_F(HistoryOfRuns, ListAndShowSayThatAStudyFailed) {
  ASSERT_EQ(support::run_program(home(), study("1", {"--server-bin", "/bin/false"})).exit_code, 3);
  EXPECT_EQ(listed().at(0).at("state"), "failed");
  EXPECT_THAT(history({"show", "last"}).output, HasSubstr("Failed: /bin/false ended by itself"));
}

TEST_F(HistoryOfRuns, RunSaysBeforeItMeasuresThatTheStoreCannotBeOpened) {
  ASSERT_TRUE(util::write_file(path("notes.txt"), std::string(200, 'x')));
  const Ended ended = support::run_program(
      home(), study("1", {"--trace", path("t.jsonl"), "--db", path("notes.txt")}));
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.errors, HasSubstr("--db FILE"));
  EXPECT_THAT(ended.errors, Not(HasSubstr("launch 1/")));
  EXPECT_EQ(*util::read_file(path("notes.txt")), std::string(200, 'x'));
  EXPECT_FALSE(std::filesystem::exists(path("t.jsonl")));
}

}  // namespace
}  // namespace paceline
