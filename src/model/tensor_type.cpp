#include "model/tensor_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace paceline::model {

namespace {

constexpr std::array types = {
    TensorType{0, "f32", 1, 4},         TensorType{1, "f16", 1, 2},
    TensorType{2, "q4_0", 32, 18},      TensorType{3, "q4_1", 32, 20},
    TensorType{6, "q5_0", 32, 22},      TensorType{7, "q5_1", 32, 24},
    TensorType{8, "q8_0", 32, 34},      TensorType{9, "q8_1", 32, 36},
    TensorType{10, "q2_K", 256, 84},    TensorType{11, "q3_K", 256, 110},
    TensorType{12, "q4_K", 256, 144},   TensorType{13, "q5_K", 256, 176},
    TensorType{14, "q6_K", 256, 210},   TensorType{15, "q8_K", 256, 292},
    TensorType{16, "iq2_xxs", 256, 66}, TensorType{17, "iq2_xs", 256, 74},
    TensorType{18, "iq3_xxs", 256, 98}, TensorType{19, "iq1_s", 256, 50},
    TensorType{20, "iq4_nl", 32, 18},   TensorType{21, "iq3_s", 256, 110},
    TensorType{22, "iq2_s", 256, 82},   TensorType{23, "iq4_xs", 256, 136},
    TensorType{24, "i8", 1, 1},         TensorType{25, "i16", 1, 2},
    TensorType{26, "i32", 1, 4},        TensorType{27, "i64", 1, 8},
    TensorType{28, "f64", 1, 8},        TensorType{29, "iq1_m", 256, 56},
    TensorType{30, "bf16", 1, 2},       TensorType{34, "tq1_0", 256, 54},
    TensorType{35, "tq2_0", 256, 66},   TensorType{39, "mxfp4", 32, 17},
    TensorType{40, "nvfp4", 64, 36},    TensorType{41, "q1_0", 128, 18},
    TensorType{42, "q2_0", 64, 18},
};

/// Numbers 4 to 6 and 33 to 35 were taken by types that llama.cpp does not read any more.
constexpr std::array<std::pair<int, const char*>, 36> file_types = {{
    {0, "F32"},      {1, "F16"},      {2, "Q4_0"},    {3, "Q4_1"},    {7, "Q8_0"},
    {8, "Q5_0"},     {9, "Q5_1"},     {10, "Q2_K"},   {11, "Q3_K_S"}, {12, "Q3_K_M"},
    {13, "Q3_K_L"},  {14, "Q4_K_S"},  {15, "Q4_K_M"}, {16, "Q5_K_S"}, {17, "Q5_K_M"},
    {18, "Q6_K"},    {19, "IQ2_XXS"}, {20, "IQ2_XS"}, {21, "Q2_K_S"}, {22, "IQ3_XS"},
    {23, "IQ3_XXS"}, {24, "IQ1_S"},   {25, "IQ4_NL"}, {26, "IQ3_S"},  {27, "IQ3_M"},
    {28, "IQ2_S"},   {29, "IQ2_M"},   {30, "IQ4_XS"}, {31, "IQ1_M"},  {32, "BF16"},
    {36, "TQ1_0"},   {37, "TQ2_0"},   {38, "MXFP4"},  {39, "NVFP4"},  {40, "Q1_0"},
    {41, "Q2_0"},
}};

}  // namespace

std::span<const TensorType> tensor_types() { return types; }

const TensorType* find_tensor_type(std::uint32_t id) {
  const auto* found = std::find_if(types.begin(), types.end(),
                                   [id](const TensorType& type) { return type.id == id; });
  return found == types.end() ? nullptr : found;
}

std::string tensor_type_name(std::uint32_t id) {
  if (const TensorType* type = find_tensor_type(id)) return type->name;
  // The file format has a signed number there: a damaged one is rather -1 than 4294967295.
  return fmt::format("type {} (unknown)", static_cast<std::int32_t>(id));
}

std::string file_type_name(std::int64_t number) {
  for (const auto& [known, name] : file_types)
    if (known == number) return name;
  return fmt::format("type {} (unknown)", number);
}

}  // namespace paceline::model
