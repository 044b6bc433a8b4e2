#pragma once

#include "llama.h"
#include "trace/request.hpp"
#include "util/result.hpp"

namespace paceline::worker {

/// The one sequence every request uses.
inline constexpr llama_seq_id sequence = 0;

/// The engine's monotonic clock, in nanoseconds.
trace::Nanoseconds now_ns();

/// Token batches of one sequence, in memory allocated once.
class Batch {
 public:
  explicit Batch(int capacity);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void clear() { raw_.n_tokens = 0; }

  /// Appends a token at a position, with its logits asked for or not.
  void add(llama_token token, int position, bool logits);

  int size() const { return raw_.n_tokens; }
  const llama_batch& raw() const { return raw_; }

 private:
  llama_batch raw_;
  int capacity_;
};

/// One decode call, not waited for; the error says what llama.cpp's code means.
util::Result<void> decode(llama_context* context, const Batch& batch);

/// What a code other than 0 returned by llama_decode means, in one sentence.
util::Error decode_error(int code, int width, int depth);

/// Forgets the tokens from position `from` on; false when the memory cannot do so.
bool forget_from(llama_context* context, int from);

}  // namespace paceline::worker
