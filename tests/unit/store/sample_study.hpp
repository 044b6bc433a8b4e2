#pragma once

#include <gtest/gtest.h>

#include <string>

#include "store/store.hpp"
#include "store/study_journal.hpp"

namespace paceline::store {

inline trace::Header sample_header(const std::string& id,
                                   const std::string& created = "2026-03-04T05:06:07Z") {
  trace::Header header;
  header.trace_id = id;
  header.created = created;
  header.tool_version = "0.1.0";
  header.rounds = 2;
  header.workload = "lab";
  header.arms.push_back({"plain", {}, {}});
  header.arms[0].setup.model_path = "/models/Heavy-7B.gguf";
  return header;
}

/// Three tokens, the last two after half a second each.
inline trace::Request sample_request(const std::string& prompt_id, bool done = true) {
  trace::Request request;
  request.prompt_id = request.family = prompt_id;
  request.workload_class = "json";
  if (!done) request.outcome = trace::ended(trace::OutcomeKind::failed, "no answer");
  request.emissions = {{-1, {1}, 0, 0, 1'000'000'000, {}},
                       {0, {2}, 0, 0, 1'500'000'000, {}},
                       {1, {3}, 0, 0, 2'000'000'000, {}}};
  request.passes.resize(2);
  request.passes[1].index = 1;
  return request;
}

inline trace::Launch sample_launch(int index) {
  trace::Launch launch;
  launch.index = index;
  launch.arm = "plain";
  return launch;
}

/// A study with a launch of a warm-up and `requests` measured requests, the first of which failed.
inline void put_study(Store& store, const trace::Header& header, int requests) {
  StudyJournal journal(store.database());
  ASSERT_TRUE(journal.begin(header));
  trace::About about;
  about.command = {"run", "-m", "x"};
  ASSERT_TRUE(journal.about(about));
  ASSERT_TRUE(journal.launch(sample_launch(0)));
  auto warm_up = sample_request("warm");
  warm_up.warm_up = true;
  ASSERT_TRUE(journal.request(0, warm_up));
  for (int i = 0; i < requests; ++i)
    ASSERT_TRUE(journal.request(0, sample_request("p" + std::to_string(i), i > 0)));
  ASSERT_TRUE(journal.launch_end(0, {}));
  ASSERT_TRUE(journal.end(false));
}

}  // namespace paceline::store
