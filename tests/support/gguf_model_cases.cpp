#include <algorithm>

#include "support/gguf_builder.hpp"
#include "support/gguf_case.hpp"

namespace paceline::support {

namespace {

constexpr std::uint32_t f16 = 1;
constexpr std::uint32_t type_u16 = 2;
constexpr std::uint32_t type_i32 = 5;

/// One file of a split model of six tensors at most: each file has one of its own.
GgufBuilder shard(int number, int count, int tensors, const std::string& architecture = "llama") {
  GgufBuilder builder(number == 1 ? architecture : "");
  if (number == 1) builder.u32(architecture + ".block_count", 1);
  builder.key("split.no", type_u16, little_endian(static_cast<std::uint16_t>(number - 1)))
      .key("split.count", type_u16, little_endian(static_cast<std::uint16_t>(count)))
      .key("split.tensors.count", type_i32, little_endian(static_cast<std::uint32_t>(tensors)))
      .tensor("part" + std::to_string(number) + ".weight", {16}, f16, 32);
  return builder;
}

const std::string first = "m-00001-of-00002.gguf";
const std::string second = "m-00002-of-00002.gguf";

bool is_set_of_2(const model::FileFacts& facts, int number, int present) {
  return facts.split && facts.split->count == 2 && facts.split->number == number &&
         facts.split->present == present;
}

GgufCase set_case(const std::string& input, const std::string& bytes, const std::string& name,
                  std::map<std::string, std::string> beside, const std::string& odd, int number,
                  int present) {
  return {"C337",
          input,
          bytes,
          "",
          odd,
          [number, present](const model::FileFacts& facts) {
            return is_set_of_2(facts, number, present);
          },
          name,
          std::move(beside)};
}

}  // namespace

std::vector<GgufCase> gguf_set_cases() {
  const std::string one = shard(1, 2, 2).bytes();
  const std::string two = shard(2, 2, 2).bytes();
  const std::uint64_t both = one.size() + two.size();
  return {
      {"C337",
       "a whole set",
       one,
       "",
       "",
       [both](const model::FileFacts& facts) {
         return is_set_of_2(facts, 1, 2) && facts.file_bytes == both && facts.parameters == 32 &&
                facts.oddities.empty();
       },
       first,
       {{second, two}}},
      set_case("only the second file", two, second, {}, "this is file 2 of 2", 2, 1),
      {"C337",
       "the second file, whose keys are in the first",
       two,
       "",
       "this is file 2 of 2",
       [](const model::FileFacts& facts) {
         return facts.architecture == "llama" && facts.layers == 1 && is_set_of_2(facts, 2, 2);
       },
       second,
       {{first, one}}},
      {"C337",
       "a file missing",
       one,
       "",
       "1 of 2 files are missing",
       [](const model::FileFacts& facts) {
         return is_set_of_2(facts, 1, 1) && facts.split->missing == std::vector{second};
       },
       first,
       {}},
      set_case("a file of another set", one, first, {{second, shard(2, 3, 3).bytes()}},
               "belongs to another set", 1, 1),
      set_case("a tensor in two files", one, first,
               {{second, shard(2, 2, 2).tensor("part1.weight", {16}, f16, 32).bytes()}},
               "is in two files", 1, 2),
      set_case("split.no wrong", two, first, {{second, two}},
               "its name says file 1, split.no says file 2", 2, 1),
      set_case("split.tensors.count wrong", shard(1, 2, 5).bytes(), first, {{second, two}},
               "says 5 tensors, the files have 2", 1, 2),
      {"C337", "-00001-of-00001", shard(1, 1, 1).bytes(), "", "",
       [](const model::FileFacts& facts) { return !facts.split && facts.oddities.empty(); },
       "m-00001-of-00001.gguf"},
      {"C338", "shards joined with cat", one + two, "", "joined with cat",
       [](const model::FileFacts& facts) { return facts.split.has_value(); }, "joined.gguf"},
      {"C338", "part 1 of a raw split", one.substr(0, one.size() - 20),
       "the data of tensor 'part1.weight' is not all there", "", nullptr, "m.gguf.part1of2"},
      {"C338", "part 2 of a raw split", one.substr(one.size() - 20), "join the pieces", "", nullptr,
       "m.gguf.part2of2"},
      {"C338", "magic U of an overwritten shard", "U" + one.substr(1), "begins with \"UGUF\"", ""},
  };
}

std::vector<GgufCase> gguf_model_cases() {
  const auto mtp = [](bool key, bool tensors) {
    GgufBuilder builder = small_model("qwen35");
    if (key) builder.u32("qwen35.nextn_predict_layers", 1);
    if (tensors) builder.tensor("blk.0.nextn.eh_proj.weight", {8, 4}, f16, 64);
    return builder.bytes();
  };
  const std::string drafter = GgufBuilder("dflash")
                                  .u32("dflash.block_count", 5)
                                  .u32("dflash.block_size", 16)
                                  .u32s("dflash.target_layers", {2, 10, 18, 26, 34})
                                  .u32("tokenizer.ggml.mask_token_id", 9)
                                  .tensor("fc.weight", {20, 4}, f16, 160)
                                  .bytes();
  const auto no_drafter = [](const model::FileFacts& facts) { return !facts.drafter; };
  const std::string tokens = little_endian<std::uint32_t>(8) + little_endian<std::uint64_t>(2) +
                             gguf_string("<0x-1>") + gguf_string("<0xZZ>");
  return {
      {"C339", "one tensor fewer than the architecture wants", small_model().bytes(), "", "",
       [](const model::FileFacts& facts) { return facts.recipe.size() == 3; }},
      {"C340", "an architecture nobody knows", small_model("gemma99").bytes(), "", "",
       [](const model::FileFacts& facts) {
         return facts.architecture == "gemma99" && facts.layers == 1;
       }},
      {"C341", "a DFlash drafter", drafter, "", "",
       [](const model::FileFacts& facts) {
         return facts.drafter && facts.drafter->kind == "dflash" && facts.drafter->block == 16 &&
                facts.drafter->target_layers == std::vector{2, 10, 18, 26, 34};
       }},
      {"C342", "MTP in the name alone", mtp(false, false), "", "named as a file with MTP",
       no_drafter, "model-MTP.gguf"},
      {"C342", "the key without tensors", mtp(true, false), "",
       "nextn_predict_layers is 1, but 0 blocks", no_drafter},
      {"C342", "tensors without the key", mtp(false, true), "",
       "nextn_predict_layers is missing, but 1 blocks", no_drafter},
      {"C342", "key and tensors", mtp(true, true), "", "",
       [](const model::FileFacts& facts) {
         return facts.drafter && facts.drafter->kind == "mtp" && facts.drafter->nextn_layers == 1 &&
                facts.drafter->recipe.size() == 3;
       }},
      {"C343", "byte tokens <0x-1> and <0xZZ>, ids and merges out of range",
       GgufBuilder()
           .key("tokenizer.ggml.tokens", 9, tokens)
           .u32("tokenizer.ggml.eos_token_id", 999'999)
           .texts("tokenizer.ggml.merges", 3)
           .tensor("token_embd.weight", {4, 2}, f16, 16)
           .bytes(),
       "", "", [](const model::FileFacts& facts) { return facts.vocabulary == 2; }},
      {"C344", "250,000 tokens and as many merges",
       GgufBuilder()
           .texts("tokenizer.ggml.tokens", 250'000)
           .texts("tokenizer.ggml.merges", 250'000)
           .bytes(),
       "", "", [](const model::FileFacts& facts) { return facts.vocabulary == 250'000; }},
  };
}

}  // namespace paceline::support
