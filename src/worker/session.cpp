#include "worker/session.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <variant>

#include "model/facts.hpp"
#include "worker/llama/context_fill.hpp"
#include "worker/llama/device_probe.hpp"
#include "worker/llama/devices.hpp"
#include "worker/llama/generation.hpp"
#include "worker/llama/inventing.hpp"
#include "worker/llama/mapping.hpp"
#include "worker/llama/ngram_mapping.hpp"
#include "worker/llama/observing.hpp"
#include "worker/llama/probing.hpp"
#include "worker/llama/rereading.hpp"
#include "worker/llama/runtime.hpp"
#include "worker/llama/synthesis.hpp"

namespace paceline::worker {

namespace {

trace::Finished no_model() { return refused("No model is open in this worker: send Open first."); }

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

int Session::run() {
  send(protocol::Hello{.protocol = protocol::protocol_version, .tool_version = PACELINE_VERSION});
  while (true) {
    while (!waiting_.empty()) {
      const protocol::Command command = std::move(waiting_.front());
      waiting_.pop_front();
      obey(command);
    }
    if (stream_ != Stream::open) break;
    read_some();
  }
  flush_library_log();
  return stream_ == Stream::corrupt ? 1 : 0;
}

void Session::obey(const protocol::Command& command) {
  if (stream_ != Stream::open) return;
  if (const auto* opening = std::get_if<protocol::Open>(&command)) open(*opening);
  if (const auto* submitted = std::get_if<protocol::Submit>(&command)) work(*submitted);
  // A Cancel that arrives after its job has ended has nothing left to do.
}

void Session::open(const protocol::Open& command) {
  model_.reset();
  auto loaded = load(command.setup, command.sampling);
  if (!loaded) {
    send(protocol::Opened{
        .facts = std::nullopt,
        .outcome = trace::ended(trace::OutcomeKind::refused, loaded.error().message)});
    return;
  }
  model_ = std::move(*loaded);
  send(protocol::Opened{.facts = facts(*model_), .outcome = {}});
}

void Session::work(const protocol::Submit& command) {
  job_id_ = command.job_id;
  cancel_asked_ = false;
  say(std::visit([this](const auto& job) { return perform(job); }, command.job));
}

trace::Finished Session::perform(const protocol::Generate& job) {
  return model_ == nullptr ? no_model() : generate(*model_, job, *this);
}

trace::Finished Session::perform(const protocol::Probe& job) {
  return model_ == nullptr ? no_model() : probe(*model_, job, *this);
}

trace::Finished Session::perform(const protocol::Reread& job) {
  return model_ == nullptr ? no_model() : reread(*model_, job, *this);
}

trace::Finished Session::perform(const protocol::Fill& job) {
  return model_ == nullptr ? no_model() : fill_context(*model_, job, *this);
}

trace::Finished Session::perform(const protocol::Map& job) {
  if (trace::is_ngram(job.setup.spec_type)) return map_ngrams(model_.get(), job, *this);
  return model_ == nullptr ? no_model() : map_drafts(*model_, job, *this);
}

trace::Finished Session::perform(const protocol::Synth& job) {
  const util::Result<void> written = synthesize(job, *this);
  return written ? trace::Finished{} : refused(written.error().message);
}

trace::Finished Session::perform(const protocol::Invent& job) {
  const util::Result<void> written = invent(job, *this);
  return written ? trace::Finished{} : refused(written.error().message);
}

trace::Finished Session::perform(const protocol::Inspect& job) {
  auto facts = model::read_file_facts(job.path);
  if (!facts) return refused(facts.error().message);
  say(std::move(*facts));
  return {};
}

trace::Finished Session::perform(const protocol::ListDevices&) {
  auto devices = list_devices();
  if (!devices) return refused(devices.error().message);
  say(std::move(*devices));
  return {};
}

trace::Finished Session::perform(const protocol::Check& job) {
  const util::Result<void> checked = check(job.setup);
  return checked ? trace::Finished{} : refused(checked.error().message);
}

trace::Finished Session::perform(const protocol::Observe& job) {
  model_.reset();  // two models at once may not fit
  return observe(job, *this);
}

trace::Finished Session::perform(const protocol::ProbeDevices& job) {
  return probe_devices(job, *this);
}

void Session::say(trace::Event event) {
  send(protocol::Happened{.job_id = job_id_, .event = std::move(event)});
}

void Session::send(const protocol::Report& report) {
  if (!write_all(output_, protocol::frame(protocol::encode(report)))) stream_ = Stream::ended;
}

// Looks at the pipe without waiting: one system call when nothing came, which is nearly always.
bool Session::cancelled() {
  pollfd ready{.fd = input_, .events = POLLIN, .revents = 0};
  while (stream_ == Stream::open && poll(&ready, 1, 0) > 0) read_some();
  const auto is_cancel = [this](const protocol::Command& command) {
    const auto* cancel = std::get_if<protocol::Cancel>(&command);
    return cancel != nullptr && cancel->job_id == job_id_;
  };
  if (std::any_of(waiting_.begin(), waiting_.end(), is_cancel)) cancel_asked_ = true;
  return cancel_asked_ || stream_ != Stream::open;
}

void Session::read_some() {
  std::array<char, 65536> buffer;
  const ssize_t count = read(input_, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) {
    stream_ = Stream::ended;
    return;
  }
  reader_.feed({buffer.data(), static_cast<std::size_t>(count)});
  take_frames();
}

void Session::take_frames() {
  while (true) {
    auto payload = reader_.next();
    if (!payload) return fail_stream(payload.error().message);
    if (!*payload) return;
    auto command = protocol::decode_command(**payload);
    if (!command) return fail_stream(command.error().message);
    waiting_.push_back(std::move(*command));
  }
}

void Session::fail_stream(const std::string& why) {
  fmt::print(stderr, "paceline-worker: the commands cannot be understood: {}\n", why);
  stream_ = Stream::corrupt;
}

}  // namespace paceline::worker
