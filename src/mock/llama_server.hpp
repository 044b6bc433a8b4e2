#pragma once

#include "mock/renderer.hpp"

namespace paceline::mock {

/// llama-server of llama.cpp v0.5.0, worded after its server-task.cpp and server-context.cpp.
class LlamaServer : public Renderer {
 public:
  bool generates(std::string_view path) const override;
  std::optional<net::Response> other(const net::Request& request, State& state) const override;
  bool event_per_token() const override { return true; }
  CountsWhen counts_when() const override { return CountsWhen::at_end; }

  std::vector<std::string> begin(const State& state, Stream& stream) const override;
  std::vector<std::string> prompt_batch(const State& state, Stream& stream) const override;
  std::vector<std::string> tokens(const State& state, Stream& stream,
                                  std::size_t until) const override;
  std::vector<std::string> end(const State& state, Stream& stream) const override;
  util::Json whole(const State& state, Stream& stream) const override;
  util::Json error(int status, std::string_view message) const override;

 protected:
  /// The timings object of a request, as JSON text.
  virtual std::string timings(const State& state, const Stream& stream) const;
  virtual util::Json props(const State& state) const;
  virtual std::string metrics(State& state) const;
  virtual util::Json models(const State& state) const;
  /// Whether OpenAI answers carry the build.
  virtual bool says_fingerprint() const { return true; }

 private:
  std::string delta(const Stream& stream, std::string_view fields, std::string_view finish,
                    std::string_view more) const;
  std::vector<std::string> chat_tokens(const State& state, Stream& stream, bool first,
                                       std::string_view timed) const;
  std::vector<std::string> chat_end(const State& state, Stream& stream) const;
  util::Json native_final(const State& state, const Stream& stream) const;
};

/// The sampling of a request as llama-server states it: its defaults under what was asked, in the
/// single precision it keeps them in.
util::Json llama_settings(const State& state, const util::Json& asked);

/// usage of an OpenAI answer, with the cached part of the prompt where `cached`.
util::Json usage_of(const Stream& stream, bool cached);

}  // namespace paceline::mock
