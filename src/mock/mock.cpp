#include "mock/mock.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "mock/job.hpp"

namespace paceline::mock {

namespace {

using Clock = std::chrono::steady_clock;

void add_positions(std::vector<long>& sums, const std::vector<long>& more) {
  sums.resize(std::max(sums.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
}

/// What a proxy repeats in its errors, where the fault asks for it.
std::string echo(const Struck& struck, const net::Request& request) {
  if (!struck.by(FaultKind::echo_key)) return "";
  return ": " + std::string(net::header(request.headers, "Authorization").value_or(""));
}

long unix_now() {
  return static_cast<long>(std::chrono::duration_cast<std::chrono::seconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count());
}

}  // namespace

util::Result<std::unique_ptr<Mock>> Mock::listen(Options options) {
  auto renderer = make_renderer(options.dialect);
  if (!renderer)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("there is no dialect {} to imitate, only {}", options.dialect,
                                  fmt::join(renderer_names(), ", ")));
  PACELINE_TRY_ASSIGN(auto server, net::Server::listen(options.port, options.host));
  return std::unique_ptr<Mock>(
      new Mock(std::move(options), std::move(renderer), std::move(server)));
}

Mock::Mock(Options options, std::unique_ptr<Renderer> renderer, std::unique_ptr<net::Server> server)
    : options_(std::move(options)), renderer_(std::move(renderer)), server_(std::move(server)) {
  state_.truth = options_.truth;
  state_.started_unix = unix_now();
  for (int slot = 0; slot < std::max(options_.truth.slots, 1); ++slot) free_slots_.insert(slot);
}

Mock::~Mock() = default;

std::string Mock::url() const { return fmt::format("http://{}:{}", options_.host, port()); }

void Mock::run(int descriptor) {
  if (descriptor >= 0) server_->stop_when_readable(descriptor);
  server_->run([this](net::Request request, const std::shared_ptr<net::Reply>& reply) {
    handle(std::move(request), reply);
  });
}

long Mock::requests_to(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto found = requests_.find(path);
  return found == requests_.end() ? 0 : found->second;
}

std::vector<Received> Mock::received() const {
  const std::lock_guard lock(mutex_);
  return {received_.begin(), received_.end()};
}

void Mock::remember(const net::Request& request) {
  const std::lock_guard lock(mutex_);
  ++requests_[std::string(path_of(request.target))];
  received_.push_back({request.method, request.target, request.headers, request.body});
  if (received_.size() > remembered) received_.pop_front();
}

/// Why nothing is answered yet, or to this client.
std::optional<net::Response> Mock::refusal(const net::Request& request) {
  const Struck always(options_.faults, 1);
  if (const auto polls = always.value(FaultKind::never_healthy, -1)) {
    const bool loading = *polls < 0 || static_cast<double>(health_polls_) < *polls;
    if (path_of(request.target) == "/health") ++health_polls_;
    if (loading) return json_response(renderer_->error(503, "Loading model"), 503);
  }
  if (options_.api_key.empty()) return std::nullopt;
  const auto given = net::header(request.headers, "Authorization");
  if (given && *given == "Bearer " + options_.api_key) return std::nullopt;
  return json_response(renderer_->error(401, "Invalid API Key" + echo(always, request)), 401);
}

void Mock::handle(net::Request request, const std::shared_ptr<net::Reply>& reply) {
  remember(request);
  if (auto refused = refusal(request)) return reply->answer(std::move(*refused));
  if (request.method == "POST" && renderer_->generates(path_of(request.target)))
    return start(request, reply);
  if (auto response = renderer_->other(request, state_)) return reply->answer(std::move(*response));
  reply->answer(json_response(renderer_->error(404, "File Not Found"), 404));
}

void Mock::strike_counters(const Struck& struck) {
  const bool restart = struck.by(FaultKind::restart);
  if (!restart && !struck.by(FaultKind::counter_reset)) return;
  state_.counters = {};
  if (!restart) return;
  ++state_.number;
  state_.tasks = 0;
  state_.started_unix = std::max(unix_now(), state_.started_unix + 1);
}

Truth Mock::truth_for(const Struck& struck, int prompt_tokens) const {
  Truth truth = options_.truth;
  if (const auto cached = struck.value(FaultKind::cached, prompt_tokens - 1))
    truth.cached_tokens = static_cast<int>(*cached);
  return truth;
}

void Mock::start(const net::Request& request, const std::shared_ptr<net::Reply>& reply) {
  const Struck struck(options_.faults, ++generated_);
  strike_counters(struck);
  if (const auto status = struck.value(FaultKind::http_error, 500)) {
    const int code = static_cast<int>(*status);
    return reply->answer(json_response(
        renderer_->error(code, "the mock was told to fail" + echo(struck, request)), code));
  }
  auto asked = read_asked(options_.truth, request);
  if (!asked)
    return reply->answer(json_response(renderer_->error(400, asked.error().message), 400));

  if (asked->images > 0 && !options_.truth.takes_images)
    return reply->answer(json_response(
        renderer_->error(500, "image input is not supported: there is no projector"), 500));

  int prompt = asked->prompt_tokens;
  const auto kept = struck.value(FaultKind::truncated_prompt, prompt / 2);
  if (kept) prompt = std::clamp(static_cast<int>(*kept), 1, prompt);
  const Truth truth = truth_for(struck, prompt);
  Stream stream;
  stream.plan = plan(truth, asked->prompt, prompt, asked->limits);
  if (kept) stream.plan.prompt_truncated = true;
  stream.asked = std::move(*asked);
  stream.asked.stream = renderer_->streams(stream.asked);
  stream.id = fmt::format("chatcmpl-mock-{}", generated_);
  const auto job = std::make_shared<Job>(
      Job::World{
          truth, state_, *renderer_, *server_,
          Job::Hooks{[this] { count_forward(); }, [this](Job& busy) { proceed(busy); },
                     [this](Job& done) { leave(done); }, [this](const Job& done) { count(done); }}},
      std::move(stream), struck, reply);
  jobs_.emplace(job.get(), job);
  job->watch();
  if (const auto late = struck.value(FaultKind::slow_first_byte, 1))
    return job->later(*late, [this, weak = std::weak_ptr<Job>(job)] {
      if (const auto alive = weak.lock()) enter(alive);
    });
  enter(job);
}

/// Takes a slot for the job, or lets it wait for one.
void Mock::enter(const JobPointer& job) {
  if (free_slots_.empty()) {
    waiting_.push_back(job);
    state_.waiting = static_cast<int>(waiting_.size());
    return;
  }
  const int slot = *free_slots_.begin();
  free_slots_.erase(free_slots_.begin());
  ++state_.processing;
  ++state_.tasks;
  job->enter(slot);
  proceed(*job);
}

void Mock::proceed(Job& job) {
  if (options_.truth.shared_forwards)
    schedule_tick();
  else
    job.schedule();
}

/// The job is over or its client gone: its slot goes to the next in line.
void Mock::leave(Job& job) {
  const auto found = jobs_.find(&job);
  if (found == jobs_.end()) return;
  const JobPointer kept = found->second;
  jobs_.erase(found);
  if (!job.has_slot()) {
    std::erase(waiting_, kept);
    state_.waiting = static_cast<int>(waiting_.size());
    return;
  }
  free_slots_.insert(job.stream().slot);
  --state_.processing;
  if (waiting_.empty()) return;
  const JobPointer next = waiting_.front();
  waiting_.pop_front();
  state_.waiting = static_cast<int>(waiting_.size());
  enter(next);
}

void Mock::count_forward() {
  ++state_.counters.forwards;
  state_.counters.busy_slots += state_.processing;
}

/// Adds what a job did since the last time to the counters.
void Mock::count(const Job& job) {
  Counters& c = state_.counters;
  const Tally& done = job.uncounted();
  c.requests += done.requests;
  c.prompt_tokens += done.prompt_tokens;
  c.prompt_cached += done.prompt_cached;
  c.prompt_s += done.prompt_s;
  c.output += done.output;
  c.decode_s += done.decode_s;
  c.rounds += done.rounds;
  c.offered += done.offered;
  c.accepted += done.accepted;
  add_positions(c.offered_at, done.offered_at);
  add_positions(c.accepted_at, done.accepted_at);
  c.longest = std::max(c.longest, job.length());
  c.bucket_prompt += done.prompt_tokens;
  c.bucket_prompt_s += done.prompt_s;
  c.bucket_steps += std::max(done.output - done.requests, 0L);
  c.bucket_decode_s += done.decode_s;
  if (done.requests > 0)
    if (const auto tokens = job.struck().value(FaultKind::other_client, 10))
      count_other_client(static_cast<long>(*tokens));
}

void Mock::count_other_client(long tokens) {
  Counters& c = state_.counters;
  ++c.requests;
  c.prompt_tokens += tokens;
  c.output += tokens;
  c.forwards += tokens;
  c.busy_slots += tokens;
  if (!options_.truth.speculates) return;
  c.rounds += tokens;
  c.offered += tokens;
  c.accepted += tokens / 2;
}

void Mock::schedule_tick() {
  if (tick_timer_) return;
  double seconds = 0;
  for (const auto& [pointer, job] : jobs_)
    if (job->has_slot()) seconds = std::max(seconds, job->next_seconds());
  tick_timer_ = server_->at(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                               std::chrono::duration<double>(seconds)),
                            [this] { tick(); });
}

/// One forward that all slots take part in.
void Mock::tick() {
  tick_timer_ = nullptr;
  std::vector<JobPointer> taking_part;
  for (const auto& [pointer, job] : jobs_)
    if (job->has_slot() && job->works()) taking_part.push_back(job);
  if (!taking_part.empty()) count_forward();
  for (const JobPointer& job : taking_part) job->advance();
  const bool more = std::any_of(jobs_.begin(), jobs_.end(), [](const auto& entry) {
    return entry.second->has_slot() && entry.second->works();
  });
  if (more) schedule_tick();
}

}  // namespace paceline::mock
