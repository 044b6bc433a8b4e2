#include "worker/llama/vocabulary.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "gguf.h"
#include "worker/llama/refuse.hpp"

namespace paceline::worker {

namespace {

// llama.cpp's own tolerance: padding at the end, and special tokens at the beginning.
constexpr std::int64_t most_extra_tokens = 128;
constexpr std::int64_t first_compared_token = 5;

struct Freeing {
  void operator()(gguf_context* gguf) const { gguf_free(gguf); }
};

/// The list of tokens of one file, whose head was found sound before; empty when there is none.
class Tokens {
 public:
  explicit Tokens(const std::string& path)
      : gguf_(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr})) {
    if (gguf_ == nullptr) return;
    key_ = gguf_find_key(gguf_.get(), "tokenizer.ggml.tokens");
    if (key_ >= 0 && gguf_get_kv_type(gguf_.get(), key_) == GGUF_TYPE_ARRAY &&
        gguf_get_arr_type(gguf_.get(), key_) == GGUF_TYPE_STRING)
      size_ = static_cast<std::int64_t>(gguf_get_arr_n(gguf_.get(), key_));
  }

  std::int64_t size() const { return size_; }
  std::string_view operator[](std::int64_t token) const {
    return gguf_get_arr_str(gguf_.get(), key_, static_cast<std::size_t>(token));
  }

 private:
  std::unique_ptr<gguf_context, Freeing> gguf_;
  std::int64_t key_ = -1;
  std::int64_t size_ = 0;
};

constexpr const char* advice =
    "draft-simple takes a small model of the target's own family, with the same tokenizer";

}  // namespace

util::Result<void> check_same_tokens(const model::Gguf& target, const model::Gguf& drafter) {
  constexpr const char* kind = "tokenizer.ggml.model";
  const std::string ours = target.text(kind).value_or("none");
  const std::string theirs = drafter.text(kind).value_or("none");
  if (ours != theirs)
    return refuse("The drafter '{}' has the tokenizer '{}' and the target '{}' has '{}': {}.",
                  drafter.path(), theirs, target.path(), ours, advice);
  const Tokens of_target(target.path());
  const Tokens of_drafter(drafter.path());
  if (std::abs(of_target.size() - of_drafter.size()) > most_extra_tokens)
    return refuse("The drafter '{}' has {} tokens and the target '{}' has {}: {}.", drafter.path(),
                  of_drafter.size(), target.path(), of_target.size(), advice);
  const std::int64_t common = std::min(of_target.size(), of_drafter.size());
  for (std::int64_t token = first_compared_token; token < common; ++token)
    if (of_target[token] != of_drafter[token])
      return refuse("Token {} of the drafter '{}' is '{}', of the target '{}' it is '{}': {}.",
                    token, drafter.path(), of_drafter[token], target.path(), of_target[token],
                    advice);
  return {};
}

}  // namespace paceline::worker
