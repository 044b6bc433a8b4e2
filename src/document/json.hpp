#pragma once

#include <string>

#include "document/document.hpp"
#include "document/history.hpp"
#include "document/roofline.hpp"
#include "document/tune.hpp"

namespace paceline::document {

/// The document as JSON text on one line, valid by docs/report.schema.json whatever bytes a model
/// or a log held.
std::string to_json_text(const Document& document);

/// By docs/inspect.schema.json.
std::string to_json_text(const Inspection& inspection);

/// By docs/machine.schema.json.
std::string to_json_text(const MachineReport& report);

/// By docs/roofline.schema.json.
std::string to_json_text(const Roofline& roofline);

/// By docs/history.schema.json.
std::string to_json_text(const History& history);
/// By docs/tune.schema.json.
std::string to_json_text(const Tune& tune);

/// The name of a kind of warning, as in JSON.
const char* warning_name(WarningKind kind);

}  // namespace paceline::document
