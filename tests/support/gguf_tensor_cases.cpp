#include "support/gguf_builder.hpp"
#include "support/gguf_case.hpp"

namespace paceline::support {

namespace {

constexpr std::uint32_t f32 = 0;
constexpr std::uint32_t f16 = 1;
constexpr std::uint32_t q4_0 = 2;
constexpr std::uint32_t i8 = 24;
constexpr std::uint32_t i64 = 27;

std::string shape_of(std::uint32_t dimensions) {
  // Written by hand: the builder counts its dimensions by itself.
  return GgufBuilder().counts(1, 1).head() + gguf_string("t") + little_endian(dimensions) +
         std::string(64, '\0');
}

GgufBuilder one_tensor(const std::vector<std::uint64_t>& dimensions, std::uint32_t type,
                       std::uint64_t bytes = 0) {
  return GgufBuilder().tensor("t", dimensions, type, bytes);
}

/// A model with one more tensor, of a type that no one knows.
GgufCase unknown_type(const std::string& input, std::uint32_t type, const std::string& shown) {
  return {"C331",
          input,
          small_model().tensor("blk.0.ffn_up.weight", {4, 4}, type, 64).bytes(),
          "",
          "tensor 'blk.0.ffn_up.weight' is of " + shown,
          [shown](const model::FileFacts& facts) {
            const auto& group = facts.recipe.back();
            return facts.architecture == "llama" && group.tensor_class == "ffn_up" &&
                   group.type == shown && !group.bytes && facts.parameters == 68;
          }};
}

}  // namespace

std::vector<GgufCase> gguf_tensor_cases() {
  const std::uint64_t minus_1 = ~std::uint64_t{0};
  const std::string long_name(64, 'n');
  std::vector<GgufCase> cases = {
      {"C322", "5 dimensions", shape_of(5), "has 5 dimensions", ""},
      {"C322", "1,000,000 dimensions", shape_of(1'000'000), "has 1000000 dimensions", ""},
      {"C322", "2^32-1 dimensions", shape_of(~0U), "has 4294967295 dimensions", ""},
      {"C323", "length -1", one_tensor({4, minus_1}, f32).bytes(), "has a length of -1", ""},
      {"C324", "length 0", one_tensor({4, 0}, f32).bytes(), "", "",
       [](const model::FileFacts& facts) {
         return facts.parameters == 0 && facts.recipe.at(0).bytes == 0u;
       }},
      {"C325", "[2^21, 2^42+1]", one_tensor({1ULL << 21, (1ULL << 42) + 1}, f32).bytes(),
       "more elements than can be counted", ""},
      {"C326", "product wraps to 4", one_tensor({4194305, 4194305, 211106198978564}, f32).bytes(),
       "more elements than can be counted", ""},
      {"C327", "product wraps to 0", one_tensor({1ULL << 32, 1ULL << 32}, f32).bytes(),
       "more elements than can be counted", ""},
      {"C328", "bytes overflow", one_tensor({1ULL << 62}, i64).bytes(),
       "more bytes than can be counted", ""},
      {"C329", "padding overflows", one_tensor({0x3FFFFFFFFFFFFFFF}, f32).bytes(),
       "more bytes than can be counted", ""},
      {"C330", "sum of two tensors overflows",
       GgufBuilder()
           .tensor_at("a", {0x7FFFFFFFFFFFFFC0}, i8, 0)
           .tensor_at("b", {0x7FFFFFFFFFFFFFC0}, i8, 0x7FFFFFFFFFFFFFC0)
           .bytes(),
       "tensor 'b' would end beyond any file", ""},
      unknown_type("type 43, newer than this ggml", 43, "type 43 (unknown)"),
      unknown_type("type 31, removed from ggml", 31, "type 31 (unknown)"),
      unknown_type("type 37, removed from ggml", 37, "type 37 (unknown)"),
      unknown_type("type 137 of a fork", 137, "type 137 (unknown)"),
      unknown_type("type -1", ~0U, "type -1 (unknown)"),
      {"C332", "rows of 33 in blocks of 32", one_tensor({33, 1}, q4_0, 64).bytes(),
       "rows of 33 elements, which q4_0 cannot hold", ""},
      {"C333", "tensor name of 64 bytes", GgufBuilder().tensor(long_name, {4}, f32, 16).bytes(),
       "more than the 63", ""},
      {"C333", "duplicate tensor name",
       GgufBuilder().tensor("t", {4}, f32, 16).tensor("t", {4}, f32, 16).bytes(),
       "tensor 't' was listed twice", ""},
      {"C334", "offsets in another order",
       GgufBuilder().tensor_at("a", {8}, f32, 32).tensor_at("b", {8}, f32, 0).bytes() +
           std::string(64, '\0'),
       "tensor 'a' is said to be at 32", ""},
      {"C334", "unaligned offset",
       GgufBuilder().tensor("a", {4}, f32, 16).tensor_at("b", {4}, f32, 16).bytes() +
           std::string(64, '\0'),
       "tensor 'b' is said to be at 16, and the one before it ends at 32", ""},
      {"C334", "a gap",
       GgufBuilder().tensor("a", {4}, f32, 16).tensor_at("b", {4}, f32, 64).bytes() +
           std::string(128, '\0'),
       "tensor 'b' is said to be at 64, and the one before it ends at 32", ""},
      {"C335", "offset and size beyond the end", one_tensor({1 << 20}, f16, 64).bytes(),
       "it has 192 of at least 2097280 bytes, and the data of tensor 't'", ""},
  };
  return cases;
}

}  // namespace paceline::support
