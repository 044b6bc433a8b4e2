#include "study/fingerprint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::study {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Fingerprints : public ::testing::Test {
 protected:
  Fingerprints() {
    write("model.gguf", std::string(3'000'000, 'm'));
    write("drafter.gguf", "drafter");
    write("program", "program");
    write("workload.jsonl", "workload");
    options.arms.resize(1);
    options.arms[0].setup.model_path = path("model.gguf");
    options.arms[0].setup.draft_path = path("drafter.gguf");
    options.workload = path("workload.jsonl");
    options.prompts.measured.resize(1);
    options.prompts.measured[0].text = "text";
    machine.processor = "EPYC";
    machine.kernel = "6.1";
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  /// Always with the same time of change.
  void write(const std::string& name, const std::string& bytes) const {
    ASSERT_TRUE(util::write_file(path(name), bytes));
    fs::last_write_time(path(name), fs::file_time_type(std::chrono::hours(1)));
  }

  Fingerprint now() const { return fingerprint_of(options, machine, {path("program")}, {}); }

  RunOptions options;
  trace::MachineFacts machine;

 private:
  support::TemporaryFolder folder_;
};

TEST_F(Fingerprints, of_the_same_things_are_equal) {
  EXPECT_THAT(changes(now(), now()), IsEmpty());
}

TEST_F(Fingerprints, differ_in_the_one_thing_that_changed_and_name_it_with_both_values) {
  const struct {
    const char* named;
    std::function<void()> change;
  } cases[] = {
      {"model.gguf", [&] { write("model.gguf", std::string(3'000'001, 'm')); }},
      {"drafter.gguf", [&] { write("drafter.gguf", "Drafter"); }},
      {"model.gguf",
       [&] { fs::last_write_time(path("model.gguf"), fs::file_time_type(std::chrono::hours(2))); }},
      {"workload.jsonl", [&] { write("workload.jsonl", "another"); }},
      {"drafter.gguf", [&] { fs::remove(path("drafter.gguf")); }},
      {"program", [&] { write("program", "another"); }},
      {"prompts", [&] { options.prompts.measured[0].text = "tex"; }},
      {"prompts", [&] { options.fill_text = "x"; }},
      {"machine", [&] { machine.processor = "Xeon"; }},
      {"machine", [&] { machine.memory_bytes = 5; }},
      {"kernel", [&] { machine.kernel = "6.2"; }},
  };
  for (const auto& one : cases) {
    const auto before = now();
    one.change();
    const auto found = changes(before, now());
    ASSERT_THAT(found, ElementsAre(HasSubstr(one.named)));
    EXPECT_THAT(found[0], HasSubstr(" was "));
    EXPECT_THAT(found[0], HasSubstr(" and is "));
  }
}

TEST_F(Fingerprints, see_a_byte_changed_in_the_head_and_at_the_end_of_a_large_file) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{1'000'000}, std::size_t{2'999'999}}) {
    const auto before = describe_file(path("model.gguf"));
    auto bytes = *util::read_file(path("model.gguf"));
    bytes[at] = 'x';
    write("model.gguf", bytes);
    EXPECT_NE(describe_file(path("model.gguf")), before) << at;
  }
}

TEST_F(Fingerprints, of_a_program_that_was_only_installed_again_are_equal) {
  const auto before = now();
  fs::last_write_time(path("program"), fs::file_time_type(std::chrono::hours(9)));
  EXPECT_THAT(changes(before, now()), IsEmpty());
}

}  // namespace
}  // namespace paceline::study
