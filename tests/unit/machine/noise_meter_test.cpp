#include "machine/noise_meter.hpp"

#include <gtest/gtest.h>
// RapidCheck's GoogleTest glue needs gtest.h before it.
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "support/temporary_folder.hpp"

namespace paceline::machine {
namespace {

/// A /proc of its own, whose counters move when the test says so.
class FakeProc {
 public:
  FakeProc() { std::filesystem::create_directory(folder_.path() / "pressure"); }
  const std::filesystem::path& path() const { return folder_.path(); }
  void stat(const std::string& text) const { write("stat", text); }
  void pressure(const std::string& text) const { write("pressure/cpu", text); }

 private:
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
  }
  support::TemporaryFolder folder_;
};

TEST(ParseStat, SumsEightColumnsAndLeavesGuestTimeOut) {
  const auto ticks = parse_stat("cpu  1 2 3 4 5 6 7 8 100 200\ncpu0 9 9 9 9 9 9 9 9 9 9\n");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->total, 36u);
  EXPECT_EQ(ticks->steal, 8u);
}

TEST(ParseStat, RefusesWhatIsNoCpuLine) {
  for (const char* text : {"", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 5 6 7", "cpu 1 2 x 4 5 6 7 8",
                           "cpu 1 2 -3 4 5 6 7 8", "cpu 18446744073709551615 1 0 0 0 0 0 0"})
    EXPECT_FALSE(parse_stat(text)) << text;
}

TEST(ParsePressure, ReadsTheTotalOfSome) {
  EXPECT_EQ(parse_pressure("some avg10=0.72 avg60=0.47 avg300=0.23 total=5963871\n"
                           "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"),
            5963871u);
}

TEST(ParsePressure, RefusesWhatHasNoTotalOfSome) {
  for (const char* text : {"", "full total=7", "some avg10=0", "some total=", "some total=1x"})
    EXPECT_FALSE(parse_pressure(text)) << text;
}

RC_GTEST_PROP(NoiseParsers, SurviveAnyText, (const std::string& text)) {
  parse_stat("cpu " + text);
  parse_pressure("some total=" + text);
}

TEST(NoiseMeter, GivesWhatHappenedBetweenStartAndStop) {
  const FakeProc proc;
  proc.stat("cpu 100 0 50 1000 0 0 0 10 0 0\n");
  proc.pressure("some avg10=0 avg60=0 avg300=0 total=1000000\n");
  NoiseMeter meter(proc.path());
  meter.start();
  proc.stat("cpu 300 0 50 1180 0 0 0 30 0 0\n");
  proc.pressure("some avg10=0 avg60=0 avg300=0 total=1250000\n");
  const trace::Noise noise = meter.stop();
  const auto per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(noise.steal_s, 20 / per_s);
  EXPECT_DOUBLE_EQ(noise.cpu_s, 400 / per_s);
  ASSERT_TRUE(noise.pressure_s);
  EXPECT_DOUBLE_EQ(*noise.pressure_s, 0.25);
}

TEST(NoiseMeter, SaysNothingOfPressureWithoutPsi) {
  const FakeProc proc;
  proc.stat("cpu 1 1 1 1 1 1 1 1\n");
  NoiseMeter meter(proc.path());
  meter.start();
  EXPECT_EQ(meter.stop().pressure_s, std::nullopt);
}

TEST(NoiseMeter, KnowsNothingWhenStatCannotBeRead) {
  const support::TemporaryFolder empty;
  NoiseMeter meter(empty.path());
  meter.start();
  EXPECT_EQ(meter.stop().cpu_s, 0);
}

TEST(NoiseMeter, KnowsNothingWhenACounterWentBackwards) {
  const FakeProc proc;
  proc.stat("cpu 100 0 0 0 0 0 0 50\n");
  proc.pressure("some total=100\n");
  NoiseMeter meter(proc.path());
  meter.start();
  proc.stat("cpu 900 0 0 0 0 0 0 40\n");
  proc.pressure("some total=90\n");
  const trace::Noise noise = meter.stop();
  EXPECT_EQ(noise.cpu_s, 0);
  EXPECT_EQ(noise.steal_s, 0);
  EXPECT_EQ(noise.pressure_s, std::nullopt);
}

}  // namespace
}  // namespace paceline::machine
