#include "machine/process_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "support/temporary_folder.hpp"

namespace paceline::machine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// /proc/PID/smaps_rollup of Linux 6.1.
constexpr const char* rollup =
    "559b0e3d9000-7ffd58e7a000 ---p 00000000 00:00 0                          [rollup]\n"
    "Rss:                1756 kB\n"
    "Pss:                 268 kB\n"
    "Pss_Dirty:           112 kB\n"
    "Pss_Anon:            112 kB\n"
    "Swap:                  0 kB\n";

/// A folder like /proc, with a process of group 70 that holds 268 KiB of its own share.
class Proc {
 public:
  Proc() { write("meminfo", "MemTotal: 8000 kB\nMemAvailable: 5000 kB\n"); }
  void add(int process, const std::string& stat, const std::string& smaps) {
    const std::string folder = std::to_string(process);
    write(folder + "/stat", stat);
    if (!smaps.empty()) write(folder + "/smaps_rollup", smaps);
  }
  void write(const std::string& name, const std::string& text) {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  trace::MemoryReading read(pid_t group) const {
    return read_memory(group, trace::MemoryMoment::after_load, folder_.path());
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  support::TemporaryFolder folder_;
};

TEST(ParsePss, takes_the_whole_share_and_none_of_its_parts) {
  EXPECT_EQ(parse_pss(rollup), 268u * 1024);
  EXPECT_FALSE(parse_pss(""));
  EXPECT_FALSE(parse_pss("Pss: many kB\n"));
  EXPECT_FALSE(parse_pss("Pss: 18446744073709551615 kB\n"));  // more bytes than can be counted
  EXPECT_FALSE(parse_pss("Pss: 5 pages\n"));
}

TEST(ParsePeak, is_the_most_that_was_resident_and_not_what_is_resident_now) {
  EXPECT_EQ(parse_peak("VmPeak:\t  9000 kB\nVmHWM:\t    1756 kB\nVmRSS:\t     268 kB\n"),
            1756u * 1024);
  EXPECT_FALSE(parse_peak("VmRSS:\t     268 kB\n"));
  EXPECT_FALSE(parse_peak(""));
}

TEST(ReadMemory, adds_the_peaks_of_the_group_up_or_says_why_there_is_none) {
  Proc proc;
  proc.add(71, "71 (sh) S 1 70 70", rollup);
  proc.add(72, "72 (llama-server) S 71 70 70", rollup);
  proc.write("71/status", "VmHWM:\t 100 kB\n");
  EXPECT_FALSE(proc.read(70).peak_bytes);
  EXPECT_THAT(proc.read(70).peak_reason, HasSubstr("72/status cannot be read"));
  EXPECT_TRUE(proc.read(70).pss_bytes) << "which is another file";
  proc.write("72/status", "Name:\tllama-server\nVmHWM:\t 900 kB\n");
  EXPECT_EQ(proc.read(70).peak_bytes, 1000u * 1024);
  EXPECT_EQ(proc.read(70).peak_reason, "");
  const auto before = read_memory(std::nullopt, trace::MemoryMoment::before_load, proc.path());
  EXPECT_FALSE(before.peak_bytes);
  EXPECT_NE(before.peak_reason, "");
}

TEST(ParseGroup, survives_names_with_parentheses_and_blanks) {
  EXPECT_EQ(parse_group("42 (llama-server) S 1 70 70 0 -1 4194304"), 70);
  EXPECT_EQ(parse_group("42 (a) S 1 9 (b) ) R 1 70 3"), 70);
  EXPECT_FALSE(parse_group("42 (gone) Z 1 70 70 0"));
  EXPECT_FALSE(parse_group(""));
  EXPECT_FALSE(parse_group("42 (short) S 1"));
  EXPECT_FALSE(parse_group("42 (odd) S 1 x 70"));
}

TEST(ReadMemory, adds_up_the_group_and_leaves_others_out) {
  Proc proc;
  proc.add(71, "71 (sh) S 1 70 70", rollup);
  proc.add(72, "72 (llama-server) S 71 70 70", "Pss: 1000 kB\n");
  proc.add(73, "73 (other) S 1 73 73", "Pss: 999999 kB\n");
  proc.add(74, "74 (dead) Z 71 70 70", "");
  EXPECT_THAT(group_members(70, proc.path()), ElementsAre(71, 72));
  const auto reading = proc.read(70);
  EXPECT_EQ(reading.when, trace::MemoryMoment::after_load);
  EXPECT_EQ(reading.pss_bytes, (268u + 1000u) * 1024);
  EXPECT_EQ(reading.reason, "");
  EXPECT_EQ(reading.available_bytes, 5000u * 1024);
}

TEST(ReadMemory, is_unknown_with_the_reason_when_one_of_the_group_cannot_be_read) {
  Proc proc;
  proc.add(71, "71 (sh) S 1 70 70", rollup);
  proc.add(72, "72 (llama-server) S 71 70 70", "");
  const auto reading = proc.read(70);
  EXPECT_FALSE(reading.pss_bytes);
  EXPECT_THAT(reading.reason, HasSubstr("72/smaps_rollup cannot be read"));
}

TEST(ReadMemory, of_nothing_is_unknown_and_not_zero) {
  const Proc proc;
  EXPECT_FALSE(proc.read(70).pss_bytes);
  EXPECT_NE(proc.read(70).reason, "");
  const auto before = read_memory(std::nullopt, trace::MemoryMoment::before_load, proc.path());
  EXPECT_FALSE(before.pss_bytes);
  EXPECT_NE(before.reason, "");
  EXPECT_EQ(before.available_bytes, 5000u * 1024);
}

TEST(ReadMemory, of_a_real_process_holds_what_it_wrote_to) {
  constexpr std::size_t size = std::size_t{32} << 20;
  const auto before = read_memory(::getpgrp(), trace::MemoryMoment::after_load);
  if (!before.pss_bytes) GTEST_SKIP() << before.reason;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::fill_n(static_cast<volatile char*>(memory), size, char{1});
  const auto members = group_members(::getpgrp());
  EXPECT_THAT(members, testing::Contains(::getpid()));
  std::ifstream file("/proc/self/smaps_rollup");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_GE(parse_pss(text.str()).value_or(0), size);
  ::munmap(memory, size);
}

/// amdgpu of Linux 6.1: memory- only.
TEST(ParseFdinfo, of_amdgpu_has_its_regions) {
  const auto client = parse_fdinfo(
      "pos:\t0\nflags:\t02100002\nmnt_id:\t24\nino:\t1234\ndrm-driver:\tamdgpu\ndrm-pdev:\t"
      "0000:0b:00.0\ndrm-client-id:\t55\npasid:\t32773\ndrm-memory-vram:\t4194304 KiB\n"
      "drm-memory-gtt: \t12 KiB\ndrm-memory-cpu: \t0 KiB\ndrm-engine-gfx:\t123 ns\n");
  ASSERT_TRUE(client);
  EXPECT_EQ(client->device, "0000:0b:00.0");
  EXPECT_EQ(client->id, "55");
  EXPECT_THAT(client->regions, ElementsAre(Pair("cpu", 0u), Pair("gtt", 12u * 1024),
                                           Pair("vram", std::uint64_t{4} << 30)));
}

/// i915 and xe of Linux 6.8, whose keys are those of Documentation/gpu/drm-usage-stats.rst.
TEST(ParseFdinfo, takes_what_is_resident_where_it_is_said_in_several_ways) {
  const auto client = parse_fdinfo(
      "drm-driver:\txe\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n"
      "drm-resident-vram0:\t100 MiB\ndrm-total-vram0:\t300 MiB\ndrm-shared-vram0:\t9 MiB\n"
      "drm-total-system0:\t77\ndrm-active-system0:\t66\n");
  ASSERT_TRUE(client);
  EXPECT_THAT(client->regions, ElementsAre(Pair("system0", 77u), Pair("vram0", 100u << 20)));
}

TEST(ParseFdinfo, of_other_files_and_of_nonsense_says_nothing) {
  EXPECT_FALSE(parse_fdinfo("pos:\t0\nflags:\t02\nmnt_id:\t14\n"));
  EXPECT_FALSE(parse_fdinfo(""));
  EXPECT_THAT(parse_fdinfo("drm-driver: x\ndrm-total-vram: lots\ndrm-total-: 5\n")->regions,
              IsEmpty());
}

TEST(ReadMemory, counts_a_client_of_a_driver_once_however_many_files_it_has) {
  Proc proc;
  const std::string file =
      "drm-driver:\tamdgpu\ndrm-pdev:\t0000:0b:00.0\ndrm-client-id:\t55\ndrm-memory-vram:\t8 KiB\n";
  const std::string other =
      "drm-driver:\tamdgpu\ndrm-pdev:\t0000:0b:00.0\ndrm-client-id:\t56\ndrm-memory-vram:\t1 KiB\n";
  proc.add(71, "71 (sh) S 1 70 70", rollup);
  proc.add(72, "72 (llama-server) S 71 70 70", rollup);
  proc.write("71/fdinfo/4", file);
  proc.write("71/fdinfo/5", file);
  proc.write("72/fdinfo/4", file);  // inherited
  proc.write("72/fdinfo/9", other);
  const auto reading = proc.read(70);
  ASSERT_EQ(reading.devices.size(), 1u);
  EXPECT_EQ(reading.devices[0].device, "0000:0b:00.0 vram");
  EXPECT_EQ(reading.devices[0].bytes, 9u * 1024);
}

TEST(ParseComputeApps, adds_up_by_device_what_our_processes_hold) {
  const auto devices = parse_compute_apps(
      "72, 1024, GPU-aa\n99, 4000, GPU-aa\n71, 6, GPU-aa\n72, 30, GPU-bb\n72, [N/A], GPU-cc\n",
      {71, 72});
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].device, "GPU-aa");
  EXPECT_EQ(devices[0].bytes, 1030u << 20);
  EXPECT_EQ(devices[1].device, "GPU-bb");
  EXPECT_EQ(devices[1].bytes, 30u << 20);
  EXPECT_THAT(parse_compute_apps("No running processes found\n", {71}), IsEmpty());
  EXPECT_THAT(parse_compute_apps("", {71}), IsEmpty());
}

}  // namespace
}  // namespace paceline::machine
