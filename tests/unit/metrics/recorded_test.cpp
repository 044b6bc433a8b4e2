#include <gtest/gtest.h>

#include "dialect/dialect.hpp"
#include "metrics/counts.hpp"
#include "metrics/normalise.hpp"
#include "net/sse.hpp"
#include "util/files.hpp"

// Answers of a real llama-server, with the counts that tests/support/recorded/README.md has from a
// script of its own and the server's counters.

namespace paceline::metrics {
namespace {

struct Recorded {
  const char* file;
  long offered;
  long accepted;
  long speculative;
  double decodes;  ///< decode calls, two of them for the prompt
  long passes;
  long replays;
};

trace::Request read(const Recorded& recorded, bool with_counter) {
  const auto* dialect = dialect::find("llama-server");
  const auto body =
      util::read_file(std::string(PACELINE_SOURCE_DIR "/tests/support/recorded/") + recorded.file);
  std::vector<net::SseEvent> events;
  net::SseParser().feed(body.value_or(""), events);
  trace::Request request;
  request.answer.emplace();
  request.answer->endpoint = "/completion";
  int batches = 0;
  for (const auto& event : events) {
    const auto message = dialect->read(event.data);
    EXPECT_TRUE(message) << event.data;
    if (!message) continue;
    if (message->prompt_batch) ++batches;
    if (message->stop) request.stop = *message->stop;
    for (const auto& said : message->said) request.answer->said.push_back(said);
    if (message->has_tokens) request.chunks.push_back(message->chunk);
  }
  request.answer->prompt_batches = batches;
  if (with_counter)
    request.answer->said.push_back(
        {trace::Quantity::decodes, recorded.decodes, {}, "/metrics", "n_decode_total", ""});
  normalise(request, false);
  return request;
}

class RecordedAnswer : public testing::TestWithParam<Recorded> {};

TEST_P(RecordedAnswer, gives_the_counts_that_were_taken_by_hand) {
  const auto counts = count_request(read(GetParam(), true));
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->output_tokens, 40);
  EXPECT_EQ(counts->offered, GetParam().offered);
  EXPECT_EQ(counts->accepted, GetParam().accepted);
  EXPECT_EQ(counts->passes, GetParam().passes);
  EXPECT_EQ(counts->passes_replay, GetParam().replays);
  EXPECT_EQ(counts->residual_passes, 0);
}

TEST_P(RecordedAnswer, gives_the_same_passes_without_the_counter) {
  const auto counts = count_request(read(GetParam(), false));
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->passes, GetParam().passes);
  EXPECT_EQ(counts->passes_replay, GetParam().replays);
  EXPECT_EQ(counts->residual_passes.known(), GetParam().replays == 0);
}

INSTANTIATE_TEST_SUITE_P(OfLlamaServer, RecordedAnswer,
                         testing::Values(Recorded{"llama-server-plain.sse", 0, 0, 0, 41, 39, 0},
                                         Recorded{"llama-server-dflash.sse", 88, 25, 14, 16, 14, 0},
                                         Recorded{"llama-server-mtp.sse", 41, 25, 14, 16, 14, 0},
                                         Recorded{"llama-server-ngram.sse", 28, 19, 0, 22, 20, 3}),
                         [](const auto& one) {
                           std::string name = one.param.file;
                           name = name.substr(13, name.size() - 17);
                           return name;
                         });

}  // namespace
}  // namespace paceline::metrics
