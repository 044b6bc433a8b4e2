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
  /// A process with a thread, as far as the meter reads them.
  void process(int number, const std::string& name, int group, int ticks, int began,
               int switches) const {
    const std::string folder = std::to_string(number);
    std::filesystem::create_directories(folder_.path() / folder / "task" / folder);
    std::string stat = folder + " (" + name + ") R 1 " + std::to_string(group);
    for (int word = 3; word < 20; ++word)
      stat += " " + std::to_string(word == 11   ? ticks - 1
                                   : word == 12 ? 1
                                   : word == 19 ? began
                                                : 0);
    write((folder + "/stat").c_str(), stat + "\n");
    write((folder + "/task/" + folder + "/status").c_str(),
          "Name:\tx\nnonvoluntary_ctxt_switches:\t" + std::to_string(switches) + "\n");
  }
  void core(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    write(path.c_str(), text);
  }

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

TEST(ParseProcessTime, FindsTheNumbersBehindAnyName) {
  const auto time = parse_process_time(
      "7 (a) R 1 9) S 1 42 42 0 -1 4194560 1 2 3 4 100 23 5 6 20 0 1 0 987654 1 1\n");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->name, "a) R 1 9");
  EXPECT_EQ(time->group, 42);
  EXPECT_EQ(time->ticks, 123u);
  EXPECT_EQ(time->began, 987654u);
  for (const char* text :
       {"", "7 (a", "7 )a(", "7 (a) S 1 42", "7 (a) S 1 x 0 0 0 0 0 0 0 0 0 0 0"})
    EXPECT_FALSE(parse_process_time(text)) << text;
}

RC_GTEST_PROP(ProcessTimes, SurviveAnyText, (const std::string& text)) {
  parse_process_time("1 (x) " + text);
  parse_process_time(text);
}

TEST(NoiseMeter, NamesWhoWasBusyBesideTheEngine) {
  const FakeProc proc;
  proc.process(10, "worker", 10, 100, 5, 7);
  proc.process(20, "cc1plus", 20, 1000, 5, 0);
  proc.process(21, "backup", 21, 50, 5, 0);
  proc.process(22, "reused", 22, 900, 5, 0);
  NoiseMeter meter(proc.path(), proc.path() / "cpus");
  meter.start(10);
  proc.process(10, "worker", 10, 900, 5, 10);
  proc.process(20, "cc1plus", 20, 1010, 5, 0);
  proc.process(21, "backup", 21, 75, 5, 0);
  proc.process(22, "reused", 22, 3, 99, 0);
  proc.process(23, "cc1plus", 20, 20, 100, 0);
  const trace::Noise noise = meter.stop();
  ASSERT_TRUE(noise.neighbour);
  EXPECT_EQ(noise.neighbour->name, "cc1plus") << "10 ticks of one, and 20 of one that came";
  EXPECT_DOUBLE_EQ(noise.neighbour->cpu_s, 30 / static_cast<double>(sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(noise.involuntary_switches, 3);
  EXPECT_EQ(noise.clock_mhz, std::nullopt);
  EXPECT_EQ(noise.throttled, std::nullopt);
}

TEST(NoiseMeter, SaysNothingOfProcessesWithoutAnEngineHere) {
  const FakeProc proc;
  proc.process(20, "cc1plus", 20, 1000, 5, 0);
  NoiseMeter meter(proc.path(), proc.path() / "cpus");
  meter.start();
  proc.process(20, "cc1plus", 20, 2000, 5, 0);
  const trace::Noise noise = meter.stop();
  EXPECT_FALSE(noise.neighbour);
  EXPECT_FALSE(noise.involuntary_switches);
}

TEST(NoiseMeter, ReadsClocksAndThrottlingWhereTheSystemShowsThem) {
  const FakeProc proc;
  for (const char* core : {"cpus/cpu0/", "cpus/cpu1/"}) {
    const std::string folder = core;
    proc.core(folder + "cpufreq/scaling_cur_freq", "2000000\n");
    proc.core(folder + "thermal_throttle/core_throttle_count", "1\n");
    proc.core(folder + "thermal_throttle/package_throttle_count", "10\n");
    proc.core(folder + "topology/physical_package_id", "0\n");
  }
  NoiseMeter meter(proc.path(), proc.path() / "cpus");
  meter.start();
  proc.core("cpus/cpu0/cpufreq/scaling_cur_freq", "1000000\n");
  proc.core("cpus/cpu1/thermal_throttle/core_throttle_count", "3\n");
  for (const char* core : {"cpus/cpu0/", "cpus/cpu1/"})
    proc.core(std::string(core) + "thermal_throttle/package_throttle_count", "11\n");
  const trace::Noise noise = meter.stop();
  EXPECT_EQ(noise.clock_mhz, 1750) << "2000 before; 1000 and 2000 after";
  EXPECT_EQ(noise.throttled, 3) << "a core twice, and the package both share once";
}

}  // namespace
}  // namespace paceline::machine
