#include "store/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "store/import.hpp"
#include "store/owner.hpp"
#include "trace/trace_file.hpp"
#include "unit/store/sample_study.hpp"

namespace paceline::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Store empty_store() {
  auto store = Store::open(":memory:");
  EXPECT_TRUE(store) << store.error().message;
  return std::move(*store);
}

std::vector<std::string> ids(const std::vector<StudyRow>& rows) {
  std::vector<std::string> found;
  for (const auto& row : rows) found.push_back(row.id);
  return found;
}

TEST(Store, counts_measured_requests_as_they_come) {
  auto store = empty_store();
  put_study(store, sample_header("a"), 3);
  const auto row = store.find("a");
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->kind, "run");
  EXPECT_EQ(row->models, "Heavy-7B.gguf") << "without its folder";
  EXPECT_EQ(row->state, "done");
  EXPECT_EQ(row->launches, 1);
  EXPECT_EQ(row->requests, 3) << "the warm-up is no measured request";
  EXPECT_EQ(row->failed, 1);
  EXPECT_EQ(row->superseded, 0);
  EXPECT_GT(row->bytes, 0);
}

TEST(Store, finds_studies_by_what_they_are) {
  auto store = empty_store();
  put_study(store, sample_header("20260101T000000Z-aaaaaa", "2026-01-01T00:00:00Z"), 1);
  put_study(store, sample_header("20260201T000000Z-bbbbbb", "2026-02-01T00:00:00Z"), 1);
  auto other = sample_header("20260301T000000Z-cccccc", "2026-03-01T00:00:00Z");
  other.arms[0].setup.model_path = "small.gguf";
  put_study(store, other, 1);
  ASSERT_TRUE(store.tag(*store.find("aaaaaa"), "kept"));
  const auto list = [&store](const StudyFilter& filter) { return ids(*store.list(filter)); };
  StudyFilter filter;
  EXPECT_THAT(list(filter), ElementsAre(HasSubstr("ccc"), HasSubstr("bbb"), HasSubstr("aaa")));
  filter.limit = 1;
  EXPECT_THAT(list(filter), ElementsAre(HasSubstr("ccc"))) << "the newest";
  filter = {};
  filter.model = "heavy";
  EXPECT_THAT(list(filter), ElementsAre(HasSubstr("bbb"), HasSubstr("aaa")));
  filter.since = "2026-02";
  EXPECT_THAT(list(filter), ElementsAre(HasSubstr("bbb")));
  filter = {};
  filter.tag = "kept";
  EXPECT_THAT(list(filter), ElementsAre(HasSubstr("aaa")));
  filter = {};
  filter.kind = "fill";
  EXPECT_THAT(list(filter), ElementsAre());
  EXPECT_EQ(store.find("last")->id, other.trace_id);
  EXPECT_THAT(store.find("20260").error().message, HasSubstr("several studies"));
  EXPECT_THAT(store.find("").error().message, HasSubstr("name of a study is empty"));
  EXPECT_THAT(store.find("zzz").error().message, HasSubstr("no study is called"));
  EXPECT_TRUE(*store.untag(*store.find("aaaaaa"), "kept"));
  EXPECT_FALSE(*store.untag(*store.find("aaaaaa"), "kept"));
}

TEST(Store, takes_a_whole_id_for_itself_though_it_is_a_part_of_another) {
  auto store = empty_store();
  put_study(store, sample_header("ab"), 1);
  put_study(store, sample_header("abc"), 1);
  EXPECT_EQ(store.find("ab")->id, "ab");
}

TEST(Store, means_a_study_and_not_its_parts_by_what_they_share) {
  auto store = empty_store();
  for (const char* id : {"x-ab-grid", "x-ab", "x-ab-confirmed"})
    put_study(store, sample_header(id), 1);
  EXPECT_EQ(store.find("ab")->id, "x-ab");
  EXPECT_EQ(store.find("ab-c")->id, "x-ab-confirmed");
  put_study(store, sample_header("y-ab"), 1);
  EXPECT_THAT(store.find("ab").error().message, HasSubstr("several studies"));
}

