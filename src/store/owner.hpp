#pragma once

#include <string>

namespace paceline::store {

/// This process in words that no other process ever has on this machine: its number, when it
/// started, and the start of the machine.
std::string this_process();

/// Whether the process of those words runs here now.
bool is_running(const std::string& owner);

}  // namespace paceline::store
