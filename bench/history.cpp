// How long the store takes to list and to filter when it holds a million requests: studies of a
// thousand requests each, every one a copy of a study that the journal wrote.

#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>

#include "store/store.hpp"
#include "store/study_journal.hpp"

namespace {

using namespace paceline;

constexpr double most_ms = 100;
constexpr int requests_of_study = 1000;

trace::Request request(int number) {
  trace::Request request;
  request.prompt_id = fmt::format("p{}", number);
  request.workload_class = number % 2 == 0 ? "json" : "code";
  if (number % 100 == 0) request.outcome.kind = trace::OutcomeKind::failed;
  for (int token = 0; token < 64; ++token)
    request.emissions.push_back({token - 1, {token}, 0, 0, token * 10'000'000, {}});
  request.passes.resize(63);
  return request;
}

util::Result<void> put_first(store::Store& store) {
  PACELINE_TRY_ASSIGN(auto transaction, store::Transaction::begin(store.database()));
  store::StudyJournal journal(store.database());
  trace::Header header;
  header.trace_id = "20260101T000000Z-000001";
  header.created = "2026-01-01T00:00:00Z";
  header.workload = "lab";
  header.arms.push_back({"plain", {}, {}});
  header.arms[0].setup.model_path = "model-1.gguf";
  PACELINE_TRY(journal.begin(header));
  trace::Launch launch;
  launch.arm = "plain";
  PACELINE_TRY(journal.launch(launch));
  for (int i = 0; i < requests_of_study; ++i) PACELINE_TRY(journal.request(0, request(i)));
  PACELINE_TRY(journal.launch_end(0, {}));
  PACELINE_TRY(journal.end(false));
  return transaction.commit();
}

/// Studies 2 to `studies`, a minute after one another, of seven models.
util::Result<void> copy_first(store::Database& database, int studies) {
  for (int number = 2; number <= studies; ++number) {
    PACELINE_TRY_ASSIGN(auto transaction, store::Transaction::begin(database));
    PACELINE_TRY(database.run(
        "INSERT INTO study (id, created, kind, tool_version, workload, models, state, launches, "
        "requests, failed, bytes) SELECT printf('20260101T000000Z-%06x', ?1), "
        "strftime('%Y-%m-%dT%H:%M:%SZ', '2026-01-01', ?1 || ' minutes'), 'run', tool_version, "
        "workload, printf('model-%d.gguf', ?1 % 7), state, launches, requests, failed, bytes FROM "
        "study WHERE key = 1",
        number));
    const auto study = database.last_key();
    PACELINE_TRY(database.run(
        "INSERT INTO record (study, line) SELECT ?, line FROM record WHERE study = 1", study));
    PACELINE_TRY(
        database.run("INSERT INTO launch (study, number, round, arm, outcome) SELECT ?, number, "
                     "round, arm, outcome FROM launch WHERE study = 1",
                     study));
    PACELINE_TRY(database.run(
        "INSERT INTO request (study, launch, prompt_id, class, outcome, warm_up, in_load, "
        "output_tokens, decode_s) SELECT ?, ?, prompt_id, class, outcome, warm_up, in_load, "
        "output_tokens, decode_s FROM request WHERE study = 1",
        study, database.last_key()));
    if (number % 50 == 0)
      PACELINE_TRY(database.run("INSERT INTO tag (study, name) VALUES (?, 'kept')", study));
    PACELINE_TRY(transaction.commit());
  }
  return {};
}

struct Question {
  const char* name;
  std::function<util::Result<std::size_t>()> ask;  ///< how many rows came
};

template <class Rows>
util::Result<std::size_t> count(const util::Result<Rows>& rows) {
  if (!rows) return tl::unexpected<util::Error>(rows.error());
  return rows->size();
}

/// False when one took longer than the limit.
util::Result<bool> time_all(const std::vector<Question>& questions, int turns) {
  bool quick = true;
  fmt::print("{:<44} {:>6} {:>9} {:>9}\n", "question", "rows", "median ms", "worst ms");
  for (const auto& question : questions) {
    std::vector<double> times;
    std::size_t rows = 0;
    for (int turn = 0; turn < turns; ++turn) {
      const auto began = std::chrono::steady_clock::now();
      PACELINE_TRY_ASSIGN(rows, question.ask());
      times.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
              .count());
    }
    std::sort(times.begin(), times.end());
    quick = quick && times[times.size() / 2] < most_ms;
    fmt::print("{:<44} {:>6} {:>9.2f} {:>9.2f}\n", question.name, rows, times[times.size() / 2],
               times.back());
  }
  return quick;
}

util::Result<bool> measure(const std::filesystem::path& file, int requests, int turns) {
  PACELINE_TRY_ASSIGN(auto store, store::Store::open(file));
  PACELINE_TRY(put_first(store));
  PACELINE_TRY(copy_first(store.database(), requests / requests_of_study));
  PACELINE_TRY_ASSIGN(const auto all, store.database().number("SELECT count(*) FROM request"));
  fmt::print("{} requests in {} studies, {} MB\n", all, requests / requests_of_study,
             std::filesystem::file_size(file) / 1'000'000);
  PACELINE_TRY_ASSIGN(const auto last, store.find("last"));
  store::StudyFilter newest;
  newest.limit = 50;
  store::StudyFilter tagged;
  tagged.tag = "kept";
  store::StudyFilter rare;
  rare.model = "no such model";
  rare.since = "2026-01-01";
  return time_all(
      {{"the newest study, the store opened for it",
        [&]() -> util::Result<std::size_t> {
          PACELINE_TRY_ASSIGN(auto opened, store::Store::open(file));
          PACELINE_TRY(opened.find("last"));
          return 1u;
        }},
       {"the newest 50 studies", [&] { return count(store.list(newest)); }},
       {"all studies", [&] { return count(store.list({})); }},
       {"studies with a tag", [&] { return count(store.list(tagged)); }},
       {"studies of a model that there is none of", [&] { return count(store.list(rare)); }},
       {"a study by a part of its id",
        [&]() -> util::Result<std::size_t> {
          PACELINE_TRY(store.find("-0000aa"));
          return 1u;
        }},
       {"requests of a study", [&] { return count(store.requests(last, {})); }},
       {"failed requests of a class of a study",
        [&] {
          return count(store.requests(last, {"plain", "json", "failed"}));
        }}},
      turns);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Time to list and filter a store of many requests; 1 when one takes over 100 ms.",
               "history");
  int requests = 1'000'000;
  int turns = 20;
  app.add_option("--requests", requests, "In the store")->check(CLI::Range(1000, 100'000'000));
  app.add_option("--turns", turns, "Each question is asked so often")->check(CLI::Range(1, 10'000));
  CLI11_PARSE(app, argc, argv);
  std::string folder = (std::filesystem::temp_directory_path() / "bench-history-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 3;
  const auto quick = measure(std::filesystem::path(folder) / "store.db", requests, turns);
  std::filesystem::remove_all(folder);
  if (!quick) fmt::print(stderr, "history: {}\n", quick.error().message);
  return !quick ? 3 : *quick ? 0 : 1;
}
