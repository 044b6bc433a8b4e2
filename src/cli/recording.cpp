#include "cli/recording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>

#include "cli/store_options.hpp"
#include "machine/machine.hpp"
#include "study/fingerprint.hpp"
#include "trace/json.hpp"
#include "util/clock.hpp"
#include "util/command_line.hpp"
#include "util/files.hpp"

namespace paceline::cli {

namespace {

std::string new_trace_id() {
  std::random_device device;
  std::string stamp = util::utc_now();
  std::erase_if(stamp, [](char letter) { return letter == '-' || letter == ':'; });
  return fmt::format("{}-{:06x}", stamp, device() & 0xffffffu);
}

trace::Header header_of(const study::RunOptions& options) {
  trace::Header header;
  header.created = util::utc_now();
  header.tool_version = PACELINE_VERSION;
  header.seed = options.seed;
  header.rounds = options.rounds;
  header.n_predict = options.n_predict;
  header.workload = options.workload;
  header.warm_session = options.warm_session;
  header.force_text = options.force_text;
  header.workload_notes = options.workload_notes;
  header.prompt_form = options.prompt_form;
  header.mix = options.mix;
  const bool all_ours = std::all_of(options.arms.begin(), options.arms.end(),
                                    [](const trace::Arm& arm) { return arm.setup.url.empty(); });
  header.residency = all_ours ? "bare" : "declared";
  header.arms = options.arms;
  header.comparison = options.comparison;
  header.exclude_steal = options.exclude_steal;
  header.sweep = options.sweep;
  return header;
}

/// The programs that measure: this one, and the worker where it loads the models.
std::vector<std::filesystem::path> programs_of(const study::RunOptions& options) {
  std::vector<std::filesystem::path> programs = {"/proc/self/exe"};
  const auto& arms = options.arms;
  if (std::any_of(arms.begin(), arms.end(), [](const trace::Arm& arm) {
        return arm.setup.url.empty() && arm.setup.server_bin.empty();
      }))
    programs.emplace_back(worker_program());
  return programs;
}

trace::About about_now(const study::RunOptions& options, const Output& output) {
  trace::About about;
  about.command = util::own_arguments();
  std::error_code unknown;
  about.folder = std::filesystem::current_path(unknown).string();
  about.machine = machine::read_machine();
  about.fingerprint =
      study::fingerprint_of(options, about.machine, programs_of(options), output.inputs);
  return about;
}

study::Fingerprint places_of(const trace::Header& header) {
  study::Fingerprint places;
  const util::Json flat = util::Json(header).flatten();
  for (const auto& [place, value] : flat.items()) places["plan " + place] = util::dump_json(value);
  return places;
}

/// What differs between the plan that a study was begun with and the one that its command line
/// makes now.
std::vector<std::string> changes_of_plan(const trace::Header& before, trace::Header now) {
  now.trace_id = before.trace_id;
  now.created = before.created;
  now.tool_version = before.tool_version;
  return study::changes(places_of(before), places_of(now));
}

tl::unexpected<util::Error> refused(const store::StudyRow& study, const std::string& why) {
  return util::fail(util::ErrorKind::usage,
                    fmt::format("the study {} cannot be gone on with: {}", study.id, why));
}

}  // namespace

util::Result<std::unique_ptr<Recording>> Recording::open(const study::RunOptions& options,
                                                         const Output& output) {
  PACELINE_TRY_ASSIGN(auto store, store::Store::open(store_file(output.db)));
  std::unique_ptr<Recording> recording(new Recording(std::move(store)));
  if (!output.resume) {
    PACELINE_TRY(recording->begin_anew(options, output, new_trace_id()));
    return recording;
  }
  PACELINE_TRY_ASSIGN(const auto study, recording->store_.find(*output.resume));
  if (study.state == "done")
    return refused(study, "it is complete; paceline history show " + study.id + " prints it");
  PACELINE_TRY(recording->go_on(options, output, study));
  return recording;
}

util::Result<std::unique_ptr<Recording>> Recording::open_part(const study::RunOptions& options,
                                                              const Output& output) {
  PACELINE_TRY_ASSIGN(auto store, store::Store::open(store_file(output.db)));
  std::unique_ptr<Recording> recording(new Recording(std::move(store)));
  const std::string id = output.resume ? *output.resume : new_trace_id();
  PACELINE_TRY_ASSIGN(const auto study, recording->store_.with_id(id));
  PACELINE_TRY(study ? recording->go_on(options, output, *study)
                     : recording->begin_anew(options, output, id));
  return recording;
}

util::Result<void> Recording::begin_anew(const study::RunOptions& options, const Output& output,
                                         const std::string& id) {
  trace_.header = header_of(options);
  trace_.header.trace_id = id;
  trace_.about = about_now(options, output);
  journal_.emplace(store_.database());
  if (output.trace) {
    PACELINE_TRY_ASSIGN(file_, trace::TraceFile::create(*output.trace));
  }
  return {};
}

util::Result<void> Recording::go_on(const study::RunOptions& options, const Output& output,
                                    const store::StudyRow& study) {
  if (study.state == "running") return refused(study, "it is being made by another program");
  is_whole_ = study.state == "done";
  PACELINE_TRY_ASSIGN(auto builder, store_.build(study));
  trace::Resumption resumption{util::utc_now(), builder.launches_done(), {}};
  PACELINE_TRY_ASSIGN(trace_, builder.finish());
  trace_.launches.resize(static_cast<std::size_t>(resumption.launches_kept));
  trace_.interrupted = false;
  const auto replanned = changes_of_plan(trace_.header, header_of(options));
  if (!replanned.empty())
    return refused(study, fmt::format("its command line makes another plan now ({}): put back what "
                                      "it read, or begin anew without --resume",
                                      fmt::join(replanned, "; ")));
  const trace::About now = about_now(options, output);
  journal_.emplace(store_.database(), study.key);
  // Cut off before it said what it stands on, and so before anything was measured.
  if (!trace_.about) {
    trace_.about = now;
    PACELINE_TRY(journal_->about(now));
  }
  resumption.changes = study::changes(trace_.about->fingerprint, now.fingerprint);
  if (!resumption.changes.empty() && !output.resume_anyway)
    return refused(study, fmt::format("{}. Put back what it was, or add --resume-anyway, and the "
                                      "report will say so",
                                      fmt::join(resumption.changes, "; ")));
  if (!is_whole_ || !resumption.changes.empty())
    trace_.resumptions.push_back(std::move(resumption));
  if (output.trace) {
    PACELINE_TRY_ASSIGN(const auto written, store_.lines(study));
    PACELINE_TRY_ASSIGN(file_, trace::TraceFile::go_on(*output.trace, written));
  }
  return {};
}

util::Result<void> Recording::take(const trace::Record& record) {
  PACELINE_TRY(journal_->take(record));
  return file_ ? file_->take(record) : util::Result<void>{};
}

}  // namespace paceline::cli