TEST(Store, filters_requests_by_arm_class_and_outcome) {
  auto store = empty_store();
  put_study(store, sample_header("a"), 3);
  const auto study = *store.find("a");
  const auto count = [&](RequestFilter filter) { return store.requests(study, filter)->size(); };
  EXPECT_EQ(count({}), 3u);
  EXPECT_EQ(count({"plain", "json", "done"}), 2u);
  EXPECT_EQ(count({{}, {}, "failed"}), 1u);
  EXPECT_EQ(count({"other", {}, {}}), 0u);
  const auto done = store.requests(study, {{}, {}, "done"})->front();
  EXPECT_EQ(done.output_tokens, 3);
  EXPECT_EQ(done.decode_s, 1.0) << "from the first token at 1 s to the last at 2 s";
  EXPECT_FALSE(store.requests(study, {{}, {}, "failed"})->front().output_tokens);
}

TEST(Store, keeps_what_a_resumed_study_supersedes_out_of_its_counters) {
  auto store = empty_store();
  StudyJournal first(store.database());
  ASSERT_TRUE(first.begin(sample_header("a")));
  ASSERT_TRUE(first.launch(sample_launch(0)));
  ASSERT_TRUE(first.request(0, sample_request("p0")));
  ASSERT_TRUE(first.launch_end(0, {}));
  ASSERT_TRUE(first.launch(sample_launch(1)));
  ASSERT_TRUE(first.request(1, sample_request("p0")));
  ASSERT_TRUE(first.request(1, sample_request("p1", false)));
  const auto cut_off = *store.find("a");
  EXPECT_EQ(store.build(cut_off)->launches_done(), 1);
  StudyJournal again(store.database(), cut_off.key);
  ASSERT_TRUE(again.resumed({"2026-03-05T00:00:00Z", 1, {}}));
  ASSERT_TRUE(again.launch(sample_launch(1)));
  ASSERT_TRUE(again.request(1, sample_request("p2")));
  ASSERT_TRUE(again.launch_end(1, {}));
  ASSERT_TRUE(again.end(false));
  const auto whole = *store.find("a");
  EXPECT_EQ(whole.requests, 2);
  EXPECT_EQ(whole.failed, 0);
  EXPECT_EQ(whole.superseded, 2);
  EXPECT_EQ(whole.launches, 2);
  EXPECT_EQ(whole.resumed, 1);
  EXPECT_EQ(store.requests(whole, {})->size(), 4u) << "they are kept";
  const auto trace = store.build(whole)->finish();
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->launches.size(), 2u);
  ASSERT_EQ(trace->launches[1].requests.size(), 1u) << "no figure may have the others";
  EXPECT_EQ(trace->launches[1].requests[0].prompt_id, "p2");
  EXPECT_EQ(trace->resumptions.size(), 1u);
  EXPECT_FALSE(trace->interrupted);
}

/// A study with one launch that ended so, and measured requests of which some failed.
bool failed(trace::OutcomeKind kind, const std::vector<bool>& done, bool has_end = true) {
  auto store = empty_store();
  StudyJournal journal(store.database());
  EXPECT_TRUE(journal.begin(sample_header("a")));
  EXPECT_TRUE(journal.launch(sample_launch(0)));
  for (const bool one : done) EXPECT_TRUE(journal.request(0, sample_request("p", one)));
  EXPECT_TRUE(journal.launch_end(0, trace::ended(kind, "why")));
  EXPECT_TRUE(!has_end || journal.end(false));
  return failed_throughout(*store.find("a"));
}

TEST(Store, tells_studies_of_which_nothing_was_done_from_those_that_are_done) {
  using trace::OutcomeKind;
  EXPECT_TRUE(failed(OutcomeKind::refused, {})) << "its server never started";
  EXPECT_TRUE(failed(OutcomeKind::done, {false, false}));
  EXPECT_FALSE(failed(OutcomeKind::crashed, {false, true}));
  EXPECT_FALSE(failed(OutcomeKind::done, {})) << "a fill alone";
  EXPECT_FALSE(failed(OutcomeKind::refused, {}, false)) << "it runs";
}

