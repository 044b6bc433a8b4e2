#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workload/prompts.hpp"

// For tests of readers: excerpts in the shape of published files, none of whose text is here.
namespace paceline::support {

using Notes = std::vector<std::string>;

inline workload::Workload read_published(const std::string& text) {
  const auto result = workload::read_workload(text, "published");
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or(workload::Workload{});
}

inline std::string refusal_of_published(const std::string& text) {
  const auto result = workload::read_workload(text, "published");
  return result ? "" : result.error().message;
}

}  // namespace paceline::support
