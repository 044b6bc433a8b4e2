#include "engine/server/server_engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "dialect/sampling.hpp"
#include "engine/server/health.hpp"
#include "engine/server/server_arguments.hpp"
#include "trace/json.hpp"
#include "util/interrupt.hpp"
#include "util/printable.hpp"

namespace paceline::engine::server {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int ok = 200;
constexpr int unavailable = 503;
constexpr auto fact_patience = std::chrono::seconds(10);
constexpr auto done_patience = std::chrono::seconds(2);
constexpr auto death_patience = std::chrono::milliseconds(500);
constexpr auto death_pause = std::chrono::milliseconds(5);
constexpr auto shortest_look = std::chrono::milliseconds(250);
constexpr auto longest_look = std::chrono::seconds(5);
constexpr std::size_t largest_fact = std::size_t{16} << 20;
constexpr int try_out_tokens = 8;
constexpr int most_jobs = 100'000;

trace::Outcome refused(std::string reason) {
  return trace::ended(trace::OutcomeKind::refused, std::move(reason));
}

/// Whether arguments make acceptance up, as llama-server's --spec-synth-len does.
bool forces_acceptance(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument.starts_with("--spec-synth");
  });
}

/// A dialect that the user names is used; what the server looks like is said beside it.
std::string asked_for(const dialect::Dialect& named, const dialect::Answers& answers) {
  if (const auto why = named.recognises(answers)) return "asked for by name; " + *why;
  const auto other = dialect::choose(answers);
  if (!other) return "asked for by name";
  return fmt::format("asked for by name, though it looks like {}: {}", other->dialect->name(),
                     other->why);
}

bool wants_key(int status) { return status == 401 || status == 403; }

}  // namespace

ServerEngine::ServerEngine(ServerOptions options)
    : options_(std::move(options)), key_(options_.api_key), client_(options_.client) {}

ServerEngine::~ServerEngine() { close(); }

Capabilities ServerEngine::capabilities() const {
  Capabilities can;
  can.outlives_failures = true;
  can.jobs_at_once = most_jobs;
  can.is_local = managed_.has_value();
  return can;
}

std::string ServerEngine::about_key() const {
  return key_.empty()
             ? fmt::format(
                   "{} wants a key: put it into PACELINE_API_KEY, or name a file with "
                   "--api-key-file",
                   url_.text())
             : fmt::format("{} refuses the key that PACELINE_API_KEY or --api-key-file gives",
                           url_.text());
}

util::Result<net::Response> ServerEngine::ask(net::Request request,
                                              std::chrono::milliseconds patience) {
  key_.put_into(request);
  request.largest_answer = largest_fact;
  return client_.fetch(url_, std::move(request), patience);
}

/// Where the server is, after starting it when it is ours; an outcome when there is none.
std::optional<trace::Outcome> ServerEngine::start(const trace::Setup& setup) {
  setup_ = setup;
  if (!setup.server_bin.empty()) {
    ManagedOptions managed;
    managed.slots = options_.slots;
    managed.silence = std::chrono::ceil<std::chrono::seconds>(options_.client.timeouts.first_byte);
    managed_.emplace(health_over(client_), std::move(managed));
    auto started = managed_->start(setup);
    if (!started) return started.error();
    url_ = std::move(*started);
    return std::nullopt;
  }
  auto url = net::parse_url(setup.url);
  if (!url) return refused(url.error().message);
  url_ = std::move(*url);
  // As clients of OpenAI's routes name a server; the routes have it themselves.
  if (url_.prefix.ends_with("/v1")) url_.prefix.resize(url_.prefix.size() - 3);
  return std::nullopt;
}

/// The dialect, by its name or by what the server answers to GETs that change nothing.
tl::expected<dialect::Choice, trace::Outcome> ServerEngine::choose(dialect::Answers& answers) {
  std::string last_failure;
  for (const auto& target : dialect::probe_targets()) {
    auto answer = ask({"GET", target, {}, ""}, fact_patience);
    if (util::interrupted()) return tl::unexpected(refused("stopped by the user"));
    if (answer)
      answers[target] = std::move(*answer);
    else
      last_failure = answer.error().message;
    if (answers.empty()) break;  // nothing there: further questions would wait as long again
  }
  if (answers.empty())
    return tl::unexpected(
        refused(fmt::format("no server answers at {}: {}", url_.text(), last_failure)));
  const auto any_said = [&answers](auto&& of) {
    return std::any_of(answers.begin(), answers.end(),
                       [&](const auto& answer) { return of(answer.second.status); });
  };
  if (!options_.dialect.empty())
    if (const auto* named = dialect::find(options_.dialect))
      return dialect::Choice{named, asked_for(*named, answers)};
  if (auto choice = dialect::choose(answers)) return *choice;
  if (any_said(wants_key)) return tl::unexpected(refused(about_key()));
  if (any_said([](int status) { return status == unavailable; }))
    return tl::unexpected(refused(
        fmt::format("{} is not ready (it answers 503, as while loading a model): repeat when it is",
                    url_.text())));
  return tl::unexpected(refused(fmt::format(
      "{} answers, and is no kind of server that is known: name one with --dialect", url_.text())));
}

