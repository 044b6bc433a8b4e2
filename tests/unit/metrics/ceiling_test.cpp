#include "metrics/ceiling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "metrics/bytes_read.hpp"
#include "metrics/summary.hpp"
#include "support/request_builder.hpp"

namespace paceline::metrics {
namespace {

using ::testing::HasSubstr;
using tests::launch_of;
using tests::RequestBuilder;
using tests::trace_of;

constexpr std::uint64_t MB = 1'000'000;
constexpr trace::Nanoseconds ms = 1'000'000;

/// 400 MB of weights and a table of which each token reads 16 rows of 1 kB.
model::ReadFacts big_model() {
  model::ReadFacts reads;
  reads.weights = {{"feed-forward", 300 * MB, 0}, {"attention", 80 * MB, 0}, {"head", 20 * MB, 0}};
  reads.rows = {{"n-gram table", 16, 1000, 0, 900 * MB, 0}};
  return reads;
}

trace::EngineFacts facts_of(const model::ReadFacts& reads) {
  trace::EngineFacts facts;
  facts.target.reads = reads;
  facts.n_ctx = 4096;
  facts.n_ubatch = 512;
  facts.cache_type_k = facts.cache_type_v = "f16";
  return facts;
}

/// A launch whose passes each take `pass_ms`, on a machine that reads `gb_per_s`.
trace::Launch launch(const std::string& arm, int round, int pass_ms, double gb_per_s) {
  std::vector<trace::Request> requests;
  for (const char* id : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
    RequestBuilder request(id, "json");
    for (int pass = 0; pass < 5; ++pass) request.plain(pass_ms + (id[0] == 'a' ? 1 : 0));
    requests.push_back(request.build());
  }
  auto result = launch_of(arm, round, std::move(requests));
  result.facts = facts_of(big_model());
  trace::MemorySpeed speed;
  speed.threads = 2;
  speed.read_bytes_per_s = {gb_per_s * 0.9e9, gb_per_s * 1e9, gb_per_s * 0.95e9};
  speed.llc_bytes = 32 * MB;
  speed.gathers = {{"n-gram table", 1024, 900 * MB, {90, 100, 500}}};
  result.memory_speed = speed;
  trace::WidthTime width;
  width.width = 1;
  width.verify_ns = {(pass_ms - 2) * ms};
  result.widths = {width};
  return result;
}

trace::Trace run_of(int pass_ms, double gb_per_s) {
  auto trace = trace_of({"plain"}, {launch("plain", 0, pass_ms, gb_per_s),
                                    launch("plain", 1, pass_ms, gb_per_s * 1.01),
                                    launch("plain", 2, pass_ms, gb_per_s * 0.99)});
  trace.header.rounds = 3;
  return trace;
}

Ceiling ceiling_in(const trace::Trace& trace) {
  return summarise(trace, equal_mix(trace)).arms.at(0).classes.at(0).ceiling;
}

// 400.016 MB in 20 ms (a: 21 ms) is 19.9 GB/s; of 40 GB/s it is a half.
TEST(ceiling, is_bytes_over_bandwidth_and_time_with_the_interval_of_both) {
  const Ceiling ceiling = ceiling_in(run_of(20, 40));
  EXPECT_NEAR(ceiling.bytes_per_pass, 400.016e6, 1);
  const double mean_s = (8 * 0.020 + 0.021) / 9;
  EXPECT_NEAR(*ceiling.read_bytes_per_s.value, 400.016e6 / mean_s, 1e3);
  EXPECT_NEAR(*ceiling.bandwidth.value, 40e9 * std::cbrt(1.01 * 0.99), 1e6);
  EXPECT_NEAR(*ceiling.share.value, 400.016e6 / mean_s / 40e9, 1e-4);
  const auto width = [](const Estimate& estimate) {
    return std::log(*estimate.high / *estimate.low);
  };
  EXPECT_NEAR(width(ceiling.share),
              std::hypot(width(ceiling.read_bytes_per_s), width(ceiling.bandwidth)), 1e-9);
  ASSERT_EQ(ceiling.largest.size(), 3u);
  EXPECT_EQ(ceiling.largest[0].first, "feed-forward");
  EXPECT_NEAR(ceiling.largest[0].second, 300e6, 1);
  EXPECT_FALSE(ceiling.has_model);
}

TEST(ceiling, terms_add_up_to_the_pass_and_the_largest_names_it) {
  const auto trace = run_of(20, 40);
  const Ceiling ceiling = ceiling_in(trace);
  ASSERT_TRUE(ceiling.terms) << ceiling.no_terms;
  const PassTerms& terms = *ceiling.terms;
  EXPECT_NEAR(terms.reading_s, 400e6 / *ceiling.bandwidth.value, 1e-9);
  EXPECT_NEAR(terms.gathering_s, 16 * 100e-9, 1e-12);  // the median of 90, 100 and 500 ns
  EXPECT_NEAR(terms.reading_s + terms.gathering_s + terms.computing_s, 0.018, 1e-9);
  const double mean_s = (8 * 0.020 + 0.021) / 9;
  EXPECT_NEAR(terms.host_s, mean_s - 0.018, 1e-6);
  EXPECT_EQ(terms.drafting_s, 0);
  EXPECT_EQ(terms.bound, "bandwidth-bound");
}

TEST(ceiling, a_slow_table_makes_it_gather_bound) {
  auto trace = run_of(20, 400);
  for (auto& launch : trace.launches) launch.memory_speed->gathers[0].ns_per_row = {1'000'000};
  const Ceiling ceiling = ceiling_in(trace);
  EXPECT_NEAR(ceiling.terms->gathering_s, 0.016, 1e-9);
  EXPECT_EQ(ceiling.terms->bound, "gather-bound");
}

// Each pass waits for 10 of its 16 rows for 300 us each, which passes timed alone don't.
trace::Trace run_with_disk(int pass_ms, long pages_per_request) {
  auto trace = run_of(pass_ms, 400);
  for (auto& launch : trace.launches) {
    launch.memory_speed->gathers[0].ns_per_disk_page = {100e3, 500e3};
    launch.widths[0].verify_ns = {2 * ms};
    for (auto& request : launch.requests) request.disk_pages = pages_per_request;
  }
  return trace;
}

TEST(ceiling, rows_that_come_from_disk_are_gathering_and_not_the_host) {
  const Ceiling ceiling = ceiling_in(run_with_disk(6, 50));
  ASSERT_TRUE(ceiling.terms) << ceiling.no_terms;
  EXPECT_NEAR(ceiling.terms->gathering_s, 10 * 300e-6 + 16 * 100e-9, 1e-9);
  EXPECT_NEAR(ceiling.terms->host_s, (8 * 0.006 + 0.007) / 9 - 0.002 - 0.003, 1e-9);
  EXPECT_EQ(ceiling.terms->bound, "gather-bound");
  EXPECT_NEAR(ceiling_in(run_with_disk(6, 0)).terms->gathering_s, 16 * 100e-9, 1e-12);
}

TEST(ceiling, a_pass_is_not_taken_apart_where_disk_reads_have_no_known_time_or_cause) {
  EXPECT_THAT(ceiling_in(run_with_disk(20, 5 * 33)).no_terms, HasSubstr("more than rows"));
  EXPECT_TRUE(ceiling_in(run_with_disk(20, 5 * 32)).terms) << "a row can lie on two pages";
  auto trace = run_with_disk(20, 5);
  trace.launches[1].requests[2].disk_pages.reset();
  EXPECT_THAT(ceiling_in(trace).no_terms, HasSubstr("does not say what came from disk"));
  trace = run_with_disk(20, 5);
  for (auto& launch : trace.launches) launch.memory_speed->gathers[0].ns_per_disk_page.clear();
  EXPECT_THAT(ceiling_in(trace).no_terms, HasSubstr("1 pages of a pass had to come from disk"));
  for (auto& launch : trace.launches)
    for (auto& request : launch.requests) request.disk_pages = 4;
  EXPECT_TRUE(ceiling_in(trace).terms) << "less than one a pass";
}

TEST(ceiling, what_nothing_else_explains_is_computing_or_the_host) {
  EXPECT_EQ(ceiling_in(run_of(100, 40)).terms->bound, "compute-bound at this width");
  auto trace = run_of(100, 40);
  for (auto& launch : trace.launches) launch.widths[0].verify_ns = {30 * ms};
  EXPECT_EQ(ceiling_in(trace).terms->bound, "host-bound");
}

TEST(ceiling, what_binds_is_unclear_where_the_largest_leads_by_less_than_another_is_below_zero) {
  auto trace = run_of(20, 38);  // reading 10.5 of 20.1 ms
  const auto bound = [&](int verify_ms) {
    for (auto& launch : trace.launches) launch.widths[0].verify_ns = {verify_ms * ms};
    return ceiling_in(trace).terms->bound;
  };
  EXPECT_EQ(bound(24), "unclear") << "computing 13.5, host -3.9";
  EXPECT_EQ(bound(22), "unclear") << "11.5 and -1.9";
  EXPECT_EQ(bound(18), "bandwidth-bound") << "7.5 and 2.1";
  EXPECT_EQ(bound(16), "bandwidth-bound");
  for (auto& launch : trace.launches) launch.memory_speed->read_bytes_per_s = {400e9};
  EXPECT_EQ(bound(24), "compute-bound at this width") << "23 and -3.9, reading 1";
}

TEST(ceiling, is_null_where_a_cache_may_hold_the_working_set) {
  auto trace = run_of(20, 40);
  for (auto& launch : trace.launches) launch.memory_speed->llc_bytes = 101 * MB;
  const Ceiling ceiling = ceiling_in(trace);
  EXPECT_FALSE(ceiling.share.value);
  EXPECT_THAT(ceiling.share.reason, HasSubstr("cache: a pass reads 400 MB"));
  EXPECT_EQ(ceiling.terms->reading_s, 0);
  EXPECT_EQ(ceiling.terms->bound, "compute-bound at this width");
  EXPECT_TRUE(ceiling.read_bytes_per_s.value);
  for (auto& launch : trace.launches) launch.memory_speed->llc_bytes = 100 * MB;
  EXPECT_TRUE(ceiling_in(trace).share.value) << "four times as much is enough";
}

TEST(ceiling, a_speed_above_it_with_certainty_is_a_contradiction) {
  const auto sentence = [](const trace::Trace& trace) {
    const auto summary = summarise(trace, equal_mix(trace));
    return find_ceiling_contradiction("plain", summary.arms.at(0).classes.at(0));
  };
  EXPECT_EQ(sentence(run_of(20, 40)), "");
  EXPECT_EQ(sentence(run_of(20, 19.6)), "") << "1.01, and the interval holds 1";
  const auto trace = run_of(20, 10);
  EXPECT_THAT(sentence(trace), HasSubstr("more than the memory was measured to give (10 GB/s)"));
  const auto summary = summarise(trace, equal_mix(trace));
  EXPECT_THAT(summary.contradictions, testing::Contains(sentence(trace)));
}

TEST(ceiling, says_why_it_is_unknown) {
  auto trace = run_of(20, 40);
  for (auto& launch : trace.launches) launch.memory_speed.reset();
  EXPECT_THAT(ceiling_in(trace).share.reason, HasSubstr("not measured in this run"));
  trace = run_of(20, 40);
  for (auto& launch : trace.launches) {
    launch.facts->target.reads.reset();
    launch.facts->target.reads_unknown = "rules of 'mamba' are not known";
  }
  EXPECT_THAT(ceiling_in(trace).share.reason, HasSubstr("mamba"));
  trace = run_of(20, 40);
  for (auto& launch : trace.launches)
    launch.facts->target_placement = trace::Placement{{"CUDA0"}, 33, 33, {}};
  EXPECT_THAT(ceiling_in(trace).share.reason, HasSubstr("device"));
  trace = run_of(20, 40);
  for (auto& launch : trace.launches) launch.facts->server = trace::ServerFacts{};
  EXPECT_THAT(ceiling_in(trace).share.reason, HasSubstr("server"));
  trace = run_of(20, 40);
  for (auto& launch : trace.launches) launch.widths.clear();
  EXPECT_TRUE(ceiling_in(trace).share.value);
  EXPECT_FALSE(ceiling_in(trace).terms);
}

trace::Pass pass_of(int width, int depth, int generated) {
  trace::Pass pass;
  pass.width = width;
  pass.depth = depth;
  if (generated > 0) {
    pass.drafter = "draft-simple";
    pass.attempts = 1;
    pass.generated = generated;
    pass.offered = width - 1;
  }
  return pass;
}

// Weights 100; KV: 2 layers of 4 + 4 elements of 2 bytes, cells in steps of 256.
TEST(bytes_read, are_those_of_each_pass_at_its_depth_and_of_its_drafts) {
  model::ReadFacts target;
  target.weights = {{"attention", 100, 0}};
  target.caches = {{2, 4, 4, 0}};
  model::ReadFacts drafter;
  drafter.weights = {{"attention", 10, 0}};
  trace::EngineFacts facts = facts_of(target);
  facts.drafter = model::FileFacts{};
  facts.drafter->reads = drafter;
  trace::Setup setup;
  setup.spec_type = trace::SpecType::draft_simple;
  trace::Request request;
  request.passes = {pass_of(1, 10, 0), pass_of(4, 255, 3)};
  const auto bytes = bytes_read(facts, setup, request);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(bytes->by_class.at("attention"), 200);
  EXPECT_EQ(bytes->by_class.at("KV"), 2 * 8 * 2 * (256 + 512));
  // A pass to take in what each of the two verified, and one for each of three drafted tokens.
  EXPECT_EQ(drafter_bytes(*bytes), (2 + 3) * 10);
  EXPECT_EQ(total_bytes(*bytes), 200 + 32 * 768 + 50);
  request.passes[1].drafter = "ngram-simple";
  EXPECT_EQ(drafter_bytes(*bytes_read(facts, setup, request)), 2 * 10)
      << "a draft of n-grams costs the drafter nothing";
  facts.drafter->reads.reset();
  EXPECT_FALSE(bytes_read(facts, setup, request));
}

}  // namespace
}  // namespace paceline::metrics
