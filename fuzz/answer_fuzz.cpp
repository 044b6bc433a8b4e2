#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "net/answer_parser.hpp"

namespace {

using namespace paceline;

constexpr std::size_t largest_body = 4096;

void require(bool condition) {
  if (!condition) std::abort();
}

/// What came of an answer.
struct Found {
  int heads = 0;
  int status = 0;
  net::Headers headers;
  std::string body;
  bool whole = false;
  bool faulty = false;
};

/// Reads an answer in pieces of at most `largest` bytes, and then the end of the connection.
Found read_in_pieces(std::string_view answer, bool to_head, std::size_t largest) {
  net::AnswerParser parser(largest_body, to_head);
  Found found;
  while (!answer.empty() && !found.whole && !found.faulty) {
    const std::size_t size = std::min(largest, answer.size());
    auto step = parser.feed(answer.substr(0, size));
    answer.remove_prefix(size);
    if (step.head) {
      ++found.heads;
      found.status = step.head->status;
      found.headers = std::move(step.head->headers);
    }
    require(found.heads == 1 || step.body.empty());
    found.body += step.body;
    found.whole = step.whole;
    found.faulty = !step.problem.empty();
  }
  if (!found.whole && !found.faulty) found.whole = parser.finish();
  return found;
}

bool one_begins_the_other(std::string_view a, std::string_view b) {
  return a.substr(0, b.size()) == b.substr(0, a.size()) &&
         std::max(a.size(), b.size()) - std::min(a.size(), b.size()) < 5;
}

}  // namespace

// An answer is the same whole and in pieces. Of a faulty one, whether the fault or the end of the
// connection is met first, and what is found before it, depends on the pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool to_head = data[0] % 8 == 0;
  const std::string_view answer(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Found whole = read_in_pieces(answer, to_head, answer.size() + 1);
  for (const std::size_t largest : {std::size_t{1}, std::size_t{7}}) {
    const Found pieces = read_in_pieces(answer, to_head, largest);
    require(whole.whole == pieces.whole);
    require(whole.body.size() <= largest_body && whole.heads <= 1);
    if (whole.faulty || pieces.faulty) continue;
    require(whole.heads == pieces.heads && whole.status == pieces.status);
    require(whole.headers == pieces.headers);
    // Up to four bytes of a chunk wait for the fifth, which a connection that is cut never brings.
    require(whole.whole ? whole.body == pieces.body
                        : one_begins_the_other(whole.body, pieces.body));
  }
  return 0;
}
