#include "machine/machine.hpp"

#include <gtest/gtest.h>
// RapidCheck's GoogleTest glue needs gtest.h before it.
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <string>

#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::machine {
namespace {

constexpr const char* two_cores_with_two_threads_each =
    "processor\t: 0\nmodel name\t: AMD EPYC 7763\ncpu MHz\t\t: 2445.4\nphysical id\t: 0\n"
    "core id\t\t: 0\nflags\t\t: fpu sse2 hypervisor avx2\n\n"
    "processor\t: 1\nmodel name\t: AMD EPYC 7763\ncpu MHz\t\t: 3100.5\nphysical id\t: 0\n"
    "core id\t\t: 0\nflags\t\t: fpu sse2 hypervisor avx2\n\n"
    "processor\t: 2\nmodel name\t: AMD EPYC 7763\ncpu MHz\t\t: 1500.0\nphysical id\t: 1\n"
    "core id\t\t: 0\nflags\t\t: fpu sse2 hypervisor avx2\n";

TEST(ParseCpuinfo, ReadsProcessorCoresClockAndHypervisor) {
  const CpuInfo info = parse_cpuinfo(two_cores_with_two_threads_each);
  EXPECT_EQ(info.processor, "AMD EPYC 7763");
  EXPECT_EQ(info.cores_physical, 2) << "core 0 of two packages, one of them with two threads";
  EXPECT_EQ(info.clock_mhz, 3100.5) << "the fastest of them";
  EXPECT_EQ(info.virtualised, true);
}

TEST(ParseCpuinfo, SaysNoHypervisorOnlyWhereFlagsAreListed) {
  EXPECT_EQ(parse_cpuinfo("flags\t: fpu avx2\n").virtualised, false);
  EXPECT_EQ(parse_cpuinfo("flags\t: fpu nohypervisor\n").virtualised, false);
  EXPECT_EQ(parse_cpuinfo("processor\t: 0\n").virtualised, std::nullopt);
}

TEST(ParseCpuinfo, GuessesNothingWhereTheTextSaysNothing) {
  const CpuInfo info = parse_cpuinfo("Features\t: fp asimd\nmodel name\t:\ncpu MHz\t: fast\n");
  EXPECT_EQ(info.processor, std::nullopt);
  EXPECT_EQ(info.cores_physical, std::nullopt);
  EXPECT_EQ(info.clock_mhz, std::nullopt);
}

TEST(ParseMemory, ReadsMemTotalInBytes) {
  EXPECT_EQ(parse_memory("MemTotal:        8131024 kB\nMemFree: 1 kB\n"), 8131024ULL * 1024);
}

TEST(ParseMemory, RefusesWhatIsNoSize) {
  EXPECT_EQ(parse_memory(""), std::nullopt);
  EXPECT_EQ(parse_memory("MemTotal: many kB"), std::nullopt);
  EXPECT_EQ(parse_memory("MemTotal: 12 MB"), std::nullopt);
  EXPECT_EQ(parse_memory("MemTotal: -5 kB"), std::nullopt);
  EXPECT_EQ(parse_memory("MemTotal: 18446744073709551615 kB"), std::nullopt);
}

TEST(ParseMemory, ReadsOtherLinesAndThoseOfANode) {
  EXPECT_EQ(parse_memory("MemTotal: 4 kB\nMemAvailable:  3 kB\n", "MemAvailable"), 3072u);
  EXPECT_EQ(parse_memory("Node 0 MemTotal:       2 kB\nNode 0 MemFree: 1 kB\n"), 2048u);
  EXPECT_EQ(parse_memory("XMemTotal: 4 kB\n"), std::nullopt);
}

TEST(ParseKhz, ReadsMegahertz) {
  EXPECT_EQ(parse_khz("3675000\n"), 3675.0);
  for (const char* text : {"", "0", "-5", "fast", "nan", "1 2"})
    EXPECT_EQ(parse_khz(text), std::nullopt) << text;
}

TEST(ReadPowerCap, AddsUpPackagesAndNotTheirParts) {
  const support::TemporaryFolder folder;
  EXPECT_EQ(read_power_cap_w(folder.path()), std::nullopt);
  const auto zone = [&](const char* folder_name, const char* name, const char* limit,
                        const char* constraint) {
    const auto path = folder.path() / folder_name;
    std::filesystem::create_directory(path);
    ASSERT_TRUE(util::write_file(path / "name", name));
    ASSERT_TRUE(util::write_file(path / "constraint_0_name", constraint));
    ASSERT_TRUE(util::write_file(path / "constraint_0_power_limit_uw", limit));
  };
  zone("intel-rapl:0", "package-0\n", "65000000\n", "long_term\n");
  zone("intel-rapl:1", "package-1\n", "35000000\n", "long_term\n");
  zone("intel-rapl:3", "psys\n", "0", "long_term\n");
  zone("intel-rapl-mmio:0", "package-0\n", "65000000\n", "long_term\n");
  zone("intel-rapl:0:0", "core\n", "9000000\n", "long_term\n");
  zone("dtpm", "dtpm\n", "1000000\n", "long_term\n");
  EXPECT_EQ(read_power_cap_w(folder.path()), 100.0);
  zone("intel-rapl:2", "package-2\n", "65000000\n", "peak_power\n");
  EXPECT_EQ(read_power_cap_w(folder.path()), std::nullopt) << "one does not say";
}

TEST(ReadNumaNodes, ReadsEachFolderOfANode) {
  const support::TemporaryFolder folder;
  for (const char* name : {"node1", "node0", "nodeX", "power"})
    std::filesystem::create_directory(folder.path() / name);
  ASSERT_TRUE(util::write_file(folder.path() / "node0" / "cpulist", "0-3\n"));
  ASSERT_TRUE(util::write_file(folder.path() / "node0" / "meminfo", "Node 0 MemTotal: 8 kB\n"));
  ASSERT_TRUE(util::write_file(folder.path() / "node1" / "cpulist", "4-7\n"));
  const auto nodes = read_numa_nodes(folder.path());
  ASSERT_TRUE(nodes);
  ASSERT_EQ(nodes->size(), 2u);
  EXPECT_EQ(nodes->at(0).cpus, "0-3");
  EXPECT_EQ(nodes->at(0).memory_bytes, 8192u);
  EXPECT_EQ(nodes->at(1).id, 1);
  EXPECT_EQ(nodes->at(1).memory_bytes, std::nullopt);
}

TEST(ReadNumaNodes, SaysNothingWhereTheSystemDoesNot) {
  const support::TemporaryFolder folder;
  EXPECT_EQ(read_numa_nodes(folder.path()).has_value(), false);
  EXPECT_EQ(read_numa_nodes(folder.path() / "missing").has_value(), false);
}

TEST(ParseOs, ReadsThePrettyNameWithoutItsQuotes) {
  EXPECT_EQ(parse_os("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(parse_os("PRETTY_NAME=Void\n"), "Void");
  EXPECT_EQ(parse_os("PRETTY_NAME=\"\"\n"), std::nullopt);
  EXPECT_EQ(parse_os("NAME=x\n"), std::nullopt);
}

TEST(ParseLoad, ReadsThreeAverages) {
  const auto load = parse_load("0.52 1.25 3.00 2/345 6789\n");
  ASSERT_TRUE(load);
  EXPECT_EQ(load->one_minute, 0.52);
  EXPECT_EQ(load->five_minutes, 1.25);
  EXPECT_EQ(load->fifteen_minutes, 3.0);
}

TEST(ParseLoad, RefusesWhatIsNoLoad) {
  EXPECT_FALSE(parse_load("0.5 1.0"));
  EXPECT_FALSE(parse_load("0.5 x 1.0"));
  EXPECT_FALSE(parse_load("0.5 nan 1.0"));
  EXPECT_FALSE(parse_load("0.5 inf 1.0"));
  EXPECT_FALSE(parse_load("-1 0 0"));
}

RC_GTEST_PROP(MachineParsers, SurviveAnyText, (const std::string& text)) {
  parse_cpuinfo(text);
  parse_memory("MemTotal:" + text);
  parse_os("PRETTY_NAME=" + text);
  parse_load(text);
}

TEST(ReadMachine, FindsAtLeastOneCoreAndAKernelOnThisMachine) {
  const MachineFacts facts = read_machine();
  EXPECT_GE(facts.cores_online.value_or(0), 1);
  EXPECT_EQ(facts.kernel.value_or("").substr(0, 5), "Linux");
}

}  // namespace
}  // namespace paceline::machine
