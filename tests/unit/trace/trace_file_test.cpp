#include "trace/trace_file.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::trace {
namespace {

/// A launch with two requests and a width, taken down record by record as a run does.
std::string written_trace(const std::filesystem::path& path) {
  auto file = TraceFile::create(path);
  EXPECT_TRUE(file) << file.error().message;
  Header header;
  header.trace_id = "t1";
  header.rounds = 3;
  header.arms.push_back({"plain", {}, {}});
  EXPECT_TRUE((*file)->begin(header));
  Launch launch;
  launch.arm = "plain";
  launch.facts = EngineFacts{};
  launch.facts->target.recipe = {{"ffn_up", "f16", 40, 6'500'000'000, 13'000'000'000, "0-39"}};
  EXPECT_TRUE((*file)->launch(launch));
  Request request;
  request.prompt_id = "prose-00";
  request.passes.push_back({});
  request.emissions.push_back({});
  request.emissions[0].tokens = {17, 18};
  EXPECT_TRUE((*file)->request(0, request));
  request.prompt_id = "prose-01";
  EXPECT_TRUE((*file)->request(0, request));
  WidthTime width;
  width.width = 8;
  width.verify_ns = {50, 51};
  EXPECT_TRUE((*file)->width(0, width));
  EXPECT_TRUE((*file)->memory(
      0, {MemoryMoment::after_run, 5'000'000'000, "", std::nullopt, {{"GPU-1", 7'000'000'000}}}));
  LoadCell cell;
  cell.level = 4;
  cell.planned = 8;
  cell.requests.resize(2);
  cell.requests[1].answer.emplace();
  cell.requests[1].answer->timeline.scheduled_ns = 70;
  cell.counters_after["decodes"] = 12;
  cell.lag_p99_s = 0.25;
  EXPECT_TRUE((*file)->load(0, cell));
  cell.loop = LoadLoop::open;
  cell.rate_per_s = 2.5;
  EXPECT_TRUE((*file)->load(0, cell));
  EXPECT_TRUE((*file)->rereading(0, {{{8, 2048, 0.0011, 0.5}}, {{"prose", "prose-01", 2, 0.25}}}));
  Outcome outcome;
  outcome.kind = OutcomeKind::crashed;
  outcome.signal = 11;
  EXPECT_TRUE((*file)->launch_end(0, outcome));
  EXPECT_TRUE((*file)->end(false));
  return *util::read_file(path);
}

TEST(TraceFile, gives_back_what_was_taken_down) {
  const support::TemporaryFolder folder;
  const auto trace = read_trace(written_trace(folder.path() / "t.jsonl"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->header.trace_id, "t1");
  ASSERT_EQ(trace->launches.size(), 1u);
  const Launch& launch = trace->launches[0];
  EXPECT_EQ(launch.facts->target.recipe.at(0).bytes, 13'000'000'000u);
  ASSERT_EQ(launch.requests.size(), 2u);
  EXPECT_EQ(launch.requests[1].prompt_id, "prose-01");
  EXPECT_EQ(launch.requests[0].emissions[0].tokens, (std::vector<std::int32_t>{17, 18}));
  EXPECT_EQ(launch.widths.at(0).verify_ns, (std::vector<Nanoseconds>{50, 51}));
  ASSERT_EQ(launch.memory.size(), 1u);
  EXPECT_EQ(launch.memory[0].when, MemoryMoment::after_run);
  EXPECT_EQ(launch.memory[0].pss_bytes, 5'000'000'000u);
  EXPECT_FALSE(launch.memory[0].available_bytes);
  EXPECT_EQ(launch.memory[0].devices.at(0).bytes, 7'000'000'000u);
  ASSERT_EQ(launch.loads.size(), 2u);
  EXPECT_EQ(launch.loads[0].loop, LoadLoop::closed);
  EXPECT_EQ(launch.loads[0].level, 4);
  EXPECT_EQ(launch.loads[0].planned, 8);
  ASSERT_EQ(launch.loads[0].requests.size(), 2u);
  EXPECT_EQ(launch.loads[0].requests[1].answer->timeline.scheduled_ns, 70);
  EXPECT_TRUE(launch.loads[0].counters_before.empty());
  EXPECT_EQ(launch.loads[0].counters_after.at("decodes"), 12);
  EXPECT_EQ(launch.loads[0].lag_p99_s, 0.25);
  EXPECT_FALSE(launch.loads[0].client_cpu_s);
  EXPECT_EQ(launch.loads[1].loop, LoadLoop::open);
  EXPECT_EQ(launch.loads[1].rate_per_s, 2.5);
  ASSERT_EQ(launch.rereadings.size(), 1u);
  EXPECT_EQ(launch.rereadings[0].widths.at(0).width, 8);
  EXPECT_EQ(launch.rereadings[0].widths[0].logits, 2048);
  EXPECT_EQ(launch.rereadings[0].widths[0].p99, 0.0011);
  EXPECT_EQ(launch.rereadings[0].margins.at(0).prompt_id, "prose-01");
  EXPECT_EQ(launch.rereadings[0].margins[0].top2, 0.25);
  EXPECT_EQ(launch.outcome.kind, OutcomeKind::crashed);
  EXPECT_EQ(launch.outcome.signal, 11);
  EXPECT_FALSE(launch.outcome.exit_code);
  EXPECT_FALSE(trace->interrupted);
}

TEST(TraceFile, cut_at_any_byte_gives_the_whole_lines_before_it) {
  const support::TemporaryFolder folder;
  const std::string text = written_trace(folder.path() / "t.jsonl");
  const std::size_t header_end = text.find('\n') + 1;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    const auto trace = read_trace(std::string_view(text).substr(0, cut));
    if (cut < header_end) {
      ASSERT_FALSE(trace) << "cut at byte " << cut;
      continue;
    }
    ASSERT_TRUE(trace) << "cut at byte " << cut << ": " << trace.error().message;
    EXPECT_TRUE(trace->interrupted);
    const auto lines = std::count(text.begin(), text.begin() + static_cast<long>(cut), '\n');
    const std::size_t requests = trace->launches.empty() ? 0 : trace->launches[0].requests.size();
    EXPECT_EQ(requests, static_cast<std::size_t>(std::clamp(lines - 2, 0L, 2L)));
    const std::size_t loads = trace->launches.empty() ? 0 : trace->launches[0].loads.size();
    EXPECT_EQ(loads, static_cast<std::size_t>(std::clamp(lines - 6, 0L, 2L)));
  }
}

TEST(TraceFile, names_the_line_that_makes_no_sense) {
  const support::TemporaryFolder folder;
  std::string text = written_trace(folder.path() / "t.jsonl");
  const std::size_t second = text.find('\n') + 1;
  const auto broken = read_trace(text.substr(0, second) + "{\"record\": \"request\"}\n");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("line 2"), std::string::npos);
  const auto unknown = read_trace(text.substr(0, second) + line_of({99, WidthTime()}) + "\n");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("unknown launch"), std::string::npos);
}

TEST(TraceFile, never_overwrites_a_trace) {
  const support::TemporaryFolder folder;
  written_trace(folder.path() / "t.jsonl");
  const auto again = TraceFile::create(folder.path() / "t.jsonl");
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("exists"), std::string::npos);
  ASSERT_TRUE(util::write_file(folder.path() / "empty.jsonl", ""));
  EXPECT_TRUE(TraceFile::create(folder.path() / "empty.jsonl")) << "it says nothing yet";
}

}  // namespace
}  // namespace paceline::trace
