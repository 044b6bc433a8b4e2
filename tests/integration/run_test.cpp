#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "support/measuring_test.hpp"
#include "trace/trace_file.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

namespace paceline {
namespace {

using support::Ended;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string models = std::string(PACELINE_SOURCE_DIR) + "/models/";
const std::string target = models + "target-mtp-f16.gguf";
const std::string dflash = models + "dflash-f16.gguf";

class Run : public support::MeasuringTest {};

/// What the document says of one class on one arm.
util::Json workload_of(const util::Json& document, const std::string& arm,
                       const std::string& name) {
  for (const auto& candidate : document.at("arms"))
    if (candidate.at("name") == arm)
      for (const auto& workload : candidate.at("workloads"))
        if (workload.at("class") == name) return workload;
  ADD_FAILURE() << "no " << name << " in arm " << arm;
  return {};
}

TEST_F(Run, takes_no_number_that_is_none_and_no_empty_name) {
  const std::vector<std::vector<std::string>> senseless = {
      {"run", "-m", target, "--rate", "4,nan"},
      {"run", "-m", target, "--exclude-steal", "NaN"},
      {"compare", "-m", target, "--a", "--temp inf", "--b", ""},
      {"roofline", "-m", target, "--bandwidth", "nan"},
      {"predict", target, "--p-min", "+nan"},
      {"run", "-m", target, "--json", ""},
      {"run", "--server-bin", "", "-m", target},
      {"predict", ""},
      {"run", "-m", target, "--workload", ""}};
  for (const auto& words : senseless) {
    const Ended ended = support::run_program(path("home"), words);
    EXPECT_EQ(ended.exit_code, 2) << words[0] << " " << words.back();
    EXPECT_THAT(ended.errors, testing::AnyOf(HasSubstr("is empty"), HasSubstr("is no number"),
                                             HasSubstr("is not between")));
  }
}

TEST_F(Run, never_writes_its_document_over_what_it_reads) {
  ASSERT_TRUE(util::write_file(
      path("mix.toml"), "name = \"m\"\nshares_of = \"tokens\"\n[classes.json]\nshare = 1\n"));
  std::filesystem::copy_file(models + "small-f16.gguf", path("m-00002-of-00002.gguf"));
  for (const auto& json : {path("mix.toml"), path("m-00002-of-00002.gguf"), path("./t.jsonl")}) {
    const auto before = util::read_file(json).value_or("");
    const Ended ended =
        run({"-m", target, "--class", "json", "--prompts", "1", "-n", "2", "--launches", "1", "-t",
             "1", "--mix", path("mix.toml"), "--trace", path("t.jsonl"), "--json", json});
    EXPECT_EQ(ended.exit_code, 2) << json;
    EXPECT_THAT(ended.errors, HasSubstr("would overwrite"));
    EXPECT_EQ(util::read_file(json).value_or(""), before);
  }
}

TEST_F(Run, measures_plain_and_dflash_greedily_without_losing_a_token) {
  const Ended ended =
      run({"-m", target, "-md", dflash, "--spec-type", "draft-dflash", "--temp", "0", "--class",
           "json", "--prompts", "8", "-n", "32", "-t", "1", "--json", path("report.json")});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto report = document();
  const auto plain = workload_of(report, "plain", "json");
  const auto drafted = workload_of(report, "dflash", "json");
  EXPECT_EQ(plain.at("decode").at("tokens_per_pass").at("value"), 1.0);
  EXPECT_EQ(plain.at("decode").at("residual_passes").at("value"), 0);
  EXPECT_EQ(drafted.at("decode").at("residual_passes").at("value"), 0);
  // models/dflash-golden.json: 3.26 tokens a pass on the graph's json texts; a short cap cuts
  // drafts.
  EXPECT_GT(drafted.at("decode").at("tokens_per_pass").at("value").get<double>(), 2.5);
  EXPECT_LT(drafted.at("decode").at("tokens_per_pass").at("value").get<double>(), 8.0);
  EXPECT_EQ(drafted.at("lossless").at("texts"), 8);
  EXPECT_GE(drafted.at("lossless").at("equal").get<int>(), 7);
  EXPECT_THAT(ended.output, HasSubstr("json"));
  EXPECT_THAT(ended.output, Not(HasSubstr("\033["))) << "no colours when piped";
}

TEST_F(Run, prints_only_the_document_on_standard_output_when_json_goes_there) {
  const Ended ended = run({"-m", target, "--class", "json", "--prompts", "1", "-n", "4",
                           "--launches", "1", "--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto json = util::parse_json(ended.output, "standard output");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->at("schema"), "paceline.report/1");
  EXPECT_THAT(ended.errors, HasSubstr("json")) << "the report goes to standard error";
}

TEST_F(Run, measures_copies_of_target_and_drafter_in_the_types_and_weight_asked_for) {
  const Ended ended = run({"-m",
                           target,
                           "-md",
                           dflash,
                           "--quant",
                           "q8_0",
                           "--draft-quant",
                           "q4_0",
                           "--ballast",
                           "2/1024",
                           "--widths",
                           "11",
                           "--class",
                           "json",
                           "--prompts",
                           "1",
                           "-n",
                           "4",
                           "--launches",
                           "1",
                           "-t",
                           "1",
                           "--spec-type",
                           "draft-dflash",
                           "--json",
                           path("report.json")});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("target-mtp-f16-2x1024-q8_0-"));
  EXPECT_THAT(ended.output, HasSubstr("dflash-f16-q4_0-"));
  const auto report = document();
  for (const auto& curve : report.at("width_curves"))
    EXPECT_EQ(curve.at("widths").size(), curve.at("arm") == "plain" ? 11u : 8u);
}

/// Everything that is counted, and nothing that is timed.
util::Json counts_of(const util::Json& document) {
  util::Json counts;
  for (const auto& arm : document.at("arms"))
    for (const auto& workload : arm.at("workloads")) {
      const auto& acceptance = workload.at("acceptance");
      counts.push_back({arm.at("name"), workload.at("class"), acceptance.at("offered"),
                        acceptance.at("accepted"), acceptance.at("positions"),
                        acceptance.at("histogram")});
    }
  return counts;
}

TEST_F(Run, counts_the_same_twice_with_every_drafter_at_temperature_0) {
  util::Json counts[2];
  for (auto& of_run : counts) {
    const Ended ended = run({"-m",         target,
                             "--temp",     "0",
                             "--arm",      "draft-dflash:7:" + dflash,
                             "--arm",      "draft-dspark:7:" + models + "dspark-f16.gguf",
                             "--arm",      "draft-eagle3:5:" + models + "eagle3-f16.gguf",
                             "--arm",      "draft-simple:4:" + models + "small-f16.gguf",
                             "--arm",      "draft-mtp:3",
                             "--workload", "lab",
                             "--prompts",  "2",
                             "-n",         "32",
                             "--launches", "1",
                             "-t",         "1",
                             "--json",     path("report.json")});
    ASSERT_EQ(ended.exit_code, 0) << ended.errors;
    EXPECT_THAT(ended.output, HasSubstr("Accepted at each position of a draft"));
    of_run = counts_of(document());
  }
  EXPECT_EQ(counts[0].size(), 6u * 6u) << "six arms on six classes";
  EXPECT_EQ(counts[0], counts[1]);
}

TEST_F(Run, goes_on_when_the_worker_is_killed_in_the_middle) {
  support::Program program(
      home(), {"run", "-m", target, "--class", "json,c", "--prompts", "12", "-n", "200", "-t", "1",
               "--json", path("report.json"), "--trace", path("trace.jsonl")});
  ASSERT_TRUE(wait_for_requests(path("trace.jsonl"), 3));
  const pid_t worker = program.wait_for_child();
  ASSERT_GT(worker, 0);
  ASSERT_EQ(::kill(worker, SIGSEGV), 0);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  const auto report = document();
  bool found = false;
  for (const auto& outcome : report.at("outcomes")) found |= outcome.at("signal") == SIGSEGV;
  EXPECT_TRUE(found) << report.at("outcomes").dump();
  EXPECT_TRUE(
      workload_of(report, "plain", "json").at("decode").at("tokens_per_s").at("value").is_number())
      << "the other launches still give a figure";
  const auto trace = trace::read_trace(*util::read_file(path("trace.jsonl")));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->launches.size(), 3u);
}

TEST_F(Run, says_what_was_finished_when_it_is_interrupted) {
  support::Program program(
      home(), {"run", "-m", target, "--class", "json", "--prompts", "24", "-n", "400", "-t", "1",
               "--launches", "50", "--json", path("report.json"), "--trace", path("trace.jsonl")});
  ASSERT_TRUE(wait_for_requests(path("trace.jsonl"), 30));
  program.send(SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.errors;
  EXPECT_TRUE(workload_of(document(), "plain", "json")
                  .at("decode")
                  .at("tokens_per_s")
                  .at("value")
                  .is_number());
}

TEST_F(Run, fits_a_prompt_into_a_small_context_without_upsetting_the_engine) {
  // Holds a fault: batches larger than the context's own made llama.cpp abort.
  const Ended ended = run({"-m", target, "-c", "200", "--class", "json", "--prompts", "1", "-n",
                           "8", "--launches", "1", "--json", path("report.json")});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_TRUE(document().at("outcomes").empty());
}

TEST_F(Run, refuses_to_write_its_document_over_the_model_or_the_trace) {
  const std::string model = path("model.gguf");
  std::filesystem::copy_file(target, model);
  const Ended over_model = run({"-m", model, "--json", model});
  EXPECT_EQ(over_model.exit_code, 2);
  EXPECT_THAT(over_model.errors, HasSubstr("overwrite"));
  EXPECT_EQ(std::filesystem::file_size(model), std::filesystem::file_size(target));
  EXPECT_EQ(run({"-m", model, "--json", path("x"), "--trace", path("x")}).exit_code, 2);
}

TEST_F(Run, says_when_standard_output_cannot_be_written) {
  const std::string program = std::string(PACELINE_BINARY_DIR) + "/paceline";
  auto shell = util::ChildProcess::start(
      {"/bin/sh", "-c",
       program + " run -m " + target +
           " --class json --prompts 1 -n 4 --launches 1 > /dev/full 2> " + path("errors")},
      {"XDG_DATA_HOME=" + home()});
  ASSERT_TRUE(shell);
  EXPECT_EQ(shell->wait(std::chrono::minutes(2))->exit_code, 5);
  EXPECT_THAT(*util::read_file(path("errors")), HasSubstr("standard output"));
}

TEST_F(Run, measures_on_when_nobody_reads_its_talk) {
  const std::string program = std::string(PACELINE_BINARY_DIR) + "/paceline";
  auto shell = util::ChildProcess::start(
      {"/bin/sh", "-c",
       program + " run -m " + target + " --class json --prompts 1 -n 4 --launches 1 --json " +
           path("report.json") + " > " + path("out") + " 2>&- <&-"},
      {"XDG_DATA_HOME=" + home()});
  ASSERT_TRUE(shell);
  EXPECT_EQ(shell->wait(std::chrono::minutes(2))->exit_code, 0);
  EXPECT_EQ(document().at("schema"), "paceline.report/1");
}

TEST_F(Run, lets_no_escape_sequence_through_to_the_terminal) {
  ASSERT_TRUE(util::write_file(
      path("w.jsonl"), "{\"id\": \"a\", \"class\": \"\\u001b[31mred\", \"text\": \"x y z\"}\n"));
  const Ended ended = run({"-m", target, "--workload", path("w.jsonl"), "-n", "4", "--launches",
                           "1", "--trace", path("t\033[32m.jsonl")});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors + ended.output, Not(HasSubstr("\033")));
}

struct Refusal {
  const char* name;
  std::vector<std::string> arguments;
  const char* sentence;
  int exit_code;
};

class Refused : public Run, public ::testing::WithParamInterface<Refusal> {};

TEST_P(Refused, with_one_sentence_and_its_exit_code) {
  const Ended ended = run(GetParam().arguments);
  EXPECT_EQ(ended.exit_code, GetParam().exit_code) << ended.errors << ended.output;
  EXPECT_THAT(ended.errors, HasSubstr(GetParam().sentence));
}

const std::vector<std::string> quick{"--class", "json", "--prompts",  "2",
                                     "-n",      "8",    "--launches", "1"};

std::vector<std::string> with_quick(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), quick.begin(), quick.end());
  return arguments;
}

