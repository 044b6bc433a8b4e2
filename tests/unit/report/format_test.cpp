#include "report/format.hpp"

#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::report {
namespace {

document::Quantity quantity(double value, std::optional<double> low, std::optional<double> high) {
  document::Quantity result;
  result.value = value;
  result.low = low;
  result.high = high;
  return result;
}

TEST(Figure, ShowsThreeFiguresAndEveryOneBeforeThePoint) {
  EXPECT_EQ(figure(0.8749), "0.87");
  EXPECT_EQ(figure(46.72), "46.7");
  EXPECT_EQ(figure(812.4), "812");
  EXPECT_EQ(figure(12345.6), "12346");
  EXPECT_EQ(figure(-3.14159), "-3.14");
}

TEST(Figure, CountsTheDigitThatRoundingAdds) {
  EXPECT_EQ(figure(9.996), "10.0");
  EXPECT_EQ(figure(99.96), "100");
}

TEST(Figure, HasNoNegativeZero) { EXPECT_EQ(figure(-0.001), "0.00"); }

TEST(WithInterval, GivesTheIntervalAtTheValuesPrecision) {
  EXPECT_EQ(with_interval(quantity(81.23, 78.62, 83.61), plain_unit, true), "81.2 [78.6-83.6]");
  EXPECT_EQ(with_interval(quantity(99.0, 95.0, 104.2), plain_unit, true), "99.0 [95.0-104.2]");
}

TEST(WithInterval, GivesOneNumberWhereBothSidesAreEquallyFar) {
  EXPECT_EQ(with_interval(quantity(11.7, 11.5, 11.9), plain_unit, true), "11.7 ±0.2");
}

TEST(WithInterval, LeavesOutAnIntervalWithoutWidth) {
  EXPECT_EQ(with_interval(quantity(1, 1, 1), plain_unit, true), "1.00");
}

TEST(WithInterval, LeavesOutWhatIsNotThereOrNotWanted) {
  EXPECT_EQ(with_interval(quantity(2, std::nullopt, std::nullopt), plain_unit, true), "2.00");
  EXPECT_EQ(with_interval(quantity(2, 1.5, 3), plain_unit, false), "2.00");
}

TEST(WithInterval, ScalesValueAndIntervalAlike) {
  EXPECT_EQ(with_interval(quantity(0.0123, 0.0120, 0.0131), milliseconds, true),
            "12.3 [12.0-13.1]");
  EXPECT_EQ(with_interval(quantity(0.412, 0.39, 0.45), percent, true), "41.2 % [39.0-45.0]");
  EXPECT_EQ(with_interval(quantity(1.7, 1.6, 1.9), times, true), "1.70x [1.60-1.90]");
}

TEST(WithInterval, WritesANegativeEndSoThatItsSignIsNoDash) {
  EXPECT_EQ(with_interval(quantity(1, -0.5, 4), plain_unit, true), "1.00 [-0.50 to 4.00]");
}

TEST(Bytes, CountsInThousandsForFilesAndIn1024ForMachines) {
  EXPECT_EQ(bytes(999), "999 B");
  EXPECT_EQ(bytes(13'245'824), "13.2 MB");
  EXPECT_EQ(bytes(360'000'000), "360 MB");
  EXPECT_EQ(bytes(999'999), "1.00 MB") << "1000 kB is no way to say it";
  EXPECT_EQ(binary_bytes(512 * 1024), "512 KiB");
  EXPECT_EQ(binary_bytes(32ULL << 20), "32 MiB");
  EXPECT_EQ(binary_bytes(8131024ULL * 1024), "7.75 GiB");
}

TEST(ShortCount, CountsInThousands) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(999), "999");
  EXPECT_EQ(short_count(5'607'000), "5.61 M");
  EXPECT_EQ(short_count(27'000'000'000), "27 G");
}

TEST(Listed, JoinsAsASentenceDoes) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b"}), "a and b");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace paceline::report
