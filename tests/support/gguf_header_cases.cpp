#include <utility>

#include "support/gguf_builder.hpp"
#include "support/gguf_case.hpp"

namespace paceline::support {

namespace {

constexpr std::uint32_t type_u8 = 0;
constexpr std::uint32_t type_i32 = 5;
constexpr std::uint32_t type_f32 = 6;
constexpr std::uint32_t type_string = 8;
constexpr std::uint32_t type_array = 9;
constexpr std::uint32_t type_i64 = 11;

std::string list_of(std::uint32_t type, std::uint64_t count, const std::string& elements = "") {
  return little_endian(type) + little_endian(count) + elements;
}

std::string counts(std::int64_t tensors, std::int64_t keys) {
  return "GGUF" + little_endian<std::uint32_t>(3) + little_endian(tensors) + little_endian(keys);
}

std::string nested_lists(int depth) {
  std::string bytes;
  for (int i = 0; i < depth; ++i) bytes += list_of(type_array, 1);
  return bytes + list_of(type_u8, 0);
}

std::string with(const std::string& key, std::uint32_t type, const std::string& value) {
  return small_model().key(key, type, value).bytes();
}

/// Keys that make the whole file unreadable.
std::vector<GgufCase> broken_keys() {
  const std::string long_key =
      counts(0, 1) + little_endian<std::uint64_t>(~std::uint64_t{0}) + std::string(40, 'a');
  const std::string no_name = counts(0, 1) + little_endian<std::uint64_t>(0) + std::string(40, 'a');
  const std::string huge_text = little_endian<std::uint64_t>(0x4000000000000000) + "ab";
  const std::string negative_text = little_endian<std::uint64_t>(1ULL << 63) + "ab";
  const std::string three = little_endian<std::uint32_t>(3);
  return {
      {"C311", "key of 2^64-1 bytes", long_key, "the name of key 0 claims 18446744073709551615",
       ""},
      {"C312", "key without a name", no_name, "key 0 has no name", ""},
      {"C313", "duplicate key", small_model().u32("a", 1).u32("a", 2).bytes(),
       "the key 'a' comes twice", ""},
      {"C314", "value type 13", with("a", 13, three), "the key 'a' has the type 13", ""},
      {"C314", "value type -1", with("a", ~0U, three), "the key 'a' has the type -1", ""},
      {"C315", "3000 nested lists", with("a", type_array, nested_lists(3000)), "list of lists", ""},
      {"C316", "list of 2^62", with("a", type_array, list_of(type_u8, 1ULL << 62)),
       "the list 'a' claims 4611686018427387904 elements", ""},
      {"C316", "list of 2^30, few bytes left", with("a", type_array, list_of(type_i32, 1 << 30)),
       "the list 'a' claims 1073741824 elements", ""},
      {"C316", "more texts than 8 bytes each", with("a", type_array, list_of(type_string, 100)),
       "the list 'a' claims 100 elements of at least 8 bytes", ""},
      {"C317", "text of 2^62 bytes", with("a", type_string, huge_text),
       "the value of 'a' claims 4611686018427387904 bytes", ""},
      {"C317", "text of 2^63 bytes", with("a", type_string, negative_text),
       "the value of 'a' claims 9223372036854775808 bytes", ""},
  };
}

/// Keys whose values are unusual, or not what they have to be.
std::vector<GgufCase> odd_values() {
  const std::string hostile("a\0b\n\x1b[2J\xff", 9);
  return {
      {"C318", "name with NUL, newline, escape and no UTF-8",
       small_model().text("general.name", hostile).bytes(), "", "",
       [](const model::FileFacts& facts) { return facts.name == "a\\x00b\\x0a\\x1b[2J\\xff"; }},
      {"C319", "alignment 13", small_model().u32("general.alignment", 13).bytes(),
       "general.alignment that is no power of two stored as u32 (13)", ""},
      {"C319", "alignment 0", small_model().u32("general.alignment", 0).bytes(),
       "general.alignment", ""},
      {"C319", "alignment as i32",
       with("general.alignment", type_i32, little_endian<std::uint32_t>(32)), "general.alignment",
       ""},
      {"C319", "alignment as u64", with("general.alignment", 10, little_endian<std::uint64_t>(32)),
       "general.alignment", ""},
      {"C319", "alignment as a list",
       with("general.alignment", type_array, list_of(4, 1, little_endian<std::uint32_t>(32))),
       "general.alignment", ""},
      {"C320", "per-layer head counts and feed-forwards",
       small_model()
           .u32s("llama.attention.head_count", {2})
           .u32s("llama.feed_forward_length", {16})
           .bytes(),
       "", "",
       [](const model::FileFacts& facts) { return facts.oddities.empty() && facts.layers == 1; }},
      {"C321", "file_type as a list", small_model().u32s("general.file_type", {1}).bytes(), "",
       "general.file_type", [](const model::FileFacts& facts) { return !facts.file_type; }},
      {"C321", "split.count as text", small_model().text("split.count", "2").bytes(), "",
       "split.count is not a whole number",
       [](const model::FileFacts& facts) { return !facts.split; }},
      {"C321", "token_type as u8",
       with("tokenizer.ggml.token_type", type_array, list_of(type_u8, 8, std::string(8, '\1'))), "",
       "tokenizer.ggml.token_type"},
      {"C321", "token_type as i64",
       with("tokenizer.ggml.token_type", type_array, list_of(type_i64, 8, std::string(64, '\1'))),
       "", "tokenizer.ggml.token_type"},
      {"C321", "fewer scores than tokens",
       with("tokenizer.ggml.scores", type_array, list_of(type_f32, 3, std::string(12, '\0'))), "",
       "tokenizer.ggml.scores has 3 elements for 8 tokens"},
  };
}

}  // namespace

std::vector<GgufCase> gguf_header_cases() {
  const std::string version_1 = "GGUF" + little_endian<std::uint32_t>(1) +
                                little_endian<std::uint32_t>(0) + little_endian<std::uint32_t>(1) +
                                little_endian<std::uint64_t>(0);
  const std::string lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
  const std::string junk(76, '\0');
  return {
      {"C301", "an empty file", "", "is empty", ""},
      {"C301", "1 byte", "G", "cut short", ""},
      {"C301", "3 bytes", "GGU", "cut short", ""},
      {"C301", "4 bytes", "GGUF", "cut short", ""},
      {"C302", "magic FUGG", "FUGG" + junk, "begins with \"FUGG\"", ""},
      {"C302", "magic of ggml", "lmgg" + junk, "older than GGUF", ""},
      {"C302", "magic of ggjt", "tjgg" + junk, "older than GGUF", ""},
      {"C302", "magic of ggla", "algg" + junk, "older than GGUF", ""},
      {"C302", "an HTML page", "<!DOCTYPE html><title>404", "web page", ""},
      {"C302", "a Git LFS pointer", lfs, "git lfs pull", ""},
      {"C302", "magic that a terminal obeys", "\x1b[2J" + junk, "begins with \"\\x1b[2J\"", ""},
      {"C303", "version 0", small_model().version(0).bytes(), "GGUF version 0", ""},
      {"C304", "version 1, 24 bytes", version_1, "GGUF version 1", ""},
      {"C305", "version 2", small_model().version(2).bytes(), "", "",
       [](const model::FileFacts& facts) {
         return facts.gguf_version == 2 && facts.architecture == "llama" && facts.layers == 1 &&
                facts.parameters == 52;
       }},
      {"C306", "version 4", small_model().version(4).bytes(), "newer than version 3", ""},
      {"C307", "big-endian", small_model().version(0x03000000).bytes(), "big-endian", ""},
      {"C308", "-1 tensors", counts(-1, 0) + junk, "claims -1 tensors", ""},
      {"C309", "-1 keys", counts(0, -1) + junk, "claims -1 keys", ""},
      {"C309", "2^40 keys in 100 bytes", counts(0, 1LL << 40) + junk,
       "claims 1099511627776 keys, and 76 bytes follow", ""},
      {"C309", "1000 keys in 100 bytes", counts(0, 1000) + junk,
       "claims 1000 keys, and 76 bytes follow", ""},
      {"C310", "2^56 tensors: their infos overflow", counts(1LL << 56, 0) + junk,
       "claims 72057594037927936 tensors", ""},
  };
}

std::vector<GgufCase> gguf_key_cases() {
  std::vector<GgufCase> cases = broken_keys();
  for (GgufCase& one : odd_values()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace paceline::support
