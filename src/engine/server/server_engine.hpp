#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "dialect/dialect.hpp"
#include "engine/engine.hpp"
#include "engine/server/api_key.hpp"
#include "engine/server/generation.hpp"
#include "engine/server/managed_server.hpp"
#include "net/client.hpp"

namespace paceline::engine::server {

/// How servers are talked to. The key is in no fact, trace or message.
struct ServerOptions {
  std::string dialect;  ///< name of one; empty: found by probing
  std::string api_key;  ///< sent as a bearer token; empty: none
  std::string model;    ///< as the server names it; empty: the first that it lists
  net::ClientOptions client;
  int slots = 1;  ///< of a server that we start
  /// What the files of a started server are, by path, read beforehand.
  std::map<std::string, model::FileFacts> files;
};

/// A server behind HTTP, running already (Setup::url) or started here (Setup::server_bin): one
/// object is one launch. A server that cannot be started or asked, or speaks no dialect, is an
/// outcome; one that dies later ends its running jobs with outcomes.
class ServerEngine final : public Engine {
 public:
  explicit ServerEngine(ServerOptions options);
  ~ServerEngine() override;

  Capabilities capabilities() const override;
  tl::expected<trace::EngineFacts, trace::Outcome> open(const trace::Setup& setup,
                                                        const trace::Sampling& sampling) override;
  util::Result<JobId> submit(const protocol::Job& job, std::chrono::seconds patience) override;
  util::Result<JobId> submit_in_load(const protocol::Job& job, std::chrono::seconds patience,
                                     TimePoint due) override;
  std::optional<TaggedEvent> next(TimePoint until) override;
  void cancel(JobId job) override;
  util::Result<Snapshot> observe() override;
  std::optional<pid_t> process_group() const override;
  void close() override;

 private:
  std::optional<trace::Outcome> start(const trace::Setup& setup);
  tl::expected<dialect::Choice, trace::Outcome> choose(dialect::Answers& answers);
  void read_facts(dialect::Answers& answers, trace::EngineFacts& facts);
  std::optional<trace::Outcome> try_out(const trace::Sampling& sampling, trace::EngineFacts& facts);
  std::string about_key() const;
  util::Result<net::Response> ask(net::Request request, std::chrono::milliseconds patience);
  std::string why_not(const protocol::Generate& job) const;
  protocol::Generate adapted(protocol::Generate job) const;
  util::Result<JobId> begin(const protocol::Job& job, std::optional<TimePoint> due);
  void send(JobId id, Generation& generation);
  void take(const net::Arrival& arrival);
  std::optional<trace::Outcome> death();
  void finish(JobId id, Generation& generation);
  TimePoint end_overdue(TimePoint until);
  TimePoint end_silent(TimePoint now);
  void end_exchange(JobId job);

  ServerOptions options_;
  ApiKey key_;
  TimePoint next_look_;  ///< for exchanges that say nothing
  net::Client client_;
  std::optional<ManagedServer> managed_;
  net::Url url_;
  trace::Setup setup_;
  const dialect::Dialect* dialect_ = nullptr;
  std::string model_;
  bool has_counters_ = false;
  JobId last_job_ = 0;
  std::map<JobId, Generation> running_;
  std::map<JobId, TimePoint> said_done_at_;  ///< streams that said so and are not closed yet
  std::map<net::ExchangeId, JobId> exchanges_;
  std::deque<TaggedEvent> events_;
};

}  // namespace paceline::engine::server
