#include "worker/llama/decoding.hpp"

#include <fmt/format.h>

#include <chrono>

#include "util/assert.hpp"

namespace paceline::worker {

trace::Nanoseconds now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Batch::Batch(int capacity) : raw_(llama_batch_init(capacity, 0, 1)), capacity_(capacity) {}

Batch::~Batch() { llama_batch_free(raw_); }

void Batch::add(llama_token token, int position, bool logits) {
  PACELINE_ASSERT(raw_.n_tokens < capacity_);
  const int index = raw_.n_tokens++;
  raw_.token[index] = token;
  raw_.pos[index] = position;
  raw_.n_seq_id[index] = 1;
  raw_.seq_id[index][0] = sequence;
  raw_.logits[index] = logits ? 1 : 0;
}

util::Error decode_error(int code, int width, int depth) {
  const char* meaning = "the computation failed";
  if (code == 1) meaning = "the context has no room left";
  if (code == 2) meaning = "the computation was aborted";
  if (code == -1) meaning = "the batch was not valid";
  return {util::ErrorKind::engine,
          fmt::format("llama.cpp could not decode {} tokens at depth {} (code {}: {}): its log "
                      "says more.",
                      width, depth, code, meaning)};
}

util::Result<void> decode(llama_context* context, const Batch& batch) {
  const int code = llama_decode(context, batch.raw());
  if (code == 0) return {};
  return tl::unexpected(decode_error(code, batch.size(), batch.raw().pos[0]));
}

bool forget_from(llama_context* context, int from) {
  return llama_memory_seq_rm(llama_get_memory(context), sequence, from, -1);
}

}  // namespace paceline::worker
