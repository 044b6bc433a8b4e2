#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.hpp"

namespace paceline::store {

/// The whole lines of one study within a text of traces.
struct TraceText {
  int first_line = 1;
  std::string id;  ///< as its header says, which nothing was checked of; may be empty
  std::string_view lines;
};

/// A text of traces, one behind the other. A study begins with each header of another id.
struct TraceTexts {
  std::vector<TraceText> studies;
  std::optional<int> cut_line;  ///< the last one, when it has no end: it is left out
};
TraceTexts split_traces(std::string_view text);

/// Keeps a study line by line as it is, or nothing of it when something in it is wrong; the error
/// names the line. Of a study that is there only what goes on behind its lines is taken: true.
util::Result<bool> import_study(Store& store, const TraceText& study);

}  // namespace paceline::store
