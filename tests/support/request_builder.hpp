#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/trace.hpp"

// Requests written by hand, pass by pass, for tests whose figures are worked out on paper.
namespace paceline::tests {

class RequestBuilder {
 public:
  explicit RequestBuilder(std::string prompt_id, std::string workload_class = "code") {
    request_.prompt_id = std::move(prompt_id);
    request_.workload_class = std::move(workload_class);
    request_.prefill = {10, 10, 0, 1'000'000'000, 0};
    emit(-1, {1000}, 0, 0);
  }

  /// A pass without a draft that emits one token after `ms` milliseconds.
  RequestBuilder& plain(int ms) {
    add_pass(trace::PassKind::plain, ms);
    emit(last_pass(), {next_token_++}, 0, 0);
    return *this;
  }

  /// A pass that offers and accepts so many draft tokens, and emits the accepted and its own.
  RequestBuilder& draft(int ms, int offered, int accepted) {
    return draft_cut(ms, offered, accepted, accepted + 1);
  }

  /// The same where only `emitted` of the tokens become output: the text ended.
  RequestBuilder& draft_cut(int ms, int offered, int accepted, int emitted) {
    auto& pass = add_pass(trace::PassKind::speculative, ms);
    fill_draft(pass, offered, accepted);
    emit_new(emitted, accepted, accepted + 1 - emitted);
    return *this;
  }

  /// A rejection that is rolled back: a pass without output, then one that decodes the accepted
  /// part again and emits it, the target's own token and one more.
  RequestBuilder& replayed(int ms, int offered, int accepted) {
    fill_draft(add_pass(trace::PassKind::speculative, ms), offered, accepted);
    add_pass(trace::PassKind::replay, ms).width = accepted + 2;
    emit_new(accepted + 2, accepted, 0);
    return *this;
  }

  /// Emits the given tokens in one plain pass each.
  RequestBuilder& text(const std::vector<std::int32_t>& tokens) {
    for (const auto token : tokens) {
      add_pass(trace::PassKind::plain, 10);
      emit(last_pass(), {token}, 0, 0);
    }
    return *this;
  }

  trace::Request build() const { return request_; }

 private:
  int last_pass() const { return static_cast<int>(request_.passes.size()) - 1; }

  trace::Pass& add_pass(trace::PassKind kind, int ms) {
    trace::Pass pass;
    pass.index = static_cast<int>(request_.passes.size());
    pass.kind = kind;
    pass.began_ns = now_;
    now_ += ms * 1'000'000LL;
    pass.ended_ns = now_;
    request_.passes.push_back(pass);
    return request_.passes.back();
  }

  static void fill_draft(trace::Pass& pass, int offered, int accepted) {
    pass.attempts = 1;
    pass.generated = offered;
    pass.offered = offered;
    pass.accepted = accepted;
    pass.tested = accepted < offered ? accepted + 1 : offered;
    pass.width = offered + 1;
  }

  void emit_new(int count, int accepted, int overshoot) {
    std::vector<std::int32_t> tokens;
    for (int i = 0; i < count; ++i) tokens.push_back(next_token_++);
    emit(last_pass(), std::move(tokens), accepted, overshoot);
  }

  void emit(int pass, std::vector<std::int32_t> tokens, int accepted, int overshoot) {
    request_.emissions.push_back({pass, std::move(tokens), accepted, overshoot, now_, {}});
  }

  trace::Request request_;
  trace::Nanoseconds now_ = 1'000'000'000;
  std::int32_t next_token_ = 1;
};

/// A launch that ended well.
inline trace::Launch launch_of(const std::string& arm, int round,
                               std::vector<trace::Request> requests) {
  trace::Launch launch;
  launch.arm = arm;
  launch.round = round;
  launch.index = round;
  launch.requests = std::move(requests);
  return launch;
}

/// A bare run of arms named "plain" (no drafter) or anything else (DFlash).
inline trace::Trace trace_of(const std::vector<std::string>& arms,
                             std::vector<trace::Launch> launches) {
  trace::Trace trace;
  trace.header.residency = "bare";
  trace.header.n_predict = 16;
  for (const auto& name : arms) {
    trace::Arm arm;
    arm.name = name;
    if (name != "plain") arm.setup.spec_type = trace::SpecType::draft_dflash;
    trace.header.arms.push_back(arm);
  }
  trace.launches = std::move(launches);
  for (std::size_t i = 0; i < trace.launches.size(); ++i)
    trace.launches[i].index = static_cast<int>(i);
  return trace;
}

}  // namespace paceline::tests
