#include "protocol/message.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <variant>

#include "trace/trace_file.hpp"
#include "util/files.hpp"

namespace paceline::protocol {
namespace {

template <class Alternative, class Variant>
Alternative only(const util::Result<Variant>& decoded) {
  EXPECT_TRUE(decoded) << decoded.error().message;
  EXPECT_TRUE(std::holds_alternative<Alternative>(*decoded));
  return std::get<Alternative>(*decoded);
}

TEST(Message, open_keeps_what_was_asked_and_what_was_not) {
  Open open;
  open.setup.model_path = "a \"quoted\" path.gguf";
  open.setup.spec_type = trace::SpecType::draft_mtp;
  open.setup.draft_n_max = 3;
  open.sampling.temp = 0.7;
  const auto back = only<Open>(decode_command(encode(Command(open))));
  EXPECT_EQ(back.setup.model_path, open.setup.model_path);
  EXPECT_EQ(back.setup.spec_type, trace::SpecType::draft_mtp);
  EXPECT_EQ(back.setup.draft_n_max, 3);
  EXPECT_FALSE(back.setup.draft_path);
  EXPECT_EQ(back.sampling.temp, 0.7);
  EXPECT_FALSE(back.sampling.min_p) << "what nobody asked for must stay absent, not become 0";
}

TEST(Message, generate_keeps_its_tokens_and_flags) {
  Generate generate;
  generate.prompt_tokens = {1, 2047, 0};
  generate.n_predict = 24;
  generate.seed = 4294967295u;
  generate.record_gaps = true;
  generate.forced_text = {3, 4};
  const auto submit = only<Submit>(decode_command(encode(Command(Submit{7, generate}))));
  const auto& back = std::get<Generate>(submit.job);
  EXPECT_EQ(submit.job_id, 7u);
  EXPECT_EQ(back.prompt_tokens, generate.prompt_tokens);
  EXPECT_EQ(back.seed, 4294967295u);
  EXPECT_TRUE(back.record_gaps);
  EXPECT_EQ(back.forced_text, generate.forced_text);
  EXPECT_FALSE(back.record_drafts);
}

TEST(Message, a_pass_event_keeps_every_count) {
  trace::Pass pass;
  pass.index = 4;
  pass.kind = trace::PassKind::speculative;
  pass.drafter = "draft-dflash";
  pass.attempts = 1;
  pass.generated = 7;
  pass.offered = 6;
  pass.tested = 3;
  pass.accepted = 2;
  pass.width = 7;
  pass.depth = 130;
  pass.began_ns = 9'000'000'000'000'000'001;
  pass.ended_ns = 9'000'000'000'000'000'002;
  pass.phases = trace::Phases{1, 2, 3, 4, 5, 6, 7};
  pass.draft = {5, 6};
  const auto happened = only<Happened>(decode_report(encode(Report(Happened{3, pass}))));
  const auto& back = std::get<trace::Pass>(happened.event);
  EXPECT_EQ(back.drafter, "draft-dflash");
  EXPECT_EQ(back.generated, 7);
  EXPECT_EQ(back.offered, 6);
  EXPECT_EQ(back.tested, 3);
  EXPECT_EQ(back.accepted, 2);
  EXPECT_EQ(back.began_ns, pass.began_ns) << "nanoseconds must not pass through a double";
  EXPECT_EQ(back.phases->rollback_ns, 7);
  EXPECT_EQ(back.draft, pass.draft);
}

TEST(Message, a_job_without_fields_and_its_answer_arrive) {
  const auto submit = only<Submit>(decode_command(encode(Command(Submit{5, ListDevices{}}))));
  EXPECT_TRUE(std::holds_alternative<ListDevices>(submit.job));
  const trace::Devices devices{{{"CPU", "CPU", "a processor", 1, 1ULL << 40}}};
  const auto happened = only<Happened>(decode_report(encode(Report(Happened{5, devices}))));
  EXPECT_EQ(std::get<trace::Devices>(happened.event).list.at(0).memory_total_bytes, 1ULL << 40);
}

TEST(Message, a_probe_of_devices_and_their_speeds_arrive) {
  const auto submit =
      only<Submit>(decode_command(encode(Command(Submit{5, ProbeDevices{1ULL << 40, 3}}))));
  EXPECT_EQ(std::get<ProbeDevices>(submit.job).bytes, 1ULL << 40);
  EXPECT_EQ(std::get<ProbeDevices>(submit.job).threads, 3);
  const trace::DeviceSpeeds speeds{{{"CUDA0", 7, {1e9}, {2e9, 3e9}, {4e9}, "busy"}}};
  const auto happened = only<Happened>(decode_report(encode(Report(Happened{5, speeds}))));
  const auto& back = std::get<trace::DeviceSpeeds>(happened.event).list.at(0);
  EXPECT_EQ(back.name, "CUDA0");
  EXPECT_EQ(back.bytes, 7u);
  EXPECT_EQ(back.upload_bytes_per_s, (std::vector<double>{1e9}));
  EXPECT_EQ(back.download_bytes_per_s, (std::vector<double>{2e9, 3e9}));
  EXPECT_EQ(back.read_bytes_per_s, (std::vector<double>{4e9}));
  EXPECT_EQ(back.reason, "busy");
}

TEST(Message, texts_to_read_again_and_what_was_read_arrive) {
  Reread job;
  job.texts.push_back({"code", "a", "", {{"user", "why?"}}, {7, 8, 9}, {1, 3}});
  job.widths = {2, 8};
  const auto submit = only<Submit>(decode_command(encode(Command(Submit{5, job}))));
  const auto& back = std::get<Reread>(submit.job);
  EXPECT_EQ(back.texts.at(0).messages.at(0).content, "why?");
  EXPECT_EQ(back.texts[0].tokens, job.texts[0].tokens);
  EXPECT_EQ(back.texts[0].places, job.texts[0].places);
  EXPECT_EQ(back.widths, job.widths);
  const trace::Rereading said{{{8, 1LL << 40, 1e-7, 2.5}}, {{"code", "a", 3, 0.125}}};
  const auto happened = only<Happened>(decode_report(encode(Report(Happened{5, said}))));
  EXPECT_EQ(std::get<trace::Rereading>(happened.event).widths.at(0).logits, 1LL << 40);
  EXPECT_EQ(std::get<trace::Rereading>(happened.event).margins.at(0).top2, 0.125);
}

TEST(Message, text_that_is_no_utf8_becomes_replacement_characters) {
  trace::Finished finished;
  finished.text = "half a \xe2\x82";
  const auto happened = only<Happened>(decode_report(encode(Report(Happened{1, finished}))));
  EXPECT_EQ(std::get<trace::Finished>(happened.event).text, "half a \xef\xbf\xbd");
}

TEST(Message, hostile_text_is_an_error_with_its_reason) {
  const char* cases[][2] = {
      {"", "not JSON"},
      {"[]", "missing"},
      {"{\"kind\": \"launch-missiles\", \"value\": {}}", "unknown kind"},
      {"{\"kind\": \"cancel\", \"value\": {}}", "job_id"},
      {"{\"kind\": \"cancel\", \"value\": {\"job_id\": -1}}", "out of range"},
      {"{\"kind\": \"cancel\", \"value\": {\"job_id\": 1.5}}", "whole number"},
      {"{\"kind\": \"cancel\", \"value\": {\"job_id\": 1e300}}", "whole number"},
      {"{\"kind\": \"cancel\", \"value\": {\"job_id\": 4294967296}}", "out of range"},
      {"{\"kind\": \"submit\", \"value\": {\"job_id\": 1, \"job\": 5}}", "missing"},
  };
  for (const auto& [text, expected] : cases) {
    const auto command = decode_command(text);
    ASSERT_FALSE(command) << text;
    EXPECT_NE(command.error().message.find(expected), std::string::npos)
        << text << " gave: " << command.error().message;
  }
}

TEST(Message, nesting_that_would_exhaust_the_stack_is_refused) {
  const std::string deep(1'000'000, '[');
  ASSERT_FALSE(decode_report(deep));
  EXPECT_NE(decode_report(deep).error().message.find("nested"), std::string::npos);
}

/// A fuzzer that starts from what is refused at once finds nothing.
TEST(FuzzerSeeds, are_messages_and_traces_of_this_version) {
  const std::filesystem::path seeds = PACELINE_SOURCE_DIR "/fuzz/seeds";
  for (const auto& entry : std::filesystem::directory_iterator(seeds / "frames_fuzz")) {
    const std::string text = util::read_file(entry.path()).value_or("");
    EXPECT_TRUE(decode_command(text) || decode_report(text)) << entry.path();
  }
  const auto text = util::read_file(seeds / "trace_file_fuzz/small.jsonl");
  ASSERT_TRUE(text);
  const auto trace = trace::read_trace(*text);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_FALSE(trace->interrupted);
  EXPECT_EQ(trace->launches.size(), 3u);
}

}  // namespace
}  // namespace paceline::protocol
