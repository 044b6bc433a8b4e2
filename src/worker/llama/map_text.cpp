#include "worker/llama/map_text.hpp"

#include <algorithm>
#include <utility>

#include "worker/llama/chat.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/simple_tokens.hpp"

namespace paceline::worker {

namespace {

constexpr std::size_t shortest_text = 2;  // there is nothing to draft behind a single token

void cut(MapText& text, std::size_t most) {
  if (text.tokens.size() > most) text.tokens.resize(most);
}

util::Result<MapText> finished(MapText text, int most_tokens) {
  if (text.prompt.empty()) return refuse("the text has no prompt: give it one");
  if (most_tokens > 0) cut(text, static_cast<std::size_t>(most_tokens));
  if (text.tokens.size() < shortest_text)
    return refuse("the text has {} tokens: there is nothing to draft", text.tokens.size());
  return text;
}

std::string joined(const protocol::KnownText& text) {
  std::string all = text.prompt;
  for (const auto& message : text.messages) all += message.content + "\n";
  return all;
}

MapText tokenized(const llama_vocab* vocabulary, const std::string& prompt,
                  const protocol::KnownText& text) {
  MapText read;
  // With special tokens added and parsed, as a request's prompt.
  read.prompt = common_tokenize(vocabulary, prompt, true, true);
  read.tokens = text.tokens;
  if (read.tokens.empty()) read.tokens = common_tokenize(vocabulary, text.text, false, false);
  return read;
}

util::Result<void> check_tokens(const llama_vocab* vocabulary, const MapText& text) {
  for (const llama_token token : text.tokens)
    if (token < 0 || token >= llama_vocab_n_tokens(vocabulary))
      return refuse("the text holds token {}, which this model does not have", token);
  return {};
}

util::Result<MapText> checked(const llama_vocab* vocabulary, MapText text, int most_tokens) {
  PACELINE_TRY(check_tokens(vocabulary, text));
  PACELINE_TRY_ASSIGN(text, finished(std::move(text), most_tokens));
  text.ends_itself = llama_vocab_is_eog(vocabulary, text.tokens.back());
  return text;
}

}  // namespace

util::Result<MapText> read_map_text(LoadedModel& model, const protocol::KnownText& text,
                                    int most_tokens) {
  std::string prompt = text.prompt;
  if (!text.messages.empty()) {
    PACELINE_TRY_ASSIGN(prompt, render_chat(model, text.messages));
  }
  PACELINE_TRY_ASSIGN(
      MapText read,
      checked(model.vocabulary(), tokenized(model.vocabulary(), prompt, text), most_tokens));
  const int room = model.facts.n_ctx - static_cast<int>(read.prompt.size()) - 1;
  if (room < static_cast<int>(shortest_text))
    return refuse("the prompt of {} tokens leaves no room for its text with -c {}: raise -c",
                  read.prompt.size(), model.facts.n_ctx);
  if (std::cmp_greater(read.tokens.size(), room)) {
    cut(read, static_cast<std::size_t>(room));
    read.ends_itself = false;
  }
  return read;
}

util::Result<MapText> read_map_text(const llama_vocab* vocabulary, const protocol::KnownText& text,
                                    int most_tokens) {
  return checked(vocabulary, tokenized(vocabulary, joined(text), text), most_tokens);
}

util::Result<MapText> read_map_text_simply(const protocol::KnownText& text, int most_tokens) {
  SimpleTokens tokens;
  MapText read;
  read.prompt = tokens.of(joined(text));
  read.tokens = tokens.of(text.text);
  return finished(std::move(read), most_tokens);
}

trace::DraftMap map_of(const protocol::KnownText& text, const MapText& read, trace::MapKind kind) {
  trace::DraftMap map;
  map.workload_class = text.workload_class;
  map.prompt_id = text.prompt_id;
  map.kind = kind;
  map.prompt_tokens = static_cast<int>(read.prompt.size());
  map.tokens = read.tokens;
  map.ends_itself = read.ends_itself;
  return map;
}

trace::DraftMap not_mapped(const protocol::KnownText& text, trace::MapKind kind,
                           std::string reason) {
  trace::DraftMap map = map_of(text, {}, kind);
  map.reason = std::move(reason);
  return map;
}

int agreeing(const llama_tokens& draft, const llama_tokens& text, int place) {
  const auto next = text.begin() + place + 1;
  return static_cast<int>(std::mismatch(draft.begin(), draft.end(), next, text.end()).first -
                          draft.begin());
}

}  // namespace paceline::worker