INSTANTIATE_TEST_SUITE_P(
    Refused, Refused,
    ::testing::Values(
        Refusal{"missing_file", with_quick({"-m", "/no/such.gguf"}), "/no/such.gguf", 3},
        Refusal{"no_gguf", with_quick({"-m", std::string(PACELINE_SOURCE_DIR) + "/LICENSE"}),
                "GGUF", 3},
        Refusal{"folder", with_quick({"-m", PACELINE_SOURCE_DIR}), PACELINE_SOURCE_DIR, 3},
        Refusal{"drafter_of_another_kind",
                with_quick({"-m", target, "-md", models + "small-f16.gguf", "--spec-type",
                            "draft-dflash"}),
                "dflash", 3},
        Refusal{"no_mtp_block",
                with_quick({"-m", models + "small-f16.gguf", "--spec-type", "draft-mtp"}), "MTP",
                3},
        Refusal{"context_too_small",
                {"-m", target, "-c", "256", "-n", "250", "--class", "json", "--prompts", "2"},
                "raise -c or shorten",
                3},
        Refusal{"draft_longer_than_the_block",
                with_quick({"-m", target, "-md", dflash, "--arm", "draft-dflash:30"}), "at most 7",
                3},
        Refusal{"ballast_without_a_width", {"-m", target, "--ballast", "32"}, "LAYERS/FFN", 2},
        Refusal{"ballast_with_more_than_two_numbers",
                {"-m", target, "--ballast", "2/1024/3"},
                "LAYERS/FFN",
                2},
        Refusal{"ballast_for_another_model",
                with_quick({"-m", models + "small-f16.gguf", "--ballast", "2/1024"}),
                "is not a laboratory target", 3},
        Refusal{"type_that_no_copy_is_made_in", {"-m", target, "--quant", "q5_k"}, "q8_0", 2},
        Refusal{"copies_for_a_running_server",
                {"--url", "http://127.0.0.1:1", "--quant", "q8_0"},
                "leave them out",
                2},
        Refusal{"temperature_that_is_no_number", {"-m", target, "--temp", "nan"}, "nan", 2},
        Refusal{"negative_seed", {"-m", target, "--seed", "-1"}, "--seed", 2},
        Refusal{"empty_model", {"-m", ""}, "empty", 2},
        Refusal{"unknown_class", {"-m", target, "--class", "rust"}, "rust", 2},
        Refusal{"unknown_option", {"-m", target, "--frobnicate"}, "frobnicate", 2},
        Refusal{"unknown_drafter", {"-m", target, "--spec-type", "magic"}, "magic", 2},
        Refusal{"no_model", {}, "--model", 2}),
    [](const auto& refusal) { return refusal.param.name; });

