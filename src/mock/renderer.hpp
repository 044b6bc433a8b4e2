#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mock/asked.hpp"
#include "mock/truth.hpp"
#include "net/http.hpp"

// How each kind of server words what is true. Written from the servers' own sources and samples,
// apart from the dialects that read it, so that a mistake is not made twice.

namespace paceline::mock {

/// What a server has counted since it started.
struct Counters {
  long requests = 0;  ///< finished
  long prompt_tokens = 0;
  long prompt_cached = 0;
  double prompt_s = 0;
  long output = 0;
  double decode_s = 0;
  long forwards = 0;    ///< decode calls, those of prompts included
  long busy_slots = 0;  ///< summed over forwards
  long longest = 0;     ///< sequence so far
  long rounds = 0;      ///< passes with a draft
  long offered = 0;
  long accepted = 0;
  std::vector<long> offered_at;
  std::vector<long> accepted_at;
  // Since the last scrape.
  long bucket_prompt = 0;
  double bucket_prompt_s = 0;
  long bucket_steps = 0;
  double bucket_decode_s = 0;
};

/// Everything a server may say of itself.
struct State {
  Truth truth;
  Counters counters;
  long started_unix = 0;  ///< seconds
  long number = 0;        ///< of restarts
  long tasks = 0;         ///< requests for text that began since it started
  int processing = 0;
  int waiting = 0;
  long drained_reads = 0;  ///< GETs of a statistic that reading empties

  /// The build as this process says it; a restart is another one.
  std::string build() const;
};

/// One request under way: what it asked, what will be, and what has been said of it so far.
struct Stream {
  Asked asked;
  Plan plan;
  std::string id;
  int slot = 0;
  int prompt_done = 0;   ///< prompt tokens decoded so far, cached ones not included
  std::size_t said = 0;  ///< tokens already in events
  std::size_t passes = 0;
  long offered = 0;  ///< running totals; a lie is in `accepted` and `usage_output` alone
  long accepted = 0;
  long rounds = 0;
  double prompt_ms = 0;
  double decode_ms = 0;
  long usage_output = 0;  ///< output tokens as the end will state them
  std::string held;       ///< bytes of a character that is not whole yet
  std::string opening;    ///< what every event of this request begins with, made once

  /// Text of tokens from `said` to `until`, as far as characters are whole.
  std::string take(std::size_t until);
  /// The kept text of the tokens in [from, until), all of it.
  std::string text(std::size_t from, std::size_t until) const;
  bool finished() const { return said == plan.tokens.size(); }
  /// How many of the first `until` tokens are reasoning.
  std::size_t reasoning(const Truth& truth, std::size_t until) const;
};

enum class Framing { sse, lines };

/// When a server adds what a request did to its counters.
enum class CountsWhen { each_pass, at_end, at_natural_end };

/// One kind of server.
class Renderer {
 public:
  virtual ~Renderer() = default;

  /// Whether a POST to this path makes text.
  virtual bool generates(std::string_view path) const = 0;
  /// Every other answer; nothing: 404.
  virtual std::optional<net::Response> other(const net::Request& request, State& state) const = 0;

  virtual Framing framing(const Asked&) const { return Framing::sse; }
  /// Whether a stream is asked for; Ollama's default is yes.
  virtual bool streams(const Asked& asked) const { return asked.stream; }
  virtual bool event_per_token() const { return false; }
  virtual CountsWhen counts_when() const { return CountsWhen::each_pass; }

  // Events, framed except where framing() says lines.
  /// Before the first token.
  virtual std::vector<std::string> begin(const State&, Stream&) const { return {}; }
  /// The prompt is begun, or one more batch of it is done.
  virtual std::vector<std::string> prompt_batch(const State&, Stream&) const;
  /// Tokens from stream.said to `until`, made by one pass; `last`: the text ends with them.
  virtual std::vector<std::string> tokens(const State& state, Stream& stream,
                                          std::size_t until) const = 0;
  /// After the last token.
  virtual std::vector<std::string> end(const State& state, Stream& stream) const = 0;
  /// The whole answer where no stream was asked for.
  virtual util::Json whole(const State& state, Stream& stream) const = 0;
  /// The error of this kind of server.
  virtual util::Json error(int status, std::string_view message) const;
};

// Shared by renderers.

net::Response json_response(const util::Json& body, int status = 200);
net::Response text_response(std::string body, std::string type = "text/plain");
/// "data: ...\n\n"
std::string sse(std::string_view data);
/// Text as a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);
/// The length of the longest prefix that ends with a whole character.
std::size_t whole_characters(std::string_view text);

/// One line of Prometheus text with its help and type.
std::string metric(std::string_view type, std::string_view name, double value,
                   std::string_view labels = "");

std::unique_ptr<Renderer> make_llama_server();
std::unique_ptr<Renderer> make_ik_llama();
std::unique_ptr<Renderer> make_openai();
enum class SpecMetrics { none, summary, detailed };
std::unique_ptr<Renderer> make_vllm(SpecMetrics metrics);
std::unique_ptr<Renderer> make_vllm_v0();
/// `generation`: 1 and 2 are the old names, 3 those of today.
std::unique_ptr<Renderer> make_sglang(int generation);
std::unique_ptr<Renderer> make_tensorrt_llm();
std::unique_ptr<Renderer> make_ollama();
std::unique_ptr<Renderer> make_lm_studio();
std::unique_ptr<Renderer> make_mlx_vlm();

/// The names that make_renderer takes.
std::vector<std::string> renderer_names();
/// By name; null when there is none.
std::unique_ptr<Renderer> make_renderer(std::string_view name);

}  // namespace paceline::mock
