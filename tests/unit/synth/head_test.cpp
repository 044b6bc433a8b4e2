#include "synth/head.hpp"

#include <gtest/gtest.h>

#include "model/bytes.hpp"
#include "model/facts.hpp"

namespace paceline::synth {
namespace {

model::FileFacts like(const char* name, const char* quant) {
  protocol::Invent job;
  job.like = name;
  job.quant = quant;
  return model::facts_of(head_of(plan(job).value()));
}

double bytes_of_one_token(const model::FileFacts& file) {
  return total_bytes(bytes_of_pass(*file.reads, {.width = 1, .depth = 0}).value());
}

TEST(HeadOf, SaysWhatAPlanWillRead) {
  for (const KnownModel& model : known_models()) {
    const model::FileFacts file = like(model.name, "q8_0");
    ASSERT_TRUE(file.reads) << model.name << ": " << file.reads_unknown;
    EXPECT_GT(bytes_of_one_token(file), 0) << model.name;
    EXPECT_LT(bytes_of_one_token(file), 1.01 * static_cast<double>(file.file_bytes)) << model.name;
  }
}

}  // namespace
}  // namespace paceline::synth
