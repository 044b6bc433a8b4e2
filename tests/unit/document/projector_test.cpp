#include "document/projector.hpp"

#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

trace::ProjectorFacts seen(double encode_s) {
  trace::ProjectorFacts facts;
  facts.file.architecture = "clip";
  facts.allocated_bytes = 900;
  facts.image_width = facts.image_height = 448;
  facts.image_tokens = 256;
  facts.prompt_tokens = 263;
  facts.encode_s = encode_s;
  return facts;
}

TEST(ProjectorOfARun, is_unknown_where_none_was_loaded) {
  const auto projector = to_projector(support::sample_trace());
  EXPECT_FALSE(projector.value);
  EXPECT_FALSE(projector.reason.empty());
}

TEST(ProjectorOfARun, has_the_spread_of_its_launches) {
  auto trace = support::sample_trace();
  trace.launches[0].facts->projector = seen(0.5);
  trace.launches[1].facts->projector = seen(0.2);
  auto projector = to_projector(trace);
  ASSERT_TRUE(projector.value);
  EXPECT_EQ(projector.value->launches, 2);
  EXPECT_DOUBLE_EQ(projector.value->encode_s.median, 0.35);
  trace.launches[2].facts->projector = seen(0.3);
  projector = to_projector(trace);
  EXPECT_DOUBLE_EQ(projector.value->encode_s.least, 0.2);
  EXPECT_DOUBLE_EQ(projector.value->encode_s.median, 0.3);
  EXPECT_DOUBLE_EQ(projector.value->encode_s.most, 0.5);
  EXPECT_EQ(projector.value->file.architecture, "clip");
}

}  // namespace
}  // namespace paceline::document