TEST(Store, says_that_a_study_without_an_end_was_cut_off_once_its_program_is_gone) {
  auto store = empty_store();
  StudyJournal journal(store.database());
  ASSERT_TRUE(journal.begin(sample_header("a")));
  EXPECT_EQ(store.find("a")->state, "running");
  for (const std::string& owner : {std::string("0 0 boot"), this_process() + "x"}) {
    ASSERT_TRUE(store.database().run("UPDATE study SET owner = ?", std::string_view(owner)));
    EXPECT_EQ(store.find("a")->state, "cut off") << owner;
  }
}

TEST(Store, lets_no_second_program_go_on_with_a_study_that_runs) {
  auto store = empty_store();
  put_study(store, sample_header("a"), 1);
  const auto key = store.find("a")->key;
  // The parent of this process runs and is another one.
  ASSERT_TRUE(store.database().run("UPDATE study SET state = 'running', owner = ?",
                                   std::string_view(process_words(::getppid()))));
  StudyJournal journal(store.database(), key);
  const auto taken = journal.resumed({"2026-03-05T00:00:00Z", 0, {}});
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("another program"));
  EXPECT_EQ(store.find("a")->resumed, 0);
}

TEST(Store, keeps_earlier_records_when_the_disk_is_full) {
  auto store = empty_store();
  put_study(store, sample_header("a"), 2);
  const auto before = *store.lines(*store.find("a"));
  ASSERT_TRUE(store.database().run("PRAGMA max_page_count = 1"));  // no page more than there are
  StudyJournal journal(store.database(), store.find("a")->key);
  util::Result<void> taken;
  int records = 0;
  for (; taken && records < 10'000; ++records) taken = journal.request(0, sample_request("p"));
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("the disk is full"));
  const auto row = *store.find("a");
  EXPECT_EQ(row.requests, 2 + records - 1) << "a record is there whole, with its counters, or not";
  const auto lines = *store.lines(row);
  EXPECT_EQ(lines.substr(0, before.size()), before);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'),
            std::count(before.begin(), before.end(), '\n') + records - 1);
}

TEST(Store, has_a_record_with_its_row_and_counters_or_none_of_it) {
  auto store = empty_store();
  put_study(store, sample_header("a"), 2);
  const auto before = *store.find("a");
  const auto lines = *store.lines(before);
  ASSERT_TRUE(
      store.database().run("CREATE TEMP TRIGGER refuse BEFORE UPDATE OF requests ON main.study "
                           "BEGIN SELECT RAISE(ABORT, 'no'); END"));
  StudyJournal journal(store.database(), before.key);
  ASSERT_FALSE(journal.request(0, sample_request("p")));
  EXPECT_EQ(*store.lines(before), lines);
  EXPECT_EQ(store.find("a")->bytes, before.bytes);
  EXPECT_EQ(store.requests(before, {})->size(), 2u);
}

/// What import_study says of each study of a text: "", "longer" or why it is refused.
std::vector<std::string> import_all(Store& store, std::string_view text) {
  std::vector<std::string> said;
  for (const auto& study : split_traces(text).studies) {
    const auto taken = import_study(store, study);
    said.push_back(!taken ? taken.error().message : *taken ? "longer" : "");
  }
  return said;
}

/// The trace of a study of a header, a launch and so many measured requests.
std::string trace_text(const std::string& id, int requests) {
  auto store = empty_store();
  put_study(store, sample_header(id), requests);
  return *store.lines(*store.find(id));
}

