#include "worker/llama/runtime.hpp"

#include <gtest/gtest.h>

namespace paceline::worker {
namespace {

const LibraryVersions ours{"0.5.0-dev", "0.25.1", "b1-0ad4a86"};

TEST(Runtime, TheLinkedLibrariesAreThePinnedOnes) {
  EXPECT_TRUE(check_versions(loaded_versions(), pinned_versions()).has_value());
}

TEST(Runtime, EachVersionThatDiffersIsRefusedWithBothSides) {
  for (const LibraryVersions& found : {LibraryVersions{"0.6.0", "0.25.1", "b1-0ad4a86"},
                                       LibraryVersions{"0.5.0-dev", "0.26.0", "b1-0ad4a86"},
                                       LibraryVersions{"0.5.0-dev", "0.25.1", "b1-de3ff81"}}) {
    const auto checked = check_versions(found, ours);
    ASSERT_FALSE(checked.has_value());
    for (const std::string& part : {found.llama, found.ggml, found.build, ours.build})
      EXPECT_NE(checked.error().message.find(part), std::string::npos) << checked.error().message;
  }
}

/// Lines as llama.cpp v0.5.0 writes them (llama-model.cpp, llama-context.cpp).
TEST(Runtime, PlacementIsReadFromTheLibrarysLog) {
  PlacementLog log;
  read_placement("load_tensors: offloading 32 repeating layers to GPU\n", log);
  EXPECT_FALSE(log.layers_offloaded.has_value());
  read_placement("load_tensors: offloaded 20/33 layers to GPU\n", log);
  EXPECT_EQ(log.layers_offloaded, 20);
  EXPECT_EQ(log.layers, 33);
  read_placement(
      "sched_reserve: graph (pp bs=512, tg bs=1): nodes = 10 / 12, splits = 5 / 3, input objects = "
      "1, input tensors = 4\n",
      log);
  EXPECT_EQ(log.graph_splits, "5 / 3");
  read_placement("sched_reserve: graph: nodes = 10, splits = 1, input objects = 1\n", log);
  EXPECT_EQ(log.graph_splits, "1") << "the last graph counts";
}

}  // namespace
}  // namespace paceline::worker
