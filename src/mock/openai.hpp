#pragma once

#include "mock/renderer.hpp"

namespace paceline::mock {

/// A server of OpenAI's routes that says no more than these have, and what others build on: one
/// event a pass, however many tokens it made.
class OpenAi : public Renderer {
 public:
  bool generates(std::string_view path) const override;
  std::optional<net::Response> other(const net::Request& request, State& state) const override;

  std::vector<std::string> begin(const State& state, Stream& stream) const override;
  std::vector<std::string> tokens(const State& state, Stream& stream,
                                  std::size_t until) const override;
  std::vector<std::string> end(const State& state, Stream& stream) const override;
  util::Json whole(const State& state, Stream& stream) const override;

 protected:
  virtual std::string_view owner() const { return "mock"; }
  virtual std::string_view reasoning_field() const { return "reasoning_content"; }
  /// One entry of /v1/models.
  virtual util::Json model(const State& state) const;
  virtual util::Json usage(const State& state, const Stream& stream) const;
  /// More members of the choice whose tokens are [from, until), as JSON text with a comma first.
  virtual std::string choice_members(const Stream& stream, std::size_t from,
                                     std::size_t until) const;
  /// More members of an event, likewise.
  virtual std::string event_members(const State& state, const Stream& stream) const;
  /// Members of the answer's root that stand at its end; usage is not among them.
  virtual util::Json last_members(const State& state, const Stream& stream) const;
  /// Whether there is a last event with usage.
  virtual bool says_usage(const Stream& stream) const;
  /// Members of the choice at its end.
  virtual util::Json last_choice_members(const State& state, const Stream& stream) const;

  /// Usage so far as a member of every event, of servers that know it, where it is asked for.
  static std::string usage_so_far(const Stream& stream);
  std::string chunk(const Stream& stream, std::string_view delta, std::string_view members,
                    std::string_view more) const;
};

}  // namespace paceline::mock
