#include "cli/stored_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "cli/sides.hpp"
#include "cli/store_options.hpp"
#include "metrics/predicted_run.hpp"
#include "trace/trace_file.hpp"
#include "util/files.hpp"
#include "util/misused.hpp"

namespace paceline::cli {

namespace {

struct StoredArm {
  trace::Trace trace;
  trace::Arm arm;
};

util::Result<trace::Arm> choose(const trace::Trace& trace, const std::string& run,
                                const std::string& name) {
  std::vector<std::string> names;
  std::vector<const trace::Arm*> candidates;
  for (const auto& arm : trace.header.arms) {
    names.push_back(arm.name);
    const bool fits = name.empty() ? !trace::is_denominator(arm) : arm.name == name;
    if (fits || trace.header.arms.size() == 1) candidates.push_back(&arm);
  }
  if (candidates.size() == 1 && (name.empty() || candidates.front()->name == name))
    return *candidates.front();
  return util::misused("{} has the arms {}: name one, as in {}:{}", run, fmt::join(names, ", "),
                       run, names.empty() ? "ARM" : names.front());
}

util::Result<StoredArm> read_arm(const std::string& text, const std::optional<std::string>& db) {
  std::string run = text;
  std::string name;
  std::error_code unknown;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && !std::filesystem::exists(text, unknown)) {
    run = text.substr(0, colon);
    name = text.substr(colon + 1);
  }
  StoredArm stored;
  PACELINE_TRY_ASSIGN(stored.trace, read_run(run, db));
  PACELINE_TRY(refuse_map(stored.trace));
  PACELINE_TRY_ASSIGN(stored.arm, choose(stored.trace, run, name));
  return stored;
}

void take_launches(StoredArm& stored, const char* name, trace::Trace& joined) {
  for (auto& launch : stored.trace.launches) {
    if (launch.arm != stored.arm.name || !trace::is_headline(launch, stored.trace.header)) continue;
    launch.arm = name;
    launch.index = static_cast<int>(joined.launches.size());
    joined.launches.push_back(std::move(launch));
  }
  joined.header.arms.push_back(stored.arm);
  joined.header.arms.back().name = name;
  joined.header.arms.back().plain = trace::plain_arm;
}

std::string machine_id(const trace::Trace& trace) {
  if (!trace.about) return "";
  const auto found = trace.about->fingerprint.find("machine");
  return found == trace.about->fingerprint.end() ? "" : found->second;
}

/// What was read of one moment is of neither run's.
void join_machines(const trace::Trace& a, const trace::Trace& b, JoinedRuns& joined) {
  if (machine_id(a).empty() || machine_id(b).empty()) {
    joined.unread = "one of the runs does not say on which machine it was made";
    return;
  }
  if (machine_id(a) != machine_id(b)) {
    joined.unread =
        "the runs do not give the same machine (its id, logical processors, memory): see paceline "
        "history diff";
    return;
  }
  joined.unread = "not the same in both runs, or not readable";
  joined.machine = a.about->machine;
  joined.machine.load.reset();
  joined.machine.memory_available_bytes.reset();
  joined.machine.clock_mhz.reset();
  const auto keep_if_same = [&](auto fact) {
    if (joined.machine.*fact != b.about->machine.*fact) (joined.machine.*fact).reset();
  };
  for (const auto fact : {&trace::MachineFacts::kernel, &trace::MachineFacts::os,
                          &trace::MachineFacts::governor, &trace::MachineFacts::hypervisor})
    keep_if_same(fact);
  keep_if_same(&trace::MachineFacts::power_cap_w);
}

}  // namespace

util::Result<trace::Trace> read_run(const std::string& name, const std::optional<std::string>& db) {
  std::error_code unknown;
  if (std::filesystem::exists(name, unknown)) {
    PACELINE_TRY_ASSIGN(const std::string text, util::read_file(name));
    return trace::read_trace(text);
  }
  PACELINE_TRY_ASSIGN(auto store, store::Store::open_to_read(store_file(db)));
  PACELINE_TRY_ASSIGN(const auto study, store.find(name));
  PACELINE_TRY_ASSIGN(auto builder, store.build(study));
  return builder.finish();
}

util::Result<void> refuse_map(const trace::Trace& trace) {
  if (!metrics::is_map(trace)) return {};
  return util::misused(
      "{} is a map of drafts and no run: paceline history show prints it, and what confirmed it is "
      "a study of its own",
      trace.header.trace_id);
}

util::Result<JoinedRuns> joined_runs(const std::string& a, const std::string& b,
                                     const std::optional<std::string>& db, double margin) {
  PACELINE_TRY_ASSIGN(StoredArm one, read_arm(a, db));
  PACELINE_TRY_ASSIGN(StoredArm other, read_arm(b, db));
  if (one.trace.header.trace_id == other.trace.header.trace_id && one.arm.name == other.arm.name)
    return util::misused(
        "A and B are the same arm of the same study, {}: name another, or another arm of it as "
        "RUN:ARM",
        one.trace.header.trace_id);
  JoinedRuns made;
  join_machines(one.trace, other.trace, made);
  trace::Trace& joined = made.trace;
  joined.header = one.trace.header;
  joined.header.rounds = std::max(one.trace.header.rounds, other.trace.header.rounds);
  joined.header.arms.clear();
  joined.header.sweep.reset();
  joined.header.comparison = trace::Comparison{arm_a, arm_b, "", a, b, margin, {}, {}};
  take_launches(one, arm_a, joined);
  take_launches(other, arm_b, joined);
  return made;
}

}  // namespace paceline::cli
