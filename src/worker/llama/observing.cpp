#include "worker/llama/observing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "model/reading.hpp"
#include "model/split.hpp"
#include "worker/heartbeat.hpp"
#include "worker/llama/generation.hpp"
#include "worker/llama/graph_watch.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/rollback.hpp"
#include "worker/llama/runtime.hpp"

namespace paceline::worker {

namespace {

using trace::PassPart;

/// The classes of all tensors of a model's files, added to those found so far.
util::Result<void> add_classes(const std::string& path, std::map<std::string, std::string>& all) {
  PACELINE_TRY_ASSIGN(const model::Gguf file, model::Gguf::open(path));
  const model::SplitSet set = model::find_split(file);
  std::vector<const model::Tensor*> tensors;
  for (const model::Tensor& tensor : file.tensors()) tensors.push_back(&tensor);
  for (const model::Gguf& other : set.others)
    for (const model::Tensor& tensor : other.tensors()) tensors.push_back(&tensor);
  all.merge(model::classes_of(*set.first, tensors));
  return {};
}

/// What a job says while another goes on inside it: its passes are kept, and its signs of life are
/// passed on.
class InnerPort final : public JobPort {
 public:
  explicit InnerPort(JobPort& outer) : outer_(outer) {}

  void say(trace::Event event) override {
    if (const auto* pass = std::get_if<trace::Pass>(&event))
      passes.push_back(*pass);
    else if (std::holds_alternative<trace::Progress>(event))
      outer_.say(std::move(event));
  }
  bool cancelled() override { return outer_.cancelled(); }

  std::vector<trace::Pass> passes;

 private:
  JobPort& outer_;
};

/// All that was read, as one.
GraphReads together(const std::vector<GraphReads>& graphs) {
  GraphReads all;
  for (const GraphReads& graph : graphs) {
    all.tokens += graph.tokens;
    all.forwards += graph.forwards;
    for (const auto& [name, bytes] : graph.bytes) all.bytes[name] += bytes;
    for (const auto& [layer, experts] : graph.experts)
      all.experts[layer].insert(experts.begin(), experts.end());
  }
  return all;
}

class Observing {
 public:
  Observing(LoadedModel& model, GraphWatch& target, GraphWatch& drafter,
            const protocol::Observe& job, JobPort& port)
      : model_(model), target_(target), drafter_(drafter), job_(job), port_(port) {}

  util::Result<trace::OutcomeKind> run() {
    PACELINE_TRY(read_text());
    PACELINE_TRY(model_.reset());
    target_.clear();
    drafter_.take();
    PACELINE_TRY(prefill());
    for (const int width : job_.widths) {
      if (heartbeat_.interrupted()) return trace::OutcomeKind::cancelled;
      PACELINE_TRY(pass(width));
    }
    if (heartbeat_.cancelled()) return trace::OutcomeKind::cancelled;
    observation_.tables = target_.tables();
    observation_.experts = target_.experts();
    if (model_.speculates() && job_.n_predict > 0) PACELINE_TRY(generate_behind());
    port_.say(std::move(observation_));
    return trace::OutcomeKind::done;
  }

 private:
  util::Result<void> read_text() {
    text_ = common_tokenize(model_.vocabulary(), job_.text, true, true);
    std::size_t needed = static_cast<std::size_t>(std::max(job_.depth, 1));
    for (const int width : job_.widths) {
      if (width < 1 || width > model_.widest_pass)
        return refuse("Passes of width {} cannot be observed: widths go from 1 to {}.", width,
                      model_.widest_pass);
      needed += static_cast<std::size_t>(width);
    }
    if (job_.depth < 0) return refuse("A depth of {} tokens cannot be.", job_.depth);
    if (needed > text_.size())
      return refuse("The text is {} tokens long, and {} are decoded: give a longer one.",
                    text_.size(), needed);
    const std::size_t room = static_cast<std::size_t>(model_.facts.n_ctx);
    if (needed + static_cast<std::size_t>(std::max(job_.n_predict, 0)) + 2 > room)
      return refuse("{} tokens of text and {} of output do not fit into a context of {}: raise -c.",
                    needed, job_.n_predict, room);
    return {};
  }

  int depth() const { return static_cast<int>(past_.size()); }

  /// Decodes the next tokens of the text; logits of all of them, or of none but the last.
  util::Result<void> read_on(int tokens, bool all_logits) {
    Batch& batch = model_.batch;
    batch.clear();
    for (int i = 0; i < tokens; ++i)
      batch.add(text_[past_.size() + static_cast<std::size_t>(i)], depth() + i,
                all_logits || i + 1 == tokens);
    PACELINE_TRY(decode(model_.target.get(), batch));
    llama_synchronize(model_.target.get());
    const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(past_.size());
    past_.insert(past_.end(), begin, begin + tokens);
    return {};
  }

  util::Result<void> take_in() {
    if (!model_.has_drafter_context()) return {};
    if (!model_.drafters.process(model_.batch.raw()))
      return refuse("llama.cpp could not feed the drafter: {}.", library_reason());
    llama_synchronize(model_.drafter.get());
    return {};
  }

