#include "document/load.hpp"

#include <gtest/gtest.h>

#include "document/json.hpp"
#include "support/sample_run.hpp"
#include "util/json.hpp"

namespace paceline::document {
namespace {

metrics::LoadResults two_cells() {
  metrics::LoadResults loads;
  metrics::LoadSummary cell;
  cell.arm = "plain";
  cell.level = 4;
  cell.launches = 3;
  cell.planned = cell.done = 24;
  cell.tokens_rule = "by the arrival of each event";
  cell.tokens_per_s = support::estimate(200, 190, 210);
  cell.forwards = metrics::Count::unknown("the server does not count it");
  cell.sequence_passes = 1500;
  cell.ttft_p99_s = metrics::unknown("too few: 24 values");
  loads.cells.push_back(cell);
  cell.loop = trace::LoadLoop::open;
  cell.level = 0;
  cell.rate_per_s = 2.5;
  cell.refusal = "the client was the bottleneck: it took 90 % of a core, over 70 %";
  cell.lag_p99_s = 0.002;
  loads.cells.push_back(cell);
  loads.crossovers.push_back(
      {"mtp-n3", std::nullopt, "cannot tell at 4", {{4, metrics::unknown("no"), "cannot tell"}}});
  return loads;
}

Document loaded_document() {
  auto summary = support::sample_summary();
  summary.loads = two_cells();
  return assemble(support::sample_trace(), summary, support::sample_mix(),
                  support::sample_machine());
}

util::Json json_of(const Document& document) {
  return *util::parse_json(to_json_text(document), "the document");
}

TEST(DocumentLoad, is_an_empty_list_where_one_request_ran_at_a_time) {
  const auto json = json_of(support::sample_document());
  EXPECT_EQ(json["loads"], util::Json::array());
  EXPECT_EQ(json["crossover_concurrency"], util::Json::array());
  EXPECT_EQ(json["concurrency"]["says"],
            "one request at a time: rates are those of one sequence alone");
}

TEST(DocumentLoad, keeps_what_is_not_known_apart_from_zero) {
  const auto json = json_of(loaded_document());
  const auto& load = json["loads"].at(0);
  EXPECT_EQ(load["loop"], "closed");
  EXPECT_EQ(load["concurrency"], 4);
  EXPECT_EQ(load["rate_per_s"]["value"], nullptr);
  EXPECT_EQ(load["tokens_per_s"]["value"], 200);
  EXPECT_EQ(load["sequence_passes"], 1500);
  EXPECT_EQ(load["forwards"],
            (util::Json{{"value", nullptr}, {"reason", "the server does not count it"}}));
  EXPECT_EQ(load["ttft_s"]["p99"]["reason"], "too few: 24 values");
  EXPECT_EQ(load["client"]["bottleneck"]["reason"], "the client kept up");
  EXPECT_EQ(json["loads"].at(1)["rate_per_s"], 2.5);
  EXPECT_EQ(json["loads"].at(1)["client"]["lag_p99_s"], 0.002);
}

TEST(DocumentLoad, says_at_which_concurrency_its_figures_are) {
  EXPECT_EQ(loaded_document().concurrency.says,
            "one request at a time: rates are those of one sequence alone; then 4 at once, of "
            "which loads[] tell; then 2.5 due per second, likewise");
  const auto json = json_of(loaded_document());
  EXPECT_EQ(json["crossover_concurrency"].at(0)["says"], "cannot tell at 4");
  EXPECT_EQ(json["crossover_concurrency"].at(0)["concurrency"]["value"], nullptr);
}

TEST(DocumentLoad, warns_of_a_client_that_was_the_bottleneck) {
  const auto document = loaded_document();
  const auto found = std::find_if(
      document.warnings.begin(), document.warnings.end(),
      [](const Warning& warning) { return warning.kind == WarningKind::client_bottleneck; });
  ASSERT_NE(found, document.warnings.end());
  EXPECT_NE(found->text.find("plain at 2.5 requests/s"), std::string::npos);
}

}  // namespace
}  // namespace paceline::document
