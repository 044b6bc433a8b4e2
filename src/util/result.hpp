#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace paceline::util {

/// Which of the program's exit codes an error leads to when nobody handles it.
enum class ErrorKind {
  usage = 2,            ///< what was asked for makes no sense or does not exist
  engine = 3,           ///< the thing measured could not be opened or failed throughout
  not_enough_data = 4,  ///< measured, but too little to say anything
  internal = 5,         ///< a bug or a full disk: nothing the user typed
};

/// What was wrong, where, and what to do next, in one sentence each. Printed once, in main.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace paceline::util

/// Returns the error of a Result<> expression to the caller, or goes on.
#define PACELINE_TRY(expression)                                                        \
  do {                                                                                  \
    if (auto paceline_result = (expression); !paceline_result)                          \
      return tl::unexpected<paceline::util::Error>(std::move(paceline_result.error())); \
  } while (false)

#define PACELINE_CONCAT_INNER(a, b) a##b
#define PACELINE_CONCAT(a, b) PACELINE_CONCAT_INNER(a, b)

/// Declares `variable` as the value of a Result<> expression, or returns its error.
#define PACELINE_TRY_ASSIGN(variable, expression)                        \
  auto PACELINE_CONCAT(paceline_result_, __LINE__) = (expression);       \
  if (!PACELINE_CONCAT(paceline_result_, __LINE__))                      \
    return tl::unexpected<paceline::util::Error>(                        \
        std::move(PACELINE_CONCAT(paceline_result_, __LINE__).error())); \
  variable = std::move(*PACELINE_CONCAT(paceline_result_, __LINE__))
