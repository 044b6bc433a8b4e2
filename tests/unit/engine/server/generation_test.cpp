#include "engine/server/generation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline::engine::server {
namespace {

using testing::HasSubstr;

protocol::Generate job() {
  protocol::Generate generate;
  generate.prompt = "one";
  generate.n_predict = 4;
  return generate;
}

/// A llama-server's generation that is fed by hand.
class Fed {
 public:
  Fed() : generation_(*dialect::find("llama-server"), job(), "m", false) {
    generation_.sent(at(0));
  }
  Fed& head(int status, net::Headers headers) {
    generation_.take({1, at(1), net::Head{status, std::move(headers)}});
    return *this;
  }
  Fed& stream() { return head(200, {{"Content-Type", "text/event-stream"}}); }
  Fed& body(std::string bytes, int seconds = 2) {
    generation_.take({1, at(seconds), net::Body{std::move(bytes)}});
    return *this;
  }
  Fed& ends(net::EndKind kind = net::EndKind::complete, std::string reason = "") {
    generation_.take({1, at(9), net::End{kind, std::move(reason)}});
    return *this;
  }
  static net::TimePoint at(int seconds) { return net::TimePoint(std::chrono::seconds(seconds)); }

  Generation& operator*() { return generation_; }
  Generation* operator->() { return &generation_; }

 private:
  Generation generation_;
};

const char* const token =
    R"(data: {"content":"a","tokens":[5],"stop":false,"tokens_predicted":1,"tokens_evaluated":3})"
    "\n\n";
const char* const last =
    R"(data: {"content":"","tokens":[],"stop":true,"stop_type":"limit","tokens_predicted":1,)"
    R"("tokens_evaluated":3})"
    "\n\n";

TEST(Generation, reads_a_stream_when_it_has_ended) {
  Fed fed;
  fed.stream().body(token).body(last).ends();
  EXPECT_EQ(fed->stage(), Stage::done);
  const auto finished = fed->finished();
  EXPECT_EQ(finished.outcome.kind, trace::OutcomeKind::done) << finished.outcome.reason;
  EXPECT_EQ(finished.text, "a");
  EXPECT_EQ(fed->answered().chunks.size(), 1u);
}

TEST(Generation, says_first_of_all_what_was_wrong_with_the_events) {
  Fed fed;
  fed.stream().body("data: {\"content\":NaN}\n\n").ends();
  const auto reason = fed->finished().outcome.reason;
  EXPECT_THAT(reason, HasSubstr("without saying why"));
  EXPECT_THAT(reason, HasSubstr("an event was no message"));
}

TEST(Generation, keeps_few_of_a_million_oddities) {
  Fed fed;
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += "data: 1\n\n";
  fed.stream().body(bytes).ends();
  EXPECT_LE(fed->answered().answer.oddities.size(), 20u);
}

TEST(Generation, refuses_an_answer_that_is_compressed_unasked) {
  Fed fed;
  fed.head(200, {{"Content-Type", "text/event-stream"}, {"Content-Encoding", "gzip"}});
  fed.body("\x1f\x8b").ends();
  EXPECT_THAT(fed->finished().outcome.reason, HasSubstr("gzip"));
}

TEST(Generation, does_not_follow_where_it_is_sent_and_says_where_that_was) {
  Fed fed;
  fed.head(307, {{"Location", "http://elsewhere/"}}).ends();
  const auto outcome = fed->finished().outcome;
  EXPECT_EQ(outcome.kind, trace::OutcomeKind::refused);
  EXPECT_THAT(outcome.reason, HasSubstr("http://elsewhere/"));
}

TEST(Generation, hears_nothing_in_comments_and_headers) {
  Fed fed;
  fed.stream().body(": ping\n\n", 5);
  EXPECT_EQ(fed->heard(), Fed::at(0));
  fed.body(token, 6);
  EXPECT_EQ(fed->heard(), Fed::at(6));
}

TEST(Generation, that_is_given_up_ends_as_that_and_keeps_what_came) {
  Fed fed;
  fed.stream().body(token);
  fed->give_up(trace::OutcomeKind::timed_out, "nothing came for 1 s");
  fed.ends(net::EndKind::cancelled, "cancelled");
  const auto finished = fed->finished();
  EXPECT_EQ(finished.outcome.kind, trace::OutcomeKind::timed_out);
  EXPECT_EQ(finished.outcome.reason, "nothing came for 1 s");
  EXPECT_EQ(fed->answered().chunks.size(), 1u);
}

TEST(Generation, knows_an_event_that_never_ends) {
  Fed fed;
  fed.stream().body("data: " + std::string((std::size_t{16} << 20) + 1, 'x'));
  EXPECT_TRUE(fed->is_too_long());
}

TEST(Generation, that_the_user_stops_is_cancelled) {
  Fed fed;
  fed.stream().body(token);
  fed->cancel();
  fed.ends(net::EndKind::cancelled, "cancelled");
  EXPECT_EQ(fed->finished().outcome.kind, trace::OutcomeKind::cancelled);
  EXPECT_EQ(fed->stage(), Stage::done);
}

}  // namespace
}  // namespace paceline::engine::server
