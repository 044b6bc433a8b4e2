#include "metrics/looks.hpp"

#include <gtest/gtest.h>

namespace {

using paceline::metrics::confidence_after;

TEST(looks, none_leave_all_of_the_error_to_the_end) { EXPECT_EQ(confidence_after(4, {}), 0.95); }

// 0.05 ln(1 + (e - 1) t) at thirds: 0.0226414, 0.0381690 and 0.05, by hand.
TEST(looks, spend_the_error_as_lan_and_demets_have_it) {
  const std::vector<int> looks{3, 6, 9};
  EXPECT_NEAR(confidence_after(3, looks), 1 - 0.022641, 1e-6);
  EXPECT_NEAR(confidence_after(6, looks), 1 - 0.015528, 1e-6);
  EXPECT_NEAR(confidence_after(9, looks), 1 - 0.011831, 1e-6);
  double spent = 0;
  for (const int look : looks) spent += 1 - confidence_after(look, looks);
  EXPECT_NEAR(spent, 0.05, 1e-12);
}

TEST(looks, a_run_cut_off_between_two_is_judged_as_the_next_one_would_be) {
  EXPECT_EQ(confidence_after(4, {3, 6, 9}), confidence_after(6, {3, 6, 9}));
  EXPECT_EQ(confidence_after(12, {3, 6, 9}), confidence_after(9, {3, 6, 9}));
}

}  // namespace
