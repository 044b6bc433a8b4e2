#include "report/notes.hpp"

#include <gtest/gtest.h>

namespace paceline::report {
namespace {

TEST(Notes, NumberEachReasonOnce) {
  Notes notes;
  EXPECT_EQ(notes.mark("no plain arm"), "(1)");
  EXPECT_EQ(notes.mark("too few"), "(2)");
  EXPECT_EQ(notes.mark("no plain arm"), "(1)");
  EXPECT_EQ(notes.reasons(), (std::vector<std::string>{"no plain arm", "too few"}));
}

}  // namespace
}  // namespace paceline::report
