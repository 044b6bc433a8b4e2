#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure.hpp"
#include "store/store.hpp"

namespace CLI {
class App;
}

namespace paceline::cli {

/// --db, of every command that has to do with the store.
void add_db_option(CLI::App& command, std::optional<std::string>& db);

/// --db, --resume and --resume-anyway, of every command that measures.
void add_store_options(CLI::App& command, Output& output);

/// The store of --db, else paceline.db in the data folder.
std::filesystem::path store_file(const std::optional<std::string>& db);

/// " --db FILE" to go on a command line that is shown, or nothing.
std::string db_words(const std::optional<std::string>& db);

/// The whole command line where `words` ask to go on with a study, as "run --resume ID": the words
/// that the study was made with, and behind them those about going on. The working folder becomes
/// that of the study, as its paths start there. All other words come back as they are.
util::Result<std::vector<std::string>> with_stored_command(std::vector<std::string> words);

}  // namespace paceline::cli
