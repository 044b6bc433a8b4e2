#include "worker/llama/filling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace paceline::worker {
namespace {

std::vector<float> written(Filler& filler, const HeavyTensor& tensor, const MatrixShape& part,
                           const std::vector<float>& source) {
  std::vector<char> bytes(source.size() * sizeof(float));
  if (!source.empty()) std::memcpy(bytes.data(), source.data(), bytes.size());
  std::ostringstream out;
  filler.write(tensor, part, bytes, 1, out);
  const std::string text = out.str();
  std::vector<float> values(text.size() / sizeof(float));
  std::memcpy(values.data(), text.data(), text.size());
  return values;
}

HeavyTensor matrix(std::int64_t columns, std::int64_t rows, Fill fill) {
  return {.name = "m", .type = GGML_TYPE_F32, .shape = {columns, rows}, .source = -1, .fill = fill};
}

TEST(Filler, KeepsTheSourceInTheCornerAndFillsRowsAndColumnsAroundIt) {
  Filler filler;
  EXPECT_EQ(written(filler, matrix(3, 3, Fill::one), {2, 2}, {5, 6, 7, 8}),
            (std::vector<float>{5, 6, 1, 7, 8, 1, 1, 1, 1}));
  EXPECT_EQ(written(filler, matrix(3, 1, Fill::zero), {}, {}), (std::vector<float>{0, 0, 0}));
}

TEST(Filler, RandomElementsHaveMeanZeroAndDeviationTwoHundredths) {
  Filler filler;
  const auto values = written(filler, matrix(1000, 100, Fill::random), {}, {});
  double sum = 0;
  double squares = 0;
  float widest = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
    widest = std::max(widest, std::fabs(value));
  }
  const auto count = static_cast<double>(values.size());
  // Of 100 000 uniform draws the mean strays by 6e-5 and the deviation by 3e-5 (one sigma).
  EXPECT_NEAR(sum / count, 0, 4e-4);
  EXPECT_NEAR(std::sqrt(squares / count), 0.02, 2e-4);
  EXPECT_LE(widest, 0.02f * std::sqrt(3.0f) * 1.000001f);
}

TEST(Filler, TheSameOrderOfTensorsGivesTheSameBytes) {
  Filler one;
  Filler two;
  EXPECT_EQ(written(one, matrix(8, 2, Fill::random), {}, {}),
            written(two, matrix(8, 2, Fill::random), {}, {}));
  EXPECT_NE(written(one, matrix(8, 2, Fill::random), {}, {}),
            written(one, matrix(8, 2, Fill::random), {}, {}));
}

TEST(Filler, PadsToTheAlignmentWithZeros) {
  Filler filler;
  std::ostringstream out;
  filler.write(matrix(3, 1, Fill::one), {}, {}, 32, out);
  const std::string bytes = out.str();
  ASSERT_EQ(bytes.size(), 32u);
  EXPECT_EQ(bytes.substr(12), std::string(20, '\0'));
}

}  // namespace
}  // namespace paceline::worker
