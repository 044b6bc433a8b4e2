#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "dialect/dialect.hpp"

// What a hostile server may answer, of every kind and on every route: the first byte chooses both,
// the rest is the answer. What was read must be numbers that can be true, and little beside them.
namespace {

using namespace paceline;

void check_said(const std::vector<trace::Said>& said) {
  for (const trace::Said& one : said) {
    if (!(one.value >= 0) || one.field.empty() || one.endpoint.empty()) std::abort();
    for (const double value : one.values)
      if (!(value >= 0)) std::abort();
  }
}

void check_few(const std::vector<std::string>& oddities) {
  if (oddities.size() > 21) std::abort();
  for (const std::string& oddity : oddities)
    if (oddity.size() > 400) std::abort();
}

void check_message(const dialect::Dialect& dialect, std::string_view text) {
  const auto message = dialect.read(text);
  if (!message) {
    if (message.error().message.empty()) std::abort();
    return;
  }
  const trace::Chunk& chunk = message->chunk;
  if (chunk.output_tokens.value_or(0) < 0 || chunk.offered.value_or(0) < 0 ||
      chunk.accepted.value_or(0) < 0 || !(chunk.decode_ms.value_or(0) >= 0))
    std::abort();
  if (static_cast<std::size_t>(chunk.content_bytes) != message->content.size() ||
      static_cast<std::size_t>(chunk.reasoning_bytes) != message->reasoning.size())
    std::abort();
  check_said(message->said);
  check_few(message->oddities);
}

void check_facts(const dialect::Dialect& dialect, std::string_view text) {
  dialect::Answers answers;
  const net::Response answer{200, {}, std::string(text)};
  for (const auto& target : dialect.fact_targets()) answers[target] = answer;
  for (const auto& target : dialect::probe_targets()) answers[target] = answer;
  trace::EngineFacts facts;
  dialect.read_facts(answers, facts);
  dialect.read_fact_answer(answer, facts);
  if (!facts.server || facts.server->abilities.size() != trace::quantities) std::abort();
  if (facts.n_ctx < 0) std::abort();
  check_few(facts.target.oddities);
  dialect::choose(answers);
}

void check_counters(const dialect::Dialect& dialect, std::string_view text) {
  const auto middle = text.find("\n\n");
  const auto before = dialect.read_counters(text.substr(0, middle));
  const auto after =
      dialect.read_counters(middle == std::string_view::npos ? text : text.substr(middle));
  if (!before || !after) return;
  for (const std::optional<long> tokens : {std::optional<long>(), std::optional<long>(64)}) {
    const auto moved = dialect.moved(*before, *after, tokens);
    check_said(moved.said);
    check_few(moved.oddities);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& dialects = dialect::all();
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const dialect::Dialect& chosen = *dialects[data[0] % 16 % dialects.size()];
  switch (data[0] / 16 % 4) {
    case 0:
      check_message(chosen, text);
      break;
    case 1:
      check_facts(chosen, text);
      break;
    case 2:
      check_counters(chosen, text);
      break;
    default:
      if (!chosen.read_template({200, {}, std::string(text)}) && size < 2) break;
  }
  return 0;
}