TEST(Store, takes_nothing_of_a_study_with_a_wrong_line_and_all_of_the_others) {
  const auto a = trace_text("a", 1);
  const auto b = trace_text("b", 1);
  const std::string unknown = trace::line_of({7, trace::Outcome()}) + "\n";
  const std::string no_header =
      "{\"record\":\"header\",\"value\":{\"trace_id\":\"c\"}}\n" + unknown;
  std::string hidden = a;
  hidden.replace(hidden.find("header"), 1, "\\u0068");
  struct {
    std::string text;
    std::vector<std::string> said;
    std::vector<std::string> kept;
  } const cases[] = {
      {"{\"record\":\"header\",\"value\":[]}\n" + b, {"trace line 1: ", ""}, {"b"}},
      {hidden, {"trace line 1: the header's id is not written as plain text"}, {}},
      {a + "{\"record\":\"request\",\"launch\":7}\n" + b, {"trace line 8: ", ""}, {"b"}},
      {a + b + unknown, {"", "trace line 15: a record after the end"}, {"a"}},
      {"{}\n" + a + no_header + b, {"trace line 1: ", "", "trace line 9: ", ""}, {"b", "a"}},
      {a + a, {"trace line 8: a second header"}, {}},
      {a + b + a, {"", "", "trace line 15: the study is in the store already"}, {"b", "a"}},
  };
  for (const auto& one : cases) {
    auto store = empty_store();
    const auto said = import_all(store, one.text);
    ASSERT_EQ(said.size(), one.said.size()) << one.text;
    for (std::size_t i = 0; i < said.size(); ++i)
      EXPECT_TRUE(one.said[i].empty() ? said[i].empty() : said[i].rfind(one.said[i], 0) == 0)
          << said[i] << " for " << one.said[i];
    EXPECT_EQ(ids(*store.list({})), one.kept);
  }
  EXPECT_TRUE(split_traces("").studies.empty());
}

TEST(Store, names_the_cut_line_of_a_trace_and_takes_a_longer_copy_in_its_place) {
  const auto whole = trace_text("a", 3);
  const auto cut = std::string_view(whole).substr(0, whole.size() / 2);
  const auto lines = std::count(cut.begin(), cut.end(), '\n');
  EXPECT_EQ(split_traces(cut).cut_line, lines + 1);
  EXPECT_FALSE(split_traces(whole).cut_line);
  auto store = empty_store();
  EXPECT_THAT(import_all(store, cut), ElementsAre(""));
  EXPECT_EQ(*store.lines(*store.find("a")), cut.substr(0, cut.rfind('\n') + 1));
  EXPECT_EQ(store.find("a")->state, "cut off") << "this process does not make it";
  ASSERT_TRUE(store.tag(*store.find("a"), "kept"));
  EXPECT_THAT(import_all(store, whole), ElementsAre("longer"));
  EXPECT_EQ(*store.lines(*store.find("a")), whole);
  const auto row = *store.find("a");
  EXPECT_EQ(row.state, "done");
  EXPECT_EQ(row.requests, 3);
  EXPECT_THAT(row.tags, ElementsAre("kept"));
  EXPECT_THAT(import_all(store, whole), ElementsAre(HasSubstr("in the store already")));
  EXPECT_THAT(import_all(store, cut), ElementsAre(HasSubstr("already, and longer")));
  EXPECT_THAT(import_all(store, trace_text("a", 4)), ElementsAre(HasSubstr("another study")));
  EXPECT_EQ(*store.lines(*store.find("a")), whole);
}

TEST(Store, takes_no_study_away_that_has_a_tag_or_runs) {
  std::vector<StudyRow> studies(4);  // the newest first
  for (std::size_t i = 0; i < studies.size(); ++i) {
    studies[i].id = std::to_string(i);
    studies[i].created = "2026-0" + std::to_string(4 - i) + "-01T00:00:00Z";
    studies[i].bytes = 10;
    studies[i].state = "done";
  }
  EXPECT_THAT(ids(to_prune(studies, 25, {})), ElementsAre("3", "2"));
  EXPECT_THAT(ids(to_prune(studies, 40, {})), ElementsAre());
  EXPECT_THAT(ids(to_prune(studies, {}, "2026-03-01T00:00:00Z")), ElementsAre("3", "2"));
  studies[3].tags = {"kept"};
  studies[2].state = "running";
  EXPECT_THAT(ids(to_prune(studies, 25, {})), ElementsAre("1", "0"));
}