void ServerEngine::read_facts(dialect::Answers& answers, trace::EngineFacts& facts) {
  for (const auto& target : dialect_->fact_targets())
    if (!answers.contains(target))
      if (auto answer = ask({"GET", target, {}, ""}, fact_patience))
        answers[target] = std::move(*answer);
  dialect_->read_facts(answers, facts);
  model_ = !options_.model.empty() ? options_.model : facts.server->model.value_or("");
  facts.server->model = model_.empty() ? facts.server->model : std::optional(model_);
  if (auto request = dialect_->fact_request(model_))
    if (auto answer = ask(std::move(*request), fact_patience))
      dialect_->read_fact_answer(*answer, facts);
  if (const auto target = dialect_->counters_target())
    if (const auto answer = ask({"GET", *target, {}, ""}, fact_patience))
      has_counters_ = answer->status == ok && dialect_->read_counters(answer->body).has_value();
  if (managed_) {
    facts.server->command_line = managed_->command_line();
    facts.server->forced_acceptance =
        setup_.forced.has_value() || forces_acceptance(setup_.server_args);
    facts.cache_type_k = setup_.kv.k.value_or("");
    facts.cache_type_v = setup_.kv.v.value_or("");
    facts.draft_cache_type_k = setup_.draft_kv.k.value_or("");
    facts.draft_cache_type_v = setup_.draft_kv.v.value_or("");
    facts.server->binary_sha256 = managed_->binary_sha256();
    facts.server->binary_is_script = managed_->binary_is_script();
    if (const auto file = options_.files.find(setup_.model_path); file != options_.files.end())
      facts.target = file->second;
    if (setup_.draft_path)
      if (const auto file = options_.files.find(*setup_.draft_path); file != options_.files.end())
        facts.drafter = file->second;
  }
}

/// One short request that is measured by nobody: servers say what they sample with and whether
/// they speculate only in an answer.
std::optional<trace::Outcome> ServerEngine::try_out(const trace::Sampling& sampling,
                                                    trace::EngineFacts& facts) {
  protocol::Generate job;
  job.prompt = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,";
  job.n_predict = try_out_tokens;
  job.sampling = sampling;
  job = adapted(std::move(job));
  if (!dialect_->cannot_ask({job, model_}).empty())
    job.messages = {{"user", std::exchange(job.prompt, "")}};
  if (const auto reason = why_not(job); !reason.empty()) return refused(reason);
  const auto answer = ask(dialect_->generate({job, model_}), options_.client.timeouts.first_byte);
  if (!answer) return refused("a first short request failed: " + answer.error().message);
  if (wants_key(answer->status)) return refused(about_key());
  if (answer->status != ok)
    return refused(fmt::format("a first short request was answered {}: {}", answer->status,
                               util::printable(answer->body.substr(0, 300))));
  std::vector<std::string> messages;
  if (dialect_->framing() == dialect::Framing::sse) {
    std::vector<net::SseEvent> events;
    net::SseParser().feed(answer->body, events);
    for (auto& event : events) messages.push_back(std::move(event.data));
  } else {
    net::LineParser lines;
    lines.feed(answer->body, messages);
    messages.push_back(lines.finish());
  }
  for (const auto& text : messages) {
    const auto message = dialect_->read(text);
    if (!message) continue;
    if (message->sampling) facts.sampling = *message->sampling;
    std::vector<std::string> unheeded;  // said again, and kept, with every measured request
    dialect::name_origins(job.sampling, facts.sampling, unheeded);
    if (message->speculates) facts.server->speculates = message->speculates;
    if (!message->spec_types.empty()) facts.server->spec_types = message->spec_types;
    for (const auto& said : message->said)
      if (said.quantity == trace::Quantity::offered && said.value > 0)
        facts.server->speculates = true;
  }
  return std::nullopt;
}