  util::Result<void> prefill() {
    const int piece = static_cast<int>(llama_n_batch(model_.target.get()));
    while (depth() < job_.depth && !heartbeat_.interrupted()) {
      PACELINE_TRY(read_on(std::min(piece, job_.depth - depth()), false));
      PACELINE_TRY(take_in());
    }
    return {};
  }

  util::Result<void> pass(int width) {
    const int behind = depth();
    target_.take();
    PACELINE_TRY(read_on(width, true));
    note(PassPart::target, width, behind, target_);
    if (!model_.has_drafter_context()) return {};
    drafter_.take();
    PACELINE_TRY(take_in());
    note(PassPart::taking_in, width, behind, drafter_);
    return draft();
  }

  /// One draft behind the text, which the drafter's memory is rid of afterwards.
  util::Result<void> draft() {
    const int room = model_.drafters.longest_of_last();
    if (past_.size() >= text_.size() || room > model_.facts.n_ctx - depth() - 2) return {};
    Checkpoint before;
    before.mark(model_, depth());
    model_.drafters.begin(past_);
    llama_tokens draft;
    model_.drafters.draft_with_model({.past = past_, .last = text_[past_.size()], .room = room},
                                     draft);
    llama_synchronize(model_.drafter.get());
    note(PassPart::draft, room, depth(), drafter_);
    return before.protect(model_, 0);
  }

  void note(PassPart part, int width, int behind, GraphWatch& watch) {
    const GraphReads reads = together(watch.take());
    trace::ObservedPass pass;
    pass.part = part;
    pass.width = width;
    pass.depth = behind;
    pass.forwards = reads.forwards;
    for (const auto& [name, bytes] : reads.bytes) pass.classes.push_back({name, bytes});
    pass.experts_per_layer = reads.experts_per_layer();
    observation_.passes.push_back(std::move(pass));
  }

  /// Real passes with real drafts. The last graphs of the target are those of the passes, one each.
  util::Result<void> generate_behind() {
    protocol::Generate request;
    request.prompt_tokens = {past_.begin(), past_.end()};
    request.n_predict = job_.n_predict;
    request.sampling.temp = 0;
    target_.take();
    InnerPort inner(port_);
    const trace::Finished ended = generate(model_, request, inner);
    if (ended.outcome.kind != trace::OutcomeKind::done) return refuse("{}", ended.outcome.reason);
    const std::vector<GraphReads> graphs = target_.take();
    if (graphs.size() < inner.passes.size()) return refuse("Graphs of passes were not seen.");
    std::map<int, trace::SpeculativeUnion> by_width;
    for (std::size_t i = 0; i < inner.passes.size(); ++i) {
      const trace::Pass& pass = inner.passes[i];
      const GraphReads& reads = graphs[graphs.size() - inner.passes.size() + i];
      if (reads.tokens != pass.width) return refuse("Graphs and passes do not belong together.");
      const auto experts = reads.experts_per_layer();
      if (!experts) return {};
      if (pass.kind != trace::PassKind::speculative) continue;
      trace::SpeculativeUnion& sum = by_width[pass.width];
      sum.width = pass.width;
      ++sum.passes;
      sum.offered += pass.offered;
      sum.accepted += pass.accepted;
      sum.experts_per_layer += (*experts - sum.experts_per_layer) / sum.passes;
    }
    for (const auto& [width, sum] : by_width) observation_.speculative.push_back(sum);
    return {};
  }

  LoadedModel& model_;
  GraphWatch& target_;
  GraphWatch& drafter_;
  const protocol::Observe& job_;
  JobPort& port_;
  Heartbeat heartbeat_{port_};
  llama_tokens text_;
  llama_tokens past_;  ///< tokens of it in the KV cache
  trace::Observation observation_;
};

trace::Finished run(const protocol::Observe& job, JobPort& port) {
  std::map<std::string, std::string> classes;
  if (auto read = add_classes(job.setup.model_path, classes); !read)
    return refused(read.error().message);
  GraphWatch target(classes);
  // A drafter reads some of its target's tensors; of two of one name it reads its own.
  std::map<std::string, std::string> of_drafter;
  if (job.setup.draft_path)
    if (auto read = add_classes(*job.setup.draft_path, of_drafter); !read)
      return refused(read.error().message);
  of_drafter.merge(classes);
  GraphWatch drafter(std::move(of_drafter));
  auto model = load(job.setup, {}, std::nullopt, {&target, &drafter});
  if (!model) return refused(model.error().message);
  const auto ended = Observing(**model, target, drafter, job, port).run();
  if (!ended) return refused(ended.error().message);
  if (*ended == trace::OutcomeKind::cancelled) return finished(*ended, "Observing was cancelled.");
  return {};
}

}  // namespace

trace::Finished observe(const protocol::Observe& job, JobPort& port) {
  try {
    return run(job, port);
  } catch (const std::exception& problem) {
    return refused(
        fmt::format("llama.cpp gave up while its graphs were read: {}.", problem.what()));
  }
}

}  // namespace paceline::worker
