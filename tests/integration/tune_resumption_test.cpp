#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "support/measuring_test.hpp"
#include "support/worker_process.hpp"

// Tunes that were cut off at some record and go on.

namespace paceline {
namespace {

using support::Ended;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TuneCutOff : public support::MeasuringTest {
 protected:
  TuneCutOff() { std::filesystem::copy_file(support::lab_model("target-mtp-f16.gguf"), model_); }

  std::vector<std::string> words(const std::string& fresh_prompts, int longest) const {
    return {"tune",       "--draft",
            "-m",         model_,
            "--class",    "json",
            "--prompts",  "4",
            "-n",         "16",
            "--launches", "1",
            "-t",         "1",
            "--arm",      "draft-mtp:" + std::to_string(longest),
            "--json",     path("t.json"),
            "--trace",    path("t.jsonl"),
            "--grid",     "--fresh-prompts",
            fresh_prompts};
  }

  Ended on_store(const std::string& db, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--db", path(db)});
    return support::run_program(home(), arguments);
  }

  /// The first `count` lines of a trace.
  static std::string head(const std::string& text, int count) {
    std::size_t end = 0;
    for (int i = 0; i < count; ++i) end = text.find('\n', end) + 1;
    return text.substr(0, end);
  }

  /// Puts what was written before the tune was cut off into a store, as it would be there.
  void put(const std::string& db, const std::string& trace) const {
    if (trace.empty()) return;
    ASSERT_TRUE(util::write_file(path("part.jsonl"), trace));
    const Ended ended = on_store(db, {"history", "import", path("part.jsonl")});
    ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  }

  std::string text_of(const std::string& db, const std::string& id) const {
    return on_store(db, {"history", "export", id}).output;
  }

  static int lines_with(const std::string& text, const std::string& part) {
    int count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
  }
  static int launches_in(const std::string& text) {
    return lines_with(text, R"("record":"launch",)");
  }

  /// Arm, round, prompts and lengths of the launches that count.
  static std::vector<std::string> structure(const std::string& text) {
    std::vector<std::string> launches;
    const auto trace = trace::read_trace(text);
    EXPECT_TRUE(trace) << trace.error().message;
    if (!trace) return launches;
    EXPECT_FALSE(trace->interrupted);
    for (const auto& launch : trace->launches) {
      std::string did = launch.arm + " " + std::to_string(launch.round);
      for (const auto& request : launch.requests)
        did += " " + request.prompt_id + "/" + std::to_string(request.seed) + "/n" +
               std::to_string(request.drafting.value_or(trace::Drafting{}).n_max);
      for (const auto& map : launch.maps) did += " map " + map.prompt_id;
      launches.push_back(std::move(did));
    }
    return launches;
  }

  std::string model_ = path("model.gguf");
};

/// Lines of its trace that one study has, and launches of it that ended among them.
struct Cut {
  int lines;
  int launches_kept;
};

TEST_F(TuneCutOff, keeps_the_launches_of_the_map_that_ended) {
  auto arguments = words("0", 3);
  std::erase(arguments, "--grid");
  const Ended whole = on_store("whole.db", arguments);
  ASSERT_EQ(whole.exit_code, 0) << whole.errors;
  const auto written = *util::read_file(path("t.jsonl"));
  const auto wanted = structure(written);
  ASSERT_EQ(wanted.size(), 4u) << "texts, asks, and two launches that are timed";
  const auto id = trace::read_trace(written)->header.trace_id;
  // Header and about, four texts between the launch and its end, four asks, then times.
  for (const auto [lines, kept] : {Cut{4, 0}, Cut{10, 1}, Cut{15, 2}}) {
    const std::string db = std::to_string(lines) + ".db";
    put(db, head(written, lines));
    const Ended ended = on_store(db, {"tune", "--resume", id});
    ASSERT_EQ(ended.exit_code, 0) << ended.errors;
    const auto text = text_of(db, id);
    EXPECT_EQ(structure(text), wanted) << lines;
    EXPECT_THAT(text, StartsWith(head(written, lines))) << "nothing is lost";
    EXPECT_EQ(launches_in(text), launches_in(head(written, lines)) + 4 - kept)
        << lines << ": what had ended is not made again";
    EXPECT_EQ(text, *util::read_file(path("t.jsonl"))) << "the trace file goes on, too";
    EXPECT_THAT(ended.output, HasSubstr("cut off after " + std::to_string(kept) + " launches"));
  }
}

TEST_F(TuneCutOff, goes_on_in_the_confirmation_and_in_the_grid) {
  const Ended whole = on_store("whole.db", words("2", 1));
  ASSERT_EQ(whole.exit_code, 0) << whole.errors;
  const auto map = *util::read_file(path("t.jsonl"));
  const auto confirmed = *util::read_file(path("t-confirmed.jsonl"));
  const auto grid = *util::read_file(path("t-grid.jsonl"));
  const auto report = document("t.json");
  const auto id = trace::read_trace(map)->header.trace_id;
  const auto expect_parts = [&](const std::string& db) {
    EXPECT_EQ(text_of(db, id), map) << "what is complete is read";
    EXPECT_EQ(structure(text_of(db, id + "-confirmed")), structure(confirmed));
    EXPECT_EQ(structure(text_of(db, id + "-grid")), structure(grid));
    EXPECT_EQ(launches_in(text_of(db, id + "-confirmed")), 2);
    EXPECT_EQ(launches_in(text_of(db, id + "-grid")), 2) << "plain and one length";
    EXPECT_EQ(*util::read_file(path("t-confirmed.jsonl")), text_of(db, id + "-confirmed"));
    EXPECT_EQ(*util::read_file(path("t-grid.jsonl")), text_of(db, id + "-grid"));
  };
  Ended ended = on_store("whole.db", {"tune", "--resume", "last"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_EQ(document("t.json"), report) << "all is there, so nothing is made";
  expect_parts("whole.db");

  // A confirmation whose program was killed before it said what it stands on, and no grid.
  std::filesystem::remove(path("t-grid.jsonl"));
  put("begun.db", map);
  put("begun.db", head(confirmed, 1));
  for (const char* once_more : {"from the confirmation", "from the grid"}) {
    ended = on_store("begun.db", {"tune", "--resume", "last"});
    ASSERT_EQ(ended.exit_code, 0) << once_more << ": " << ended.errors;
    expect_parts("begun.db");
  }
  EXPECT_EQ(lines_with(text_of("begun.db", id + "-confirmed"), R"("record":"about")"), 1);
}

TEST_F(TuneCutOff, is_refused_where_something_changed_and_told_so_it_goes_on) {
  auto arguments = words("2", 1);
  std::erase(arguments, "--grid");
  const Ended whole = on_store("whole.db", arguments);
  ASSERT_EQ(whole.exit_code, 0) << whole.errors;
  const auto confirmed = *util::read_file(path("t-confirmed.jsonl"));
  const auto id = trace::read_trace(confirmed)->header.trace_id;
  put("half.db", *util::read_file(path("t.jsonl")));
  put("half.db", head(confirmed, 13));  // one launch, and two records of the next
  std::filesystem::last_write_time(model_, std::filesystem::file_time_type::clock::now());
  const Ended refused = on_store("half.db", {"tune", "--resume", "last"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("file " + model_ + " was"));
  EXPECT_EQ(on_store("half.db", {"tune", "--resume", "last", "-n", "5"}).exit_code, 2);
  EXPECT_EQ(launches_in(text_of("half.db", id)), 2) << "nothing was made";
  const Ended anyway = on_store("half.db", {"tune", "--resume", "last", "--resume-anyway"});
  ASSERT_EQ(anyway.exit_code, 0) << anyway.errors;
  EXPECT_EQ(structure(text_of("half.db", id)), structure(confirmed));
  EXPECT_EQ(launches_in(text_of("half.db", id)), launches_in(confirmed) + 1);
  for (const char* part :
       {"the map was cut off after 4 launches", "the confirmation was cut off after 1"})
    EXPECT_THAT(anyway.output, HasSubstr(part));
  EXPECT_THAT(anyway.output, HasSubstr("had changed: file"));
}

TEST_F(TuneCutOff, predictions_go_on_with_the_same_texts_only) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "one two three ";
  for (const char* name : {"log.txt", "more.txt"}) ASSERT_TRUE(util::write_file(path(name), text));
  const Ended whole = on_store("whole.db", {"predict", path("log.txt"), path("more.txt"), "--arm",
                                            "ngram-map-k:2/3", "--trace", path("t.jsonl")});
  ASSERT_EQ(whole.exit_code, 0) << whole.errors;
  const auto written = *util::read_file(path("t.jsonl"));
  put("begun.db", head(written, 3));
  const Ended ended = on_store("begun.db", {"predict", "--resume", "last"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_EQ(structure(*util::read_file(path("t.jsonl"))), structure(written));
  put("again.db", head(written, 3));
  ASSERT_TRUE(util::write_file(path("more.txt"), text + "four"));
  const Ended refused = on_store("again.db", {"predict", "--resume", "last"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("file " + path("more.txt") + " was"));
}

TEST_F(TuneCutOff, says_how_to_go_on_when_it_is_stopped) {
  support::Program program(home(), words("0", 3));
  ASSERT_TRUE(wait_for_requests(path("t.jsonl"), 1));
  program.send(SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.exit_code, 130);
  const auto id = trace::read_trace(*util::read_file(path("t.jsonl")))->header.trace_id;
  EXPECT_THAT(ended.errors, HasSubstr("Go on with it: paceline tune --resume " + id + "\n"));
}

}  // namespace
}  // namespace paceline
