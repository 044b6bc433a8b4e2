#pragma once

#include <fmt/format.h>

#include <utility>

#include "util/result.hpp"

namespace paceline::worker {

/// The refusal of something that was asked for, in one sentence for the user.
template <class... Arguments>
tl::unexpected<util::Error> refuse(fmt::format_string<Arguments...> text,
                                   Arguments&&... arguments) {
  return util::fail(util::ErrorKind::engine,
                    fmt::format(text, std::forward<Arguments>(arguments)...));
}

}  // namespace paceline::worker
