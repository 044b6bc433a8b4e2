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

}  // namespace
}  // namespace paceline::worker
