#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/gguf_builder.hpp"
#include "support/measuring_test.hpp"
#include "support/worker_process.hpp"

namespace paceline {
namespace {

using support::lab_model;
using support::WorkerProcess;
using ::testing::HasSubstr;

constexpr std::uint32_t target_width = 256;  // of the laboratory target, by its model card

class Vision : public support::MeasuringTest {
 protected:
  std::string projector(const support::GgufBuilder& file) const {
    const std::string name = path("mmproj.gguf");
    EXPECT_TRUE(util::write_file(name, file.bytes()));
    return name;
  }

  std::string fitting() const { return projector(support::small_projector(target_width)); }

  support::Ended run_with(const std::string& mmproj, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"-m",         lab_model("target-mtp-f16.gguf"),
                                          "--mmproj",   mmproj,
                                          "--class",    "json",
                                          "--prompts",  "2",
                                          "-n",         "8",
                                          "--launches", "2",
                                          "-t",         "1",
                                          "--json",     path("report.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

#if PACELINE_HAS_MTMD

std::string refusal(WorkerProcess& worker, const std::string& mmproj, int n_ctx = 1024) {
  trace::Setup setup = support::lab_setup(trace::SpecType::none);
  setup.mmproj_path = mmproj;
  setup.n_ctx = n_ctx;
  const auto opened = worker.open(setup);
  EXPECT_FALSE(opened.facts);
  EXPECT_EQ(opened.outcome.kind, trace::OutcomeKind::refused);
  return opened.outcome.reason;
}

TEST_F(Vision, one_image_passes_through_projector_and_target_in_every_launch) {
  const auto ended = run_with(fitting());
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const util::Json json = document();
  const util::Json& seen = json.at("projector");
  EXPECT_EQ(seen.at("launches"), 2);
  EXPECT_EQ(seen.at("image_width"), 448);
  // 448 pixels are 32 patches of 14, of which 2 x 2 make a token.
  EXPECT_EQ(seen.at("image_tokens"), 16 * 16);
  EXPECT_GT(seen.at("prompt_tokens").get<int>(), 16 * 16);
  EXPECT_GT(seen.at("encode_s").at("least").get<double>(), 0);
  EXPECT_GE(seen.at("encode_s").at("most"), seen.at("encode_s").at("least"));
  EXPECT_GT(seen.at("prefill_s").at("least").get<double>(), 0);
  EXPECT_EQ(seen.at("file").at("architecture"), "clip");
  EXPECT_EQ(json.at("memory").at("by_arm").at(0).at("projector_bytes"), seen.at("allocated_bytes"));
  EXPECT_THAT(ended.output, HasSubstr("one image of 448 x 448 pixels a launch takes 256 tokens"));
}

TEST_F(Vision, weights_of_the_projector_are_part_of_its_memory) {
  const auto file = support::small_projector(target_width);
  const std::uint64_t weights = file.bytes().size() - file.head().size();
  WorkerProcess worker;
  trace::Setup setup = support::lab_setup(trace::SpecType::none);
  setup.mmproj_path = projector(file);
  const auto opened = worker.open(setup);
  ASSERT_TRUE(opened.facts) << opened.outcome.reason;
  const std::uint64_t allocated = opened.facts->projector.value().allocated_bytes;
  constexpr std::uint64_t padding = 32 * 20;  // of its tensors in the file
  EXPECT_GE(allocated, weights - padding);
  // Encoding 1024 patches takes room for their scores in two heads, of 4 bytes.
  EXPECT_GE(allocated - weights, 2u * 1024 * 1024 * 4);
}

TEST_F(Vision, the_image_is_forgotten_before_anything_is_generated) {
  WorkerProcess with;
  WorkerProcess without;
  for (const auto type : {trace::SpecType::none, trace::SpecType::draft_mtp}) {
    trace::Setup setup = support::lab_setup(type);
    ASSERT_TRUE(without.open(setup).facts);
    setup.mmproj_path = fitting();
    ASSERT_TRUE(with.open(setup).facts);
    const auto request = support::greedy("{\"name\": \"", 40);
    const auto seen = with.run(request);
    EXPECT_EQ(seen.tokens(), without.run(request).tokens());
    EXPECT_EQ(seen.tokens().size(), 40u);
  }
}

TEST_F(Vision, files_that_are_no_projector_of_this_model_are_refused_with_the_reason) {
  WorkerProcess worker;
  EXPECT_THAT(refusal(worker, lab_model("small-f16.gguf")), HasSubstr("is no vision projector"));
  EXPECT_THAT(refusal(worker, path("nothing.gguf")), HasSubstr("nothing.gguf"));
  EXPECT_THAT(refusal(worker, projector(support::small_projector(target_width + 32))),
              HasSubstr("mismatch between text model"));
  EXPECT_THAT(refusal(worker, projector(support::GgufBuilder("clip"))),
              HasSubstr("no vision encoder"));
  auto no_layers = support::GgufBuilder("clip");
  no_layers.flag("clip.has_vision_encoder", true).u32("clip.vision.block_count", 0);
  EXPECT_THAT(refusal(worker, projector(no_layers)), HasSubstr("block_count 0"));
  no_layers = support::GgufBuilder("clip");
  no_layers.flag("clip.has_vision_encoder", true).u32("clip.vision.block_count", 1);
  EXPECT_THAT(refusal(worker, projector(no_layers)), HasSubstr("patch_size 0"));
  EXPECT_THAT(refusal(worker, fitting(), 256), HasSubstr("and the context 256"));
}

#else

TEST_F(Vision, is_refused_with_what_to_do_where_libmtmd_is_missing) {
  const auto ended = run_with(fitting());
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.errors, HasSubstr("without llama.cpp's libmtmd"));
  EXPECT_THAT(ended.errors, HasSubstr("PACELINE_ENGINE=source make build"));
}

#endif

}  // namespace
}  // namespace paceline
