#pragma once

#include <fmt/format.h>

#include <utility>

#include "util/result.hpp"

namespace paceline::util {

/// The refusal of something that was asked for and makes no sense, in one sentence for the user.
template <class... Arguments>
tl::unexpected<Error> misused(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return fail(ErrorKind::usage, fmt::format(text, std::forward<Arguments>(arguments)...));
}

}  // namespace paceline::util