tl::expected<trace::EngineFacts, trace::Outcome> ServerEngine::open(
    const trace::Setup& setup, const trace::Sampling& sampling) {
  const auto began = Clock::now();
  if (auto problem = start(setup)) return tl::unexpected(*problem);
  const auto fail = [this](trace::Outcome outcome) {
    if (auto died = death()) outcome = std::move(*died);
    close();
    key_.take_out_of(outcome);
    return tl::unexpected(std::move(outcome));
  };
  const std::chrono::duration<double> loading = Clock::now() - began;
  dialect::Answers answers;
  auto choice = choose(answers);
  if (!choice) return fail(choice.error());
  dialect_ = choice->dialect;
  trace::EngineFacts facts;
  facts.server.emplace();
  facts.server->dialect = dialect_->name();
  facts.server->chosen = choice->why;
  facts.server->url = url_.text();
  facts.server->abilities = dialect_->abilities();
  facts.load_s = managed_ ? loading.count() : 0;
  facts.threads = managed_ ? setup.threads : 0;
  if (managed_ && setup.draft_n_max > 0) facts.draft_n_max = setup.draft_n_max;
  read_facts(answers, facts);
  if (auto problem = try_out(sampling, facts)) return fail(*problem);
  if (setup.spec_type == trace::SpecType::none && facts.server->speculates.value_or(false))
    return fail(refused(fmt::format(
        "the server of this plain arm speculates ({}): name it with --url, or start one that "
        "does not",
        facts.server->spec_types.empty()
            ? "it drafted"
            : fmt::format("{}", fmt::join(facts.server->spec_types, ", ")))));
  key_.take_out_of(facts);
  return facts;
}

/// What the server has no way to be told of a job; empty: nothing.
std::string ServerEngine::why_not(const protocol::Generate& job) const {
  const auto without = dialect_->cannot_ask({job, model_});
  if (without.empty()) return "";
  return fmt::format("{} cannot be asked for {}: leave that out, or choose another --prompt-form",
                     dialect_->name(), fmt::join(without, ", "));
}

/// The tool's temperature stands back where the model's file says one.
protocol::Generate ServerEngine::adapted(protocol::Generate job) const {
  const auto file = options_.files.find(setup_.model_path);
  if (file != options_.files.end() && file->second.sampling.contains("general.sampling.temp"))
    job.sampling.tool_temp.reset();
  return job;
}

util::Result<JobId> ServerEngine::submit(const protocol::Job& job, std::chrono::seconds) {
  // The client's time-outs are made of the patience once, in ServerOptions.
  return begin(job, std::nullopt);
}

util::Result<JobId> ServerEngine::submit_in_load(const protocol::Job& job, std::chrono::seconds,
                                                 TimePoint due) {
  return begin(job, due);
}

/// Of a load when it was due at some time.
util::Result<JobId> ServerEngine::begin(const protocol::Job& job, std::optional<TimePoint> due) {
  const auto* generate = std::get_if<protocol::Generate>(&job);
  if (generate == nullptr || dialect_ == nullptr)
    return util::fail(util::ErrorKind::internal, "a server generates, and can do nothing else");
  if (managed_)
    if (const auto ended = managed_->ended())
      return util::fail(util::ErrorKind::engine, ended->reason);
  if (const auto reason = why_not(*generate); !reason.empty()) {
    trace::Finished finished;
    finished.outcome = refused(reason);
    events_.push_back({++last_job_, std::move(finished)});
    return last_job_;
  }
  const bool alone = running_.empty();
  for (auto& [id, other] : running_) other.not_alone();
  const JobId id = ++last_job_;
  const bool counters = has_counters_ && alone && !due;
  const auto place =
      running_.emplace(id, Generation(*dialect_, adapted(*generate), model_, counters));
  if (due) place.first->second.due_at(*due);
  send(id, place.first->second);
  return id;
}

void ServerEngine::send(JobId id, Generation& generation) {
  net::Request request = generation.request();
  key_.put_into(request);
  generation.sent(Clock::now());
  exchanges_[client_.start(url_, std::move(request))] = id;
}

void ServerEngine::take(const net::Arrival& arrival) {
  const auto exchange = exchanges_.find(arrival.exchange);
  if (exchange == exchanges_.end()) return;
  const JobId id = exchange->second;
  Generation& generation = running_.at(id);
  generation.take(arrival);
  if (!std::holds_alternative<net::End>(arrival.what)) {
    if (generation.is_too_long()) {
      generation.give_up(trace::OutcomeKind::failed, "the answer is longer than can be kept");
      client_.cancel(arrival.exchange);
    }
    if (generation.said_done()) said_done_at_.try_emplace(id, arrival.at);
    return;
  }
  exchanges_.erase(exchange);
  if (generation.stage() == Stage::done)
    finish(id, generation);
  else
    send(id, generation);
}

