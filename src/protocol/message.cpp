#include "protocol/message.hpp"

#include "trace/json.hpp"

namespace paceline::protocol {

using util::Json;

PACELINE_JSON_FIELDS(ChatMessage, 3, role, content, images);
PACELINE_JSON_FIELDS(Generate, 14, prompt, messages, prompt_tokens, n_predict, sampling, seed,
                     synced, record_drafts, record_gaps, ignore_eos, warm_session, forced_text,
                     on_filled, drafting);
PACELINE_JSON_FIELDS(Fill, 2, text, depth);
PACELINE_JSON_FIELDS(Probe, 4, widths, depth, repeats, on_filled);
PACELINE_JSON_FIELDS(KnownText, 7, workload_class, prompt_id, prompt, messages, tokens, places,
                     text);
PACELINE_JSON_FIELDS(Reread, 2, texts, widths);
PACELINE_ENUM_JSON(Quant);
PACELINE_JSON_FIELDS(Synth, 6, source_path, destination_path, extra_layers, feed_forward, quant,
                     ballast_bytes);
PACELINE_JSON_FIELDS(Invent, 10, destination_path, architecture, like, scale, shape, target_path,
                     agreement, seed, quant, quant_of);
PACELINE_JSON_FIELDS(Inspect, 1, path);
PACELINE_JSON_FIELDS(Check, 1, setup);
PACELINE_JSON_FIELDS(Observe, 5, setup, text, depth, widths, n_predict);
PACELINE_JSON_FIELDS(ProbeDevices, 2, bytes, threads);
PACELINE_JSON_FIELDS(Map, 8, texts, asks, setup, vocabulary, n_predict, n_ctx, replays,
                     most_tokens);
// It has no fields, which the list of fields cannot say.
inline void to_json(Json& json, const ListDevices&) { json = Json::object(); }
inline void from_json(const Json&, ListDevices&) {}

PACELINE_JSON_FIELDS(Open, 2, setup, sampling);
PACELINE_JSON_FIELDS(Cancel, 1, job_id);
PACELINE_JSON_FIELDS(Hello, 2, protocol, tool_version);
PACELINE_JSON_FIELDS(Opened, 2, facts, outcome);

namespace {

/// A variant is written as {"kind": name of the alternative, "value": its fields}.
template <class... Alternatives>
struct Names {
  const char* values[sizeof...(Alternatives)];
};

constexpr Names<Generate, Probe, Reread, Synth, Invent, Inspect, ListDevices, Check, Fill, Observe,
                ProbeDevices, Map>
    job_names{{"generate", "probe", "reread", "synth", "invent", "inspect", "list_devices", "check",
               "fill", "observe", "probe_devices", "map"}};
constexpr Names<trace::Progress, trace::Prefill, trace::Pass, trace::Emission, trace::WidthTime,
                trace::Rereading, trace::Fill, model::FileFacts, trace::Devices, trace::Answered,
                trace::Finished, trace::Observation, trace::DeviceSpeeds, trace::DraftMap>
    event_names{{"progress", "prefill", "pass", "emission", "width_time", "rereading", "fill",
                 "file_facts", "devices", "answered", "finished", "observation", "device_speeds",
                 "draft_map"}};

template <class... Alternatives>
Json to_tagged(const std::variant<Alternatives...>& value, const Names<Alternatives...>& names) {
  Json json;
  json["kind"] = names.values[value.index()];
  std::visit([&](const auto& alternative) { json["value"] = alternative; }, value);
  return json;
}

template <class... Alternatives>
void from_tagged(const Json& json, std::variant<Alternatives...>& value,
                 const Names<Alternatives...>& names) {
  std::string kind;
  util::read_field(json, "kind", kind);
  std::size_t index = 0;
  bool found = false;
  const auto attempt = [&]<class Alternative>(const Alternative&) {
    if (found || names.values[index++] != kind) return;
    Alternative alternative{};
    util::read_field(json, "value", alternative);
    value = std::move(alternative);
    found = true;
  };
  (attempt(Alternatives{}), ...);
  if (!found) throw util::JsonMismatch("unknown kind \"" + kind + "\"");
}

}  // namespace

void to_json(Json& json, const Submit& submit) {
  json["job_id"] = submit.job_id;
  json["job"] = to_tagged(submit.job, job_names);
}

void from_json(const Json& json, Submit& submit) {
  util::read_field(json, "job_id", submit.job_id);
  if (!json.contains("job")) throw util::JsonMismatch("\"job\" is missing");
  from_tagged(json["job"], submit.job, job_names);
}

void to_json(Json& json, const Happened& happened) {
  json["job_id"] = happened.job_id;
  json["event"] = to_tagged(happened.event, event_names);
}

void from_json(const Json& json, Happened& happened) {
  util::read_field(json, "job_id", happened.job_id);
  if (!json.contains("event")) throw util::JsonMismatch("\"event\" is missing");
  from_tagged(json["event"], happened.event, event_names);
}

namespace {

constexpr Names<Open, Submit, Cancel> command_names{{"open", "submit", "cancel"}};
constexpr Names<Hello, Opened, Happened> report_names{{"hello", "opened", "happened"}};

template <class Message, class MessageNames>
util::Result<Message> decode(std::string_view text, const MessageNames& names, const char* what) {
  PACELINE_TRY_ASSIGN(const Json json, util::parse_json(text, what));
  try {
    Message message;
    from_tagged(json, message, names);
    return message;
  } catch (const std::exception& problem) {
    return util::fail(util::ErrorKind::engine, std::string(what) + ": " + problem.what());
  }
}

}  // namespace

std::string encode(const Command& command) {
  return util::dump_json(to_tagged(command, command_names));
}

std::string encode(const Report& report) {
  return util::dump_json(to_tagged(report, report_names));
}

util::Result<Command> decode_command(std::string_view text) {
  return decode<Command>(text, command_names, "a command frame");
}

util::Result<Report> decode_report(std::string_view text) {
  return decode<Report>(text, report_names, "a worker's frame");
}

}  // namespace paceline::protocol
