#pragma once

namespace paceline::util {

/// From now on Ctrl-C (SIGINT), SIGTERM and SIGHUP are remembered instead of ending the process. A
/// second one ends it at once.
void catch_interrupts();

/// Whether one came since catch_interrupts().
bool interrupted();

/// A descriptor that polls readable once interrupted; -1 before catch_interrupts().
int interrupt_descriptor();

}  // namespace paceline::util
