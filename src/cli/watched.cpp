#include "cli/watched.hpp"

#include <unistd.h>

#include "util/interrupt.hpp"
#include "util/progress.hpp"

namespace paceline::cli {

util::Result<void> watched(const WatchedStudy& study) {
  util::Progress progress(::isatty(STDERR_FILENO) != 0);
  const auto done =
      study([&progress](double steps, double total,
                        const std::string& what) { progress.update(steps, total, what); },
            util::interrupted);
  progress.clear();
  return done;
}

}  // namespace paceline::cli
