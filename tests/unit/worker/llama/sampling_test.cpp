#include "worker/llama/sampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "gguf.h"
#include "support/lab_copy.hpp"
#include "support/memory_port.hpp"
#include "support/worker_process.hpp"
#include "trace/sampling.hpp"
#include "worker/llama/generation.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/loading.hpp"

namespace paceline::worker {
namespace {

using trace::Origin;
using Edit = std::function<void(gguf_context*)>;

class SamplingOf : public testing::Test {
 protected:
  util::Result<LoadedModelPtr> open(const Edit& edit, const trace::Sampling& asked) {
    trace::Setup setup = support::lab_setup(trace::SpecType::none);
    setup.model_path = support::lab_copy("target-mtp-f16.gguf", folder_, edit);
    return load(setup, asked);
  }

  /// What is in force with a file that recommends something.
  trace::EffectiveSampling effective(const Edit& edit, const trace::Sampling& asked = {}) {
    auto model = open(edit, asked);
    return model ? facts(**model).sampling : throw std::runtime_error(model.error().message);
  }

  std::string refusal(const Edit& edit, const trace::Sampling& asked = {}) {
    auto model = open(edit, asked);
    return model ? "was not refused" : model.error().message;
  }

  support::TemporaryFolder folder_;
};

/// "0.25 gguf": value and origin under a name.
std::string setting(const trace::EffectiveSampling& sampling, const std::string& name) {
  for (const auto& one : sampling.settings)
    if (one.name == name) {
      const std::array origins{"user", "gguf", "tool", "library"};
      std::ostringstream text;
      text << one.value << ' ' << origins.at(static_cast<std::size_t>(one.origin));
      return text.str();
    }
  return "absent";
}

void recommend(gguf_context* gguf) {
  gguf_set_val_f32(gguf, "general.sampling.temp", 0.25f);
  gguf_set_val_i32(gguf, "general.sampling.top_k", 20);
  gguf_set_val_f32(gguf, "general.sampling.top_p", 0.5f);
  gguf_set_val_f32(gguf, "general.sampling.penalty_repeat", 1.5f);
}

TEST_F(SamplingOf, a_file_comes_before_the_tool_and_the_library_and_behind_the_user) {
  trace::Sampling asked;
  asked.top_k = 5;
  asked.penalty_present = 0.5;
  asked.tool_temp = 0.7;
  const auto sampling = effective(recommend, asked);
  EXPECT_EQ(setting(sampling, "temp"), "0.25 gguf");
  EXPECT_EQ(setting(sampling, "top_k"), "5 user");
  EXPECT_EQ(setting(sampling, "top_p"), "0.5 gguf");
  EXPECT_EQ(setting(sampling, "penalty_repeat"), "1.5 gguf");
  EXPECT_EQ(setting(sampling, "penalty_present"), "0.5 user");
  EXPECT_EQ(setting(sampling, "min_p"), "0.05 library");
  EXPECT_EQ(setting(sampling, "dry_multiplier"), "0 library");
  EXPECT_TRUE(sampling.unread.empty());
}

// Defaults by llama-server --help of v0.5.0.
TEST_F(SamplingOf, a_file_that_recommends_nothing_is_the_librarys_but_for_the_tools_temperature) {
  trace::Sampling asked;
  asked.tool_temp = 0.7;
  const auto sampling = effective([](gguf_context*) {}, asked);
  EXPECT_EQ(setting(sampling, "temp"), "0.7 tool");
  EXPECT_EQ(setting(sampling, "top_k"), "40 library");
  EXPECT_EQ(setting(sampling, "top_p"), "0.95 library");
  EXPECT_EQ(setting(sampling, "min_p"), "0.05 library");
  EXPECT_EQ(setting(sampling, "typical_p"), "1 library");
  EXPECT_EQ(setting(sampling, "top_n_sigma"), "-1 library");
  EXPECT_EQ(setting(sampling, "xtc_probability"), "0 library");
  EXPECT_EQ(setting(sampling, "xtc_threshold"), "0.1 library");
  EXPECT_EQ(setting(sampling, "dynatemp_range"), "0 library");
  EXPECT_EQ(setting(sampling, "penalty_last_n"), "64 library");
  EXPECT_EQ(setting(sampling, "penalty_freq"), "0 library");
  EXPECT_EQ(setting(sampling, "mirostat"), "0 library");
  EXPECT_EQ(setting(sampling, "mirostat_tau"), "5 library");
  EXPECT_EQ(setting(sampling, "adaptive_target"), "-1 library");
  EXPECT_EQ(sampling.chain_origin, Origin::library);
  EXPECT_EQ(sampling.chain,
            (std::vector<std::string>{"top-k", "top-p", "min-p", "temp-ext", "dist"}));
  asked.tool_temp.reset();
  EXPECT_EQ(setting(effective([](gguf_context*) {}, asked), "temp"), "0.8 library");
}

TEST_F(SamplingOf, every_number_that_can_be_asked_for_is_in_force) {
  trace::Sampling asked;
  asked.temp = 0.5;
  asked.top_k = 11;
  asked.top_p = asked.min_p = asked.typical_p = 0.5;
  asked.top_n_sigma = 2;
  asked.xtc_probability = asked.xtc_threshold = 0.25;
  asked.penalty_last_n = 100;
  asked.penalty_repeat = 1.5;
  asked.penalty_freq = asked.penalty_present = 0.5;
  const auto sampling = effective(recommend, asked);
  for (const auto& parameter : trace::asked_parameters)
    EXPECT_EQ(trace::in_force(sampling, parameter.name), parameter.value(asked)) << parameter.name;
  EXPECT_EQ(std::count_if(sampling.settings.begin(), sampling.settings.end(),
                          [](const auto& one) { return one.origin == Origin::user; }),
            12);
  EXPECT_EQ(sampling.chain,
            (std::vector<std::string>{"penalties", "top-n-sigma", "top-k", "typical", "top-p",
                                      "min-p", "xtc", "temp-ext", "dist"}));
}

// Each is first made to act, and must then leave the chain at its neutral value.
TEST_F(SamplingOf, a_sampler_at_its_neutral_value_leaves_the_chain) {
  const std::map<std::string, std::pair<double, const char*>> acting = {
      {"top_k", {11, "top-k"}},
      {"top_p", {0.5, "top-p"}},
      {"min_p", {0.5, "min-p"}},
      {"typical_p", {0.5, "typical"}},
      {"top_n_sigma", {2, "top-n-sigma"}},
      {"xtc_probability", {0.25, "xtc"}},
      {"penalty_repeat", {1.5, "penalties"}},
      {"penalty_freq", {0.5, "penalties"}},
      {"penalty_present", {0.5, "penalties"}}};
  const auto model = open([](gguf_context*) {}, {});
  ASSERT_TRUE(model);
  for (const auto& parameter : trace::asked_parameters) {
    const auto found = acting.find(parameter.name);
    if (found == acting.end()) continue;
    const auto [value, sampler] = found->second;
    const auto runs = [&](double asked_value) {
      trace::Sampling asked;
      parameter.ask(asked, asked_value);
      const auto chain =
          resolve_sampling((*model)->target_model.get(), asked).value().effective.chain;
      return std::count(chain.begin(), chain.end(), sampler) > 0;
    };
    EXPECT_TRUE(runs(value)) << parameter.name;
    EXPECT_FALSE(runs(*parameter.neutral)) << parameter.name;
  }
}

TEST_F(SamplingOf, the_order_of_samplers_is_the_users_else_the_files) {
  const Edit sequence = [](gguf_context* gguf) {
    gguf_set_val_str(gguf, "general.sampling.sequence", "top_p;frobnicate;temperature");
  };
  const auto of_file = effective(sequence);
  EXPECT_EQ(of_file.chain_origin, Origin::gguf);
  EXPECT_EQ(of_file.chain, (std::vector<std::string>{"top-p", "temp-ext", "dist"}));
  ASSERT_EQ(of_file.unread.size(), 1u);
  EXPECT_NE(of_file.unread[0].find("\"frobnicate\""), std::string::npos);
  trace::Sampling asked;
  asked.samplers = "min_p;temperature";
  const auto of_user = effective(sequence, asked);
  EXPECT_EQ(of_user.chain_origin, Origin::user);
  EXPECT_EQ(of_user.chain, (std::vector<std::string>{"min-p", "temp-ext", "dist"}));
  EXPECT_TRUE(of_user.unread.empty());
  asked.samplers = "min_p;frobnicate";
  EXPECT_NE(refusal(sequence, asked).find("frobnicate"), std::string::npos);
}

// Read as common_init_sampler_from_model of v0.5.0 does: strtol and strtof on the value's text.
TEST_F(SamplingOf, a_file_takes_the_number_a_text_begins_with_and_says_what_it_cannot_read) {
  const auto sampling = effective([](gguf_context* gguf) {
    gguf_set_val_str(gguf, "general.sampling.temp", "0.5 or so");
    gguf_set_val_f32(gguf, "general.sampling.top_k", 12.75f);
    gguf_set_val_str(gguf, "general.sampling.min_p", "none");
    gguf_set_val_bool(gguf, "general.sampling.top_p", true);
  });
  EXPECT_EQ(setting(sampling, "temp"), "0.5 gguf");
  EXPECT_EQ(setting(sampling, "top_k"), "12 gguf");
  EXPECT_EQ(setting(sampling, "min_p"), "0.05 library");
  EXPECT_EQ(setting(sampling, "top_p"), "0.95 library");
  ASSERT_EQ(sampling.unread.size(), 2u);
  EXPECT_NE(sampling.unread[0].find("general.sampling.top_p"), std::string::npos);
  EXPECT_NE(sampling.unread[1].find("\"none\""), std::string::npos);
}

TEST_F(SamplingOf, a_file_with_absurd_numbers_is_refused_unless_the_user_asks_for_better) {
  const auto nan = [](gguf_context* gguf) {
    gguf_set_val_f32(gguf, "general.sampling.temp", std::numeric_limits<float>::quiet_NaN());
  };
  EXPECT_NE(refusal(nan).find("temp is nan (by gguf)"), std::string::npos);
  trace::Sampling asked;
  asked.temp = 0.5;
  EXPECT_EQ(setting(effective(nan, asked), "temp"), "0.5 user");
  const auto number = [](const char* key, std::int32_t value) {
    return [=](gguf_context* gguf) { gguf_set_val_i32(gguf, key, value); };
  };
  EXPECT_NE(refusal(number("general.sampling.mirostat", 3)).find("knows 0, 1 and 2"),
            std::string::npos);
  EXPECT_NE(refusal(number("general.sampling.mirostat", -1)).find("knows 0, 1 and 2"),
            std::string::npos);
  EXPECT_NE(refusal(number("general.sampling.penalty_last_n", (1 << 20) + 1)).find("any context"),
            std::string::npos);
  EXPECT_NE(refusal(number("general.sampling.penalty_repeat", 0)).find("penalty_repeat"),
            std::string::npos);
}

TEST_F(SamplingOf, a_request_that_cannot_be_is_refused_and_the_model_stays) {
  auto model = open([](gguf_context*) {}, {});
  ASSERT_TRUE(model.has_value());
  support::MemoryPort port;
  protocol::Generate job = support::greedy(std::string("Once"), 4);
  job.sampling.penalty_repeat = std::numeric_limits<double>::infinity();
  EXPECT_EQ(generate(**model, job, port).outcome.kind, trace::OutcomeKind::refused);
  job.sampling.penalty_repeat.reset();
  EXPECT_EQ(generate(**model, job, port).outcome.kind, trace::OutcomeKind::done);
}

TEST(Sampling, TheGapIsBetweenTheTwoLargestLogitsWhereverTheyStand) {
  const std::array<float, 4> falling{8, 5.5f, 1, -3};
  const std::array<float, 4> rising{-3, 1, 5.5f, 8};
  const std::array<float, 3> tied{2, 7, 7};
  EXPECT_DOUBLE_EQ(top2_gap(falling.data(), 4), 2.5);
  EXPECT_DOUBLE_EQ(top2_gap(rising.data(), 4), 2.5);
  EXPECT_DOUBLE_EQ(top2_gap(tied.data(), 3), 0);
  EXPECT_TRUE(std::isinf(top2_gap(tied.data(), 1)));
}

}  // namespace
}  // namespace paceline::worker