TEST_F(Run, refuses_a_laboratory_model_that_is_another_file) {
  for (const char* name : {"target-mtp-f16.gguf", "dflash-f16.gguf", "laboratory.sha256"})
    std::filesystem::copy_file(models + name, path(name));
  auto bytes = util::read_file(path("dflash-f16.gguf")).value();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  ASSERT_TRUE(util::write_file(path("dflash-f16.gguf"), bytes));
  const auto drafted =
      with_quick({"-m", path("target-mtp-f16.gguf"), "-md", path("dflash-f16.gguf")});
  for (const bool copied : {false, true}) {
    auto arguments = drafted;
    if (copied) arguments.insert(arguments.end(), {"--draft-quant", "q8_0"});
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.exit_code, 3);
    EXPECT_THAT(ended.errors, HasSubstr("is not the laboratory model of that name"));
  }
  EXPECT_EQ(run(with_quick({"-m", path("target-mtp-f16.gguf")})).exit_code, 0);
}

TEST(Help, teaches_by_example) {
  const support::TemporaryFolder folder;
  const Ended all = support::run_program(folder.path().string(), {"--help"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_THAT(all.output, HasSubstr("paceline demo"));
  const Ended run = support::run_program(folder.path().string(), {"run", "--help"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, HasSubstr("--spec-type draft-mtp"));
}

TEST(Version, names_the_program) {
  const support::TemporaryFolder folder;
  const Ended ended = support::run_program(folder.path().string(), {"--version"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.output, std::string("paceline ") + PACELINE_VERSION + "\n");
}

}  // namespace
}  // namespace paceline
