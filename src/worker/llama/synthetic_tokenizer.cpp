#include "worker/llama/synthetic_tokenizer.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "worker/llama/gguf_ptr.hpp"
#include "worker/llama/refuse.hpp"

namespace paceline::worker {

namespace {

constexpr std::string_view prefix = "tokenizer.";
constexpr const char* mask_key = "tokenizer.ggml.mask_token_id";
constexpr const char* space = "\xe2\x96\x81";  // how SentencePiece writes one

// What llama.cpp calls LLAMA_TOKEN_TYPE_..
enum class TokenType : std::int32_t { normal = 1, unknown = 2, control = 3, byte = 6 };

struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<std::int32_t> types;

  void add(std::string token, float score, TokenType type) {
    tokens.push_back(std::move(token));
    scores.push_back(score);
    types.push_back(static_cast<std::int32_t>(type));
  }
};

Vocabulary vocabulary_of(std::int64_t size) {
  Vocabulary made;
  made.add("<unk>", 0, TokenType::unknown);
  for (const char* name : {"<s>", "</s>", "<mask>"}) made.add(name, 0, TokenType::control);
  for (int byte = 0; byte < 256; ++byte)
    made.add(fmt::format("<0x{:02X}>", byte), 0, TokenType::byte);
  made.add(space, -1, TokenType::normal);
  for (char letter = '!'; letter <= '~'; ++letter)
    made.add(std::string(1, letter), -static_cast<float>(letter), TokenType::normal);
  // Their scores are so low that no text is taken for one.
  for (int i = 0; static_cast<std::int64_t>(made.tokens.size()) < size; ++i)
    made.add(fmt::format("{}w{}", space, i), -1000 - static_cast<float>(i), TokenType::normal);
  return made;
}

}  // namespace

void set_synthetic_tokenizer(std::int64_t vocabulary, gguf_context* gguf) {
  const Vocabulary made = vocabulary_of(vocabulary);
  std::vector<const char*> tokens;
  for (const std::string& token : made.tokens) tokens.push_back(token.c_str());
  gguf_set_val_str(gguf, "tokenizer.ggml.model", "llama");
  gguf_set_val_str(gguf, "tokenizer.ggml.pre", "default");
  gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", tokens.data(), tokens.size());
  gguf_set_arr_data(gguf, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, made.scores.data(),
                    made.scores.size());
  gguf_set_arr_data(gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, made.types.data(),
                    made.types.size());
  gguf_set_val_u32(gguf, "tokenizer.ggml.unknown_token_id", 0);
  gguf_set_val_u32(gguf, "tokenizer.ggml.bos_token_id", 1);
  gguf_set_val_u32(gguf, "tokenizer.ggml.eos_token_id", 2);
  gguf_set_val_u32(gguf, mask_key, 3);
  gguf_set_val_bool(gguf, "tokenizer.ggml.add_bos_token", true);
}

util::Result<void> copy_tokenizer(const std::string& path, std::int64_t vocabulary,
                                  gguf_context* gguf) {
  const GgufPtr source(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}));
  if (source == nullptr) return refuse("'{}' cannot be read by ggml: convert it again.", path);
  std::vector<std::string> others;
  for (std::int64_t i = 0; i < gguf_get_n_kv(source.get()); ++i) {
    const std::string key = gguf_get_key(source.get(), i);
    if (!key.starts_with(prefix)) others.push_back(key);
  }
  for (const std::string& key : others) gguf_remove_key(source.get(), key.c_str());
  gguf_set_kv(gguf, source.get());
  if (gguf_find_key(gguf, mask_key) < 0)
    gguf_set_val_u32(gguf, mask_key, static_cast<std::uint32_t>(vocabulary - 1));
  return {};
}

}  // namespace paceline::worker
