#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/dialect.hpp"
#include "dialect/openai_messages.hpp"
#include "dialect/sampling.hpp"

namespace paceline::dialect {

/// How one kind of server takes requests on OpenAI's routes.
struct OpenAiTraits {
  std::string_view prefix = "/v1";  ///< before "/chat/completions"
  std::span<const ParameterName> parameters;
  bool text_route = true;               ///< has "/completions" for prompts as text
  bool token_prompts = false;           ///< and takes token ids there
  bool ignores_eos = false;             ///< knows "ignore_eos"
  bool usage_in_every_message = false;  ///< knows stream_options.continuous_usage_stats
  const char* asks_for = nullptr;       ///< a field that is true when the server shall say more
};

/// The request of a generation on OpenAI's routes.
net::Request openai_request(const Ask& ask, const OpenAiTraits& traits);
std::vector<std::string> openai_cannot_ask(const Ask& ask, const OpenAiTraits& traits);

/// Messages as OpenAI has them, with image parts where there are images.
util::Json openai_messages(const std::vector<protocol::ChatMessage>& messages);
bool has_images(const protocol::Generate& job);

/// A POST with a JSON body.
net::Request json_request(std::string target, const util::Json& body);

/// The answer to a GET as an object; nothing when it was not asked, failed, or is none.
std::optional<util::Json> answer_object(const Answers& answers, const std::string& target);

/// What the entry of a server names itself in /v1/models ("vllm", "llamacpp"); empty: it does not.
std::string model_owner(const Answers& answers);

/// Reads /v1/models: the model's name, and its context where it says one.
void read_models(const Answers& answers, std::string_view target, trace::EngineFacts& facts);

/// The server's part of the facts, made where there was none.
trace::ServerFacts& server_facts(const Dialect& dialect, trace::EngineFacts& facts);

/// A dialect of OpenAI's routes; what a kind of server says beside them is read by read_more.
class OpenAiRoutes : public Dialect {
 public:
  net::Request generate(const Ask& ask) const override { return openai_request(ask, traits()); }
  std::vector<std::string> cannot_ask(const Ask& ask) const override {
    return openai_cannot_ask(ask, traits());
  }
  util::Result<Message> read(std::string_view text) const override;

 protected:
  virtual OpenAiTraits traits() const = 0;
  virtual void read_more(const util::Json& json, const OpenAiShape& shape, Message& message) const;
};

}  // namespace paceline::dialect
