#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "document/document.hpp"
#include "engine/engine.hpp"
#include "study/plan.hpp"
#include "trace/trace.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// What a program ends with after Ctrl-C, by custom of the shell.
inline constexpr int exit_interrupted = 130;

/// Where results go.
struct Output {
  std::optional<std::string> json;         ///< file of the JSON document; "-" is standard output
  std::optional<std::string> trace;        ///< file of the trace; absent: it is in the store alone
  std::optional<std::string> db;           ///< file of the store; absent: in the data folder
  std::optional<std::string> resume = {};  ///< study to go on with, which these options are of
  bool resume_anyway = false;              ///< though what it stands on has changed
  bool dry_run = false;                    ///< only say what would be done
  /// The text that is printed; absent: the terminal's report.
  std::string (*render)(const document::Document&) = nullptr;
  std::vector<std::string> inputs;  ///< files that were read for the run, beside those it names
};

/// What the finished document shows, in a paragraph that becomes part of it.
using Afterword = std::function<std::string(const document::Document&)>;

/// Measures with those engines, prints the report and writes the files; the exit code.
util::Result<int> measure(const study::RunOptions& options, const Output& output,
                          const engine::EngineFactory& make_engine,
                          const Afterword& afterword = nullptr);

/// Files that the document must not be written over, the store and the trace among them.
std::vector<std::string> files_of(const study::RunOptions& options, const Output& output);

/// Says how to go on with the study that this command makes.
void say_how_to_go_on(const trace::Trace& trace, const Output& output);

/// Says where a study is, and how to go on with it unless it is whole.
void say_where(const trace::Trace& trace, const Output& output, bool whole);

/// The worker program installed with this one ($PACELINE_WORKER names another).
std::string worker_program();

}  // namespace paceline::cli
