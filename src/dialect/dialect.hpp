#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http.hpp"
#include "protocol/job.hpp"
#include "trace/request.hpp"
#include "util/result.hpp"

// What each kind of server is asked and how its answers are read. Pure: nothing here opens a socket
// or knows the time, so every dialect is tested and fuzzed on text alone.

namespace paceline::dialect {

/// Answers to GETs by target; those that failed or were not asked are not in it.
using Answers = std::map<std::string, net::Response>;

/// How a streamed answer is cut into messages.
enum class Framing { sse, lines };

/// What one message of a streamed answer says; of a whole answer, the answer itself.
struct Message {
  trace::Chunk chunk;         ///< arrived_ns is not set
  bool has_tokens = false;    ///< it carries output: text, ids, or a running total above 0 in a
                              ///< message that is not the last; the last one repeats the total or
                              ///< says a greater one, which only the stream's reader can compare
  bool prompt_batch = false;  ///< it says that one more batch of the prompt was processed
  std::string content;
  std::string reasoning;
  std::optional<trace::StopReason> stop;
  bool truncated = false;         ///< it says that prompt or answer was cut to fit its context
  std::vector<trace::Said> said;  ///< of the whole request; the last one of a field counts
  std::optional<trace::EffectiveSampling> sampling;
  std::optional<std::string> error;     ///< an error in place of an answer
  std::vector<std::string> oddities;    ///< fields of the wrong type or out of range, dropped
  std::optional<bool> speculates;       ///< where the message says so
  std::vector<std::string> spec_types;  ///< likewise
};

/// What a request to a server needs beside the job.
struct Ask {
  const protocol::Generate& job;
  std::string model;  ///< as the server names it
  /// Leave out what is not the job's own wish: tool_temp, the seed, and what only makes the server
  /// say more. For servers that refuse fields they do not know.
};

/// A reading of a server's counters.
struct Counters {
  /// By metric name, summed over engines and replicas; of the metrics that `moved` knows only.
  std::map<std::string, double> values;
  std::map<std::string, std::vector<double>> by_position;  ///< of metrics with a position label
  std::vector<std::string> oddities;
};

/// What the counters moved by between two readings, or why that says nothing of one request.
struct Moved {
  std::vector<trace::Said> said;
  std::vector<std::string>
      oddities;  ///< a reset, another client, a lie: what they touch is not said
};

/// One kind of server.
class Dialect {
 public:
  virtual ~Dialect() = default;

  /// As --dialect names it.
  virtual std::string_view name() const = 0;

  /// What it can be made to say and what it cannot; every quantity once.
  virtual std::vector<trace::Ability> abilities() const = 0;

  /// Why the answers to probe_targets() are of this kind, as in "/props names build_info"; nothing
  /// when they are not.
  virtual std::optional<std::string> recognises(const Answers& answers) const = 0;

  /// GETs whose answers `facts` reads.
  virtual std::vector<std::string> fact_targets() const = 0;
  /// What the server says it is. `sampling` of it is the server's default, where it says one.
  virtual void read_facts(const Answers& answers, trace::EngineFacts& facts) const = 0;
  /// A POST that says more, as Ollama's /api/show; nothing for most.
  virtual std::optional<net::Request> fact_request(const std::string& model) const;
  virtual void read_fact_answer(const net::Response& answer, trace::EngineFacts& facts) const;

  /// The streaming request of a generation.
  virtual net::Request generate(const Ask& ask) const = 0;
  /// What the job wants and this server has no field or route for, by name ("top_k", "ignore_eos",
  /// "prompt_tokens", "a prompt as text", "images"): generate() left it out.
  virtual std::vector<std::string> cannot_ask(const Ask& ask) const = 0;
  virtual Framing framing() const { return Framing::sse; }

  /// Messages to the prompt text that the server's own template makes of them, where it has a
  /// route for that: then the text goes to its native route, which says most.
  virtual std::optional<net::Request> apply_template(
      const std::vector<protocol::ChatMessage>& messages) const;
  virtual util::Result<std::string> read_template(const net::Response& answer) const;

  /// Reads one message of hostile text. The error says what is wrong with it; the stream goes on.
  virtual util::Result<Message> read(std::string_view text) const = 0;

  /// Where its counters are; nothing when it has none that may be read without harm.
  virtual std::optional<std::string> counters_target() const;
  virtual util::Result<Counters> read_counters(std::string_view text) const;
  /// What moved while one request of `output_tokens` ran alone.
  virtual Moved moved(const Counters& before, const Counters& after,
                      std::optional<long> output_tokens) const;
};

/// Every dialect, in the order in which they are tried; the last, "openai", recognises anything
/// with a /v1/models.
const std::vector<std::unique_ptr<Dialect>>& all();

/// By its name; null when there is none.
const Dialect* find(std::string_view name);

/// GETs whose answers tell which dialect a server speaks. None of them changes anything.
std::vector<std::string> probe_targets();

struct Choice {
  const Dialect* dialect = nullptr;
  std::string why;
};

/// The first dialect that recognises the answers; nothing when none does.
std::optional<Choice> choose(const Answers& answers);

}  // namespace paceline::dialect
