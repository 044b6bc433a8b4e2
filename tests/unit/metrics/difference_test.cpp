#include "metrics/difference.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using paceline::metrics::difference;
using paceline::metrics::Grid;

/// Two units in three launches that differ by 2p between units, by l from launch to launch and by
/// noise c that both units' means and all launches' are free of: MS_P 6 p^2, MS_E 2 c^2, and l^2
/// between single launches, by hand.
Grid grid(double p, double l, double c) {
  Grid result(2, 3);
  for (std::size_t launch = 0; launch < 3; ++launch) {
    const double place = static_cast<double>(launch) - 1;
    result.at(0, launch) = -p + l * place - c * place;
    result.at(1, launch) = p + l * place + c * place;
  }
  return result;
}

TEST(difference, adds_the_launches_of_both_sides_and_pairs_the_prompts) {
  // Launches 4 + 9, MS_P 6, MS_E 0.5: 13 / 3 + 6 / 6 - 0.5 / 6.
  const auto result = difference({grid(0, 2, 0)}, {grid(1, 3, 0.5)}, {});
  ASSERT_TRUE(result);
  const auto spread = result->after(3);
  const double variance = 13.0 / 3 + 1 - 1.0 / 12;
  EXPECT_NEAR(spread.standard_error, std::sqrt(variance), 1e-12);
  const double uncertainty = 16.0 / 9 / 2 + 9.0 / 2 + 1 + 1.0 / 144 / 2;
  EXPECT_NEAR(spread.degrees_of_freedom, variance * variance / uncertainty, 1e-9);
}

TEST(difference, what_prompts_share_is_no_part_of_it) {
  const auto alike = difference({grid(5, 2, 0)}, {grid(5, 3, 0.5)}, {});
  const auto none = difference({grid(0, 2, 0)}, {grid(0, 3, 0.5)}, {});
  EXPECT_NEAR(alike->after(3).standard_error, none->after(3).standard_error, 1e-12);
}

TEST(difference, knows_the_launches_of_a_better_by_those_of_a_again) {
  // (4 + 0) / 2 on 4 degrees of freedom, 9 on 2; prompts and error are pooled to nothing.
  const auto result = difference({grid(0, 2, 0)}, {grid(0, 3, 0)}, {grid(0, 0, 0)});
  const auto spread = result->after(3);
  EXPECT_NEAR(spread.standard_error, std::sqrt(11.0 / 3), 1e-12);
  EXPECT_NEAR(spread.degrees_of_freedom, 121 / (4.0 / 4 + 81.0 / 2), 1e-9);
}

TEST(difference, of_launches_that_do_not_differ_is_the_pooled_error) {
  // MS_P 0 on 1 degree of freedom and MS_E 0.5 on 2 make 1 / 3 on 3; over 6 cells.
  const auto spread = difference({grid(0, 0, 0)}, {grid(0, 0, 0.5)}, {})->after(3);
  EXPECT_NEAR(spread.standard_error, std::sqrt(1.0 / 18), 1e-12);
  EXPECT_NEAR(spread.degrees_of_freedom, 3, 1e-12);
}

TEST(difference, prompts_stay_however_many_launches_there_are) {
  // Prompts' own variance is (6 - 0.5) / 3: after 6 launches 13 / 6 + (0.5 + 11) / 12 - 0.5 / 12.
  const auto result = difference({grid(0, 2, 0)}, {grid(1, 3, 0.5)}, {});
  EXPECT_NEAR(result->after(6).standard_error, std::sqrt(13.0 / 6 + 11.0 / 12), 1e-12);
  EXPECT_NEAR(result->after(1e9).standard_error, std::sqrt(5.5 / 3 / 2), 1e-8);
}

TEST(difference, classes_share_their_launches_and_add_their_prompts) {
  // Launch effects of two classes that cancel leave no launches; MS_P 6 each, no error.
  const auto result =
      difference({grid(0, 2, 0), grid(0, -2, 0)}, {grid(1, 0, 0), grid(1, 0, 0)}, {});
  EXPECT_NEAR(result->after(3).standard_error, std::sqrt(2 * 6.0 / 6), 1e-9);
}

TEST(difference, needs_three_launches_two_units_and_the_same_cells) {
  EXPECT_FALSE(difference({Grid(2, 2)}, {Grid(2, 2)}, {}));
  EXPECT_FALSE(difference({Grid(1, 3)}, {Grid(1, 3)}, {}));
  EXPECT_FALSE(difference({Grid(2, 3)}, {Grid(2, 4)}, {}));
  EXPECT_FALSE(difference({Grid(2, 3)}, {Grid(2, 3)}, {Grid(3, 3)}));
  EXPECT_FALSE(difference({}, {}, {}));
}

}  // namespace