/// How our server ended, when it did: its connections close a moment before its end can be seen.
std::optional<trace::Outcome> ServerEngine::death() {
  if (!managed_) return std::nullopt;
  const auto until = Clock::now() + death_patience;
  auto ended = managed_->ended();
  while (!ended && Clock::now() < until) {
    std::this_thread::sleep_for(death_pause);
    ended = managed_->ended();
  }
  return ended;
}

void ServerEngine::finish(JobId id, Generation& generation) {
  trace::Finished finished = generation.finished();
  const bool broke = finished.outcome.kind == trace::OutcomeKind::failed ||
                     finished.outcome.kind == trace::OutcomeKind::timed_out;
  if (broke)
    if (auto died = death()) finished.outcome = std::move(*died);
  said_done_at_.erase(id);
  trace::Answered answered = generation.answered();
  key_.take_out_of(finished);
  key_.take_out_of(answered.answer);
  events_.push_back({id, std::move(answered)});
  events_.push_back({id, std::move(finished)});
  running_.erase(id);
}

/// A stream that said it was complete is waited for a little and then left: some servers never
/// close it. When the next one is due, at most `until`.
TimePoint ServerEngine::end_overdue(TimePoint until) {
  for (auto& [id, at] : said_done_at_) {
    const auto due = at + done_patience;
    until = std::min(until, due);
    if (Clock::now() < due) continue;
    at = Clock::now();
    end_exchange(id);
  }
  return std::min(until, end_silent(Clock::now()));
}

/// One that only keeps the connection alive, by comments or byte by byte, says nothing. Looked for
/// seldom; when the next look is due.
TimePoint ServerEngine::end_silent(TimePoint now) {
  const auto patience = options_.client.timeouts.idle;
  if (now < next_look_ || running_.empty())
    return next_look_ > now ? next_look_ : now + longest_look;
  next_look_ = now + std::clamp<Clock::duration>(patience / 4, shortest_look, longest_look);
  for (auto& [id, generation] : running_) {
    if (now - generation.heard() < patience) continue;
    generation.give_up(
        trace::OutcomeKind::timed_out,
        fmt::format("timed out: nothing of the answer came for {} s",
                    std::chrono::duration_cast<std::chrono::seconds>(patience).count()));
    end_exchange(id);
  }
  return next_look_;
}

void ServerEngine::end_exchange(JobId job) {
  for (const auto& [exchange, id] : exchanges_)
    if (id == job) {
      client_.cancel(exchange);
      return;
    }
}

/// Looks at the clock and at Ctrl-C after every arrival: a flood must not drown them.
std::optional<TaggedEvent> ServerEngine::next(TimePoint until) {
  while (events_.empty()) {
    const auto arrival = client_.next(end_overdue(until));
    if (arrival) take(*arrival);
    if (events_.empty() && (util::interrupted() || Clock::now() >= until)) return std::nullopt;
  }
  TaggedEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void ServerEngine::cancel(JobId job) {
  const auto running = running_.find(job);
  if (running == running_.end()) return;
  running->second.cancel();
  end_exchange(job);
}

std::optional<pid_t> ServerEngine::process_group() const {
  return managed_ ? managed_->process_group() : std::nullopt;
}

util::Result<Snapshot> ServerEngine::observe() {
  Snapshot snapshot;
  const auto load = client_.load();
  snapshot.client_cpu_s = load.cpu_s;
  snapshot.lag_p50_s = load.lag_p50_s;
  snapshot.lag_p99_s = load.lag_p99_s;
  snapshot.lag_max_s = load.lag_max_s;
  // Counters that cannot be read now are no reason to lose the rest.
  if (has_counters_)
    if (const auto answer = ask({"GET", *dialect_->counters_target(), {}, ""}, fact_patience))
      if (auto counters = dialect_->read_counters(answer->body))
        snapshot.counters = std::move(counters->values);
  client_.restart_lag();
  return snapshot;
}

void ServerEngine::close() {
  for (const auto& [exchange, id] : exchanges_) client_.cancel(exchange);
  exchanges_.clear();
  running_.clear();
  events_.clear();
  client_.close_idle();
  managed_.reset();
}

}  // namespace paceline::engine::server
