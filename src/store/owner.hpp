#pragma once

#include <string>

namespace paceline::store {

/// A process in words that no other one ever has on this machine: its number, when it started, and
/// which start of the machine that was after.
std::string process_words(long process);

/// This one.
std::string this_process();

/// Whether the process of those words runs here now.
bool is_running(const std::string& owner);

}  // namespace paceline::store
