#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "protocol/job.hpp"
#include "trace/event.hpp"
#include "util/result.hpp"

namespace paceline::protocol {

/// Raised whenever a message changes its meaning; parent and worker must have the same.
inline constexpr int protocol_version = 13;

// From paceline to the worker.

struct Open {
  trace::Setup setup;
  trace::Sampling sampling;
};
struct Submit {
  std::uint32_t job_id = 0;
  Job job;
};
struct Cancel {
  std::uint32_t job_id = 0;
};
using Command = std::variant<Open, Submit, Cancel>;

// From the worker to paceline.

/// The first frame, sent before anything is loaded.
struct Hello {
  int protocol = 0;
  std::string tool_version;
};
/// The answer to Open: the facts, or an outcome that says why not.
struct Opened {
  std::optional<trace::EngineFacts> facts;
  trace::Outcome outcome;
};
struct Happened {
  std::uint32_t job_id = 0;
  trace::Event event;
};
using Report = std::variant<Hello, Opened, Happened>;

/// One message as JSON text, without the frame around it.
std::string encode(const Command& command);
std::string encode(const Report& report);

/// The message in hostile text, or what is wrong with it.
util::Result<Command> decode_command(std::string_view text);
util::Result<Report> decode_report(std::string_view text);

}  // namespace paceline::protocol