TEST(Store, gives_the_room_of_what_it_removes_back) {
  auto store = empty_store();
  put_study(store, sample_header("kept"), 1);
  const auto pages = *store.database().number("PRAGMA page_count");
  put_study(store, sample_header("gone"), 200);
  ASSERT_GT(*store.database().number("PRAGMA page_count"), pages + 5);
  ASSERT_TRUE(store.remove({*store.find("gone")}));
  EXPECT_LE(*store.database().number("PRAGMA page_count"), pages + 1);
  for (const char* table : {"record", "request", "launch"})
    EXPECT_EQ(*store.database().number(std::string("SELECT count(*) FROM ") + table +
                                       " WHERE study NOT IN (SELECT key FROM study)"),
              0)
        << table;
}

/// Whatever is looked for, only the studies' own rows are gone through: requests and records are
/// many.
TEST(Store, searches_by_indices) {
  auto store = empty_store();
  std::vector<std::string> queries;
  StudyFilter studies;
  queries.push_back(list_sql(studies));
  studies.model = studies.kind = studies.since = studies.tag = "x";
  queries.push_back(list_sql(studies));
  queries.push_back(requests_sql({}));
  queries.push_back(requests_sql({"x", "x", "x"}));
  queries.push_back(requests_sql({{}, "x", {}}));
  for (const auto& query : queries) {
    auto plan = store.database().prepare("EXPLAIN QUERY PLAN " + query);
    ASSERT_TRUE(plan) << query;
    while (*plan->step()) {
      const auto step = plan->text(3);
      EXPECT_TRUE(step.rfind("SCAN", 0) != 0 || step == "SCAN study USING INDEX study_by_time")
          << step << " in " << query;
    }
  }
}

/// A trace of any shape, its lines with more spaces in them than this program would write.
std::string any_trace() {
  std::string text = trace::line_of({0, sample_header("t")}) + "\n";
  const int launches = *rc::gen::inRange(0, 4);
  for (int launch = 0; launch < launches; ++launch) {
    text += trace::line_of({0, sample_launch(launch)}) + "\n";
    const int requests = *rc::gen::inRange(0, 4);
    for (int i = 0; i < requests; ++i) {
      auto request =
          sample_request(*rc::gen::arbitrary<std::string>(), *rc::gen::arbitrary<bool>());
      request.text = *rc::gen::arbitrary<std::string>();
      request.repetition = i;
      text +=
          trace::line_of({launch, request}) + std::string(*rc::gen::inRange(0u, 3u), ' ') + "\n";
    }
    if (*rc::gen::arbitrary<bool>()) text += trace::line_of({launch, trace::Outcome()}) + "\n";
    if (*rc::gen::arbitrary<bool>()) {
      text += trace::line_of({0, trace::Resumption{"", launch + 1, {}}}) + "\n";
    }
  }
  if (*rc::gen::arbitrary<bool>()) text += trace::line_of({0, trace::End{}}) + "\n";
  return text;
}

RC_GTEST_PROP(Store, exports_byte_for_byte_what_it_imported, ()) {
  const std::string text = any_trace();
  auto one = empty_store();
  RC_ASSERT(import_all(one, text) == std::vector<std::string>{""});
  const auto exported = *one.lines(*one.find("last"));
  RC_ASSERT(exported == text);
  auto other = empty_store();
  RC_ASSERT(import_all(other, exported) == std::vector<std::string>{""});
  RC_ASSERT(*other.lines(*other.find("last")) == text);
  RC_ASSERT(trace::read_trace(text)->launches.size() ==
            static_cast<std::size_t>(one.find("last")->launches));
}

}  // namespace
}  // namespace paceline::store
