#include "synth/shape.hpp"

#include <gtest/gtest.h>

#include "synth/plan.hpp"

namespace paceline::synth {
namespace {

Plan like(const std::string& name, double scale = 1,
          std::map<std::string, std::int64_t> shape = {}) {
  protocol::Invent job;
  job.like = name;
  job.scale = scale;
  job.shape = std::move(shape);
  return plan(job).value();
}

// Added up by hand from the published configurations, or published themselves.
TEST(KnownModels, HaveTheParametersThatArePublic) {
  EXPECT_EQ(like("smol-135m").parameters(), 134515008u) << "as its model card says";
  EXPECT_EQ(like("muse-glimmer-30b").parameters(), 27854794240u) << "without its vision tower";
  const double gemma = static_cast<double>(like("gemma-4-31b").parameters());
  EXPECT_NEAR(gemma, 30.7e9, 0.05e9);
  const double qwen = static_cast<double>(like("qwen3.8-27b").parameters());
  EXPECT_NEAR(qwen, 27.4e9, 0.5e9);
  const double flash = static_cast<double>(like("qwen3.8-flash-next").parameters());
  EXPECT_NEAR(flash, 176e9, 3e9) << "125 B and the 51 B of the n-gram tables";
}

TEST(KnownModels, SayWhatOfThemIsAssumed) {
  const auto said = [](const std::string& name) {
    for (const std::string& note : like(name).notes)
      if (note.find("assumed") != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(said("qwen3.8-27b"));
  EXPECT_TRUE(said("qwen3.8-flash-next"));
  EXPECT_FALSE(said("gemma-4-31b"));
}

TEST(Scale, GivesAboutThatShareOfTheParameters) {
  for (const KnownModel& model : known_models()) {
    const double whole = static_cast<double>(like(model.name).parameters());
    for (const double scale : {0.02, 0.1, 0.5}) {
      const double share = static_cast<double>(like(model.name, scale).parameters()) / whole;
      EXPECT_NEAR(share / scale, 1, 0.15) << model.name << " at " << scale;
    }
  }
}

TEST(Scale, KeepsHeadSizesAndWholeBlocksOfEveryQuantisation) {
  for (const KnownModel& model : known_models()) {
    const Shape shape = like(model.name, 0.05).shape;
    EXPECT_EQ(shape.head_dim, model.shape.head_dim) << model.name;
    EXPECT_EQ(shape.embd % 256, 0) << model.name;
    EXPECT_EQ(shape.ff % 256, 0) << model.name;
    EXPECT_EQ(shape.layers % shape.interval, 0) << model.name;
    EXPECT_EQ(shape.heads % shape.kv_heads, 0) << model.name;
  }
}

TEST(Shape, TakesNumbersInPlaceOfTheKnownModels) {
  const Plan plan = like("smol-135m", 1, {{"layers", 2}, {"vocab", 1000}});
  EXPECT_EQ(plan.shape.layers, 2);
  // 1000 x 576 + 2 x 3,540,096 + 576
  EXPECT_EQ(plan.parameters(), 7656768u);
}

TEST(Shape, RefusesWhatNoModelCanBe) {
  const auto refused = [](const char* architecture, std::map<std::string, std::int64_t> shape) {
    protocol::Invent job;
    job.architecture = architecture;
    job.shape = std::move(shape);
    const auto made = plan(job);
    return made ? std::string() : made.error().message;
  };
  EXPECT_NE(refused("llama", {{"layers", 0}}).find("takes 1 to 512"), std::string::npos);
  EXPECT_NE(refused("llama", {{"lairs", 1}}).find("no number --lairs"), std::string::npos);
  EXPECT_NE(refused("llama", {{"heads", 5}}).find("take a divisor"), std::string::npos);
  EXPECT_NE(refused("gemma4", {{"layers", 1}}).find("--layers 2"), std::string::npos);
  EXPECT_NE(refused("gpt9", {}).find("muse-glimmer"), std::string::npos);
  EXPECT_NE(refused("dflash", {}).find("no architecture"), std::string::npos);
  EXPECT_NE(refused("", {}).find("nothing says what to write"), std::string::npos);
}

}  // namespace
}  // namespace paceline::synth
