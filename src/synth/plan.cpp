#include "synth/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <utility>

#include "model/gguf.hpp"
#include "model/tensor_type.hpp"
#include "synth/builder.hpp"
#include "synth/quant.hpp"
#include "synth/random.hpp"
#include "synth/target.hpp"
#include "synth/walk.hpp"
#include "util/misused.hpp"

namespace paceline::synth {

namespace {

/// Something that can be made: a model by its shape alone, or a drafter for a target.
struct Kind {
  const char* name;
  const char* architecture;  ///< as the file says
  void (*build)(Builder&) = nullptr;
  void (*build_for)(Builder&, const Target&) = nullptr;
  bool takes_agreement = false;
};

constexpr std::array kinds = {
    Kind{.name = "llama", .architecture = "llama", .build = build_llama},
    Kind{.name = "muse-glimmer", .architecture = "muse-glimmer", .build = build_muse_glimmer},
    Kind{.name = "gemma4", .architecture = "gemma4", .build = build_gemma4},
    Kind{
        .name = "qwen35", .architecture = "qwen35", .build = build_qwen35, .takes_agreement = true},
    Kind{.name = "qwen4exp", .architecture = "qwen4exp", .build = build_qwen4exp},
    Kind{.name = "draft-simple",
         .architecture = "llama",
         .build_for = [](Builder& builder, const Target&) { build_llama(builder); },
         .takes_agreement = true},
    Kind{.name = "dflash", .architecture = "dflash", .build_for = build_dflash},
    Kind{.name = "dflash2", .architecture = "dflash", .build_for = build_dflash2},
    Kind{.name = "dspark",
         .architecture = "dflash",
         .build_for = build_dspark,
         .takes_agreement = true},
    Kind{.name = "eagle3", .architecture = "eagle3", .build_for = build_eagle3},
    Kind{.name = "gemma4-assistant",
         .architecture = "gemma4-assistant",
         .build_for = build_gemma4_assistant},
};

std::vector<std::string> names_of(bool drafters) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds)
    if ((kind.build_for != nullptr) == drafters) names.emplace_back(kind.name);
  return names;
}

util::Result<const Kind*> find_kind(const protocol::Invent& job) {
  if (job.architecture.empty() && job.like.empty())
    return util::misused(
        "nothing says what to write: name an --arch, a model that it is --like, or a "
        "--drafter");
  const KnownModel* like = find_known_model(job.like);
  if (!job.like.empty() && like == nullptr) {
    return util::misused("the shape of '{}' is not known: take one of {}", job.like,
                         fmt::join(known_model_names(), ", "));
  }
  const std::string name = job.architecture.empty() && like ? like->architecture : job.architecture;
  const auto* kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const Kind& one) { return one.name == name; });
  const bool drafter = !job.target_path.empty();
  if (kind == kinds.end() || (kind->build_for != nullptr) != drafter)
    return util::misused("'{}' is no {} that can be made: take one of {}", name,
                         drafter ? "drafter" : "architecture", fmt::join(names_of(drafter), ", "));
  if (like != nullptr && kind->name != std::string_view(like->architecture))
    return util::misused("{} is of architecture {}, not {}: leave --arch out", like->name,
                         like->architecture, name);
  if (job.agreement && !kind->takes_agreement)
    return util::misused("no agreement can be chosen for {}: {} take one", name,
                         "draft-simple, dspark and qwen35 with --mtp 1");
  return kind;
}

/// What the architectures cannot be without, beyond the range of each number.
util::Result<void> check_shape(const Kind& kind, const Shape& shape) {
  const std::string_view name = kind.name;
  if (shape.heads % shape.kv_heads != 0)
    return util::misused("{} heads cannot share {} heads of keys and values: take a divisor",
                         shape.heads, shape.kv_heads);
  const bool windows = name == "muse-glimmer" || name == "gemma4";
  if ((windows || name == "gemma4-assistant") && shape.layers < 2)
    return util::misused("{} needs a layer of each kind: take --layers 2 or more", name);
  if (name == "gemma4" && shape.heads % shape.full_kv_heads != 0)
    return util::misused("{} heads cannot share --full-kv-heads {}: take a divisor", shape.heads,
                         shape.full_kv_heads);
  const bool hybrid = name == "qwen35" || name == "qwen4exp";
  if (hybrid && shape.layers < shape.interval)
    return util::misused("{} needs a layer that attends: take --layers {} or more", name,
                         shape.interval);
  if (hybrid && shape.value_heads % shape.key_groups != 0)
    return util::misused("--value-heads {} is no multiple of --key-groups {}", shape.value_heads,
                         shape.key_groups);
  if (name == "qwen4exp" && (shape.embd % (2 * shape.ngram_heads) != 0))
    return util::misused("--embd {} does not divide into 2 x --ngram-heads {} rows", shape.embd,
                         shape.ngram_heads);
  if (name == "qwen4exp" && shape.experts_used > shape.experts)
    return util::misused("--experts-used {} is more than there are ({})", shape.experts_used,
                         shape.experts);
  if (name == "dflash2" && (shape.embd % 32 != 0 || shape.embd < shape.top_k * (shape.top_k + 1)))
    return util::misused(
        "dflash2 needs a target whose width ({}) is a multiple of 32, and at least "
        "top-k x (top-k + 1)",
        shape.embd);
  return {};
}

/// The kind with that shape, without what only the finished plan has.
Plan built(const Kind& kind, const Shape& shape, const std::optional<Target>& target,
           const std::optional<double>& agreement) {
  Plan plan;
  plan.architecture = kind.architecture;
  plan.shape = shape;
  Builder builder(plan, kind.architecture, agreement);
  if (kind.build != nullptr)
    kind.build(builder);
  else
    kind.build_for(builder, *target);
  return plan;
}

/// The shape whose parameters are nearest to `scale` times those of `whole`. Parameters go about
/// with the cube of the factor; roundings make them jump, so that all factors near are looked at.
Shape scaled_to(const Kind& kind, const Shape& whole, double scale) {
  const auto parameters = [&](const Shape& shape) {
    return static_cast<double>(built(kind, shape, std::nullopt, std::nullopt).parameters());
  };
  const double wanted = scale * parameters(whole);
  Shape best = whole;
  double least = -1;
  constexpr int steps = 120;
  for (int i = 0; i <= steps; ++i) {
    const double factor = std::cbrt(scale) * std::exp2(2.0 * i / steps - 1);
    const Shape shape = resized(whole, factor);
    const double apart = std::fabs(std::log(parameters(shape) / wanted));
    if (least >= 0 && apart >= least) continue;
    least = apart;
    best = shape;
  }
  return best;
}

util::Result<Shape> shape_of(const Kind& kind, const protocol::Invent& job,
                             const std::optional<Target>& target) {
  if (!(job.scale > 0 && job.scale <= 4))
    return util::misused("--scale takes more than 0, up to 4");
  const KnownModel* like = find_known_model(job.like);
  if (like == nullptr && job.scale != 1.0)
    return util::misused("--scale scales a known shape: name one with --like");
  Shape shape = like == nullptr ? Shape{} : like->shape;
  if (like != nullptr && job.scale != 1.0) shape = scaled_to(kind, shape, job.scale);
  if (target) shape = drafter_shape(kind.name, *target);
  PACELINE_TRY_ASSIGN(shape, with_numbers(shape, job.shape));
  PACELINE_TRY(check_shape(kind, shape));
  if (target) PACELINE_TRY(check_fits(kind.name, shape, *target));
  return shape;
}

std::string described(const Kind& kind, const protocol::Invent& job, const Plan& plan) {
  std::string text =
      fmt::format("{}, {} layers, width {}, {} heads and {} of keys, vocabulary {}, seed {}",
                  kind.name, plan.shape.layers, plan.shape.embd, plan.shape.heads,
                  plan.shape.kv_heads, plan.shape.vocab, job.seed);
  if (!job.like.empty()) text += fmt::format(", like {} at scale {:g}", job.like, job.scale);
  if (job.agreement) text += fmt::format(", agreement {:g}", *job.agreement);
  return text;
}

void add_provenance(const protocol::Invent& job, const std::string& quant, Plan& plan) {
  const auto add = [&](const char* key, auto value) { plan.keys.push_back({key, value}); };
  add("general.architecture", plan.architecture);
  add("general.name", "Synthetic " + (job.like.empty() ? job.architecture : job.like));
  add("general.file_type", file_type_of(*quant_of_name(quant)));
  add("paceline.synthetic", true);
  add("paceline.synthetic.made_as", plan.made_as);
  add("paceline.synthetic.tool", std::string("paceline " PACELINE_VERSION));
  add("paceline.synthetic.seed", job.seed);
  const bool walks = std::any_of(plan.tensors.begin(), plan.tensors.end(), [](const auto& tensor) {
    return tensor.fill == Fill::next_words;
  });
  if (walks) add("paceline.synthetic.walk", plan.walk);
  if (const KnownModel* like = find_known_model(job.like); like && *like->assumed != '\0')
    add("paceline.synthetic.assumed", std::string(like->assumed));
}

/// A drafter goes its target's way; that of a target is its own.
util::Result<void> settle_walk(const protocol::Invent& job, const std::optional<Target>& target,
                               Plan& plan) {
  plan.walk = target ? target->walk.value_or(job.seed) : job.seed;
  if (!job.agreement) return {};
  if (!(*job.agreement >= 0 && *job.agreement <= 1))
    return util::misused("--agreement takes 0 to 1");
  if (target && !target->walk)
    return util::misused(
        "'{}' is no synthetic model with a head of its own, so that nothing is known of what it "
        "says: no agreement with it can be chosen",
        target->path);
  if (!target && plan.shape.mtp == 0)
    return util::misused("the agreement is that of the MTP block: ask for --mtp 1");
  for (TensorPlan& tensor : plan.tensors)
    if (tensor.fill == Fill::next_words && (target || tensor.name.starts_with("blk.")))
      tensor.agreement = *job.agreement;
  return {};
}

}  // namespace

std::int64_t TensorPlan::rows() const {
  return std::accumulate(dimensions.begin() + 1, dimensions.end(), std::int64_t{1},
                         std::multiplies<>());
}

std::uint64_t TensorPlan::bytes() const {
  const model::TensorType& stored = *model::find_tensor_type(type);
  return static_cast<std::uint64_t>(columns()) / stored.block * stored.bytes *
         static_cast<std::uint64_t>(rows());
}

std::uint64_t Plan::parameters() const {
  std::uint64_t sum = 0;
  for (const TensorPlan& tensor : tensors)
    sum += static_cast<std::uint64_t>(tensor.columns() * tensor.rows());
  return sum;
}

std::uint64_t Plan::bytes() const {
  std::uint64_t sum = 0;
  for (const TensorPlan& tensor : tensors) sum += tensor.bytes();
  return sum;
}

std::vector<std::string> model_kinds() { return names_of(false); }
std::vector<std::string> drafter_kinds() { return names_of(true); }

util::Result<Plan> plan(const protocol::Invent& job) {
  PACELINE_TRY_ASSIGN(const Kind* const kind, find_kind(job));
  std::optional<Target> target;
  if (kind->build_for != nullptr) {
    PACELINE_TRY_ASSIGN(target, read_target(job.target_path));
  }
  PACELINE_TRY_ASSIGN(const Shape shape, shape_of(*kind, job, target));
  Plan plan = built(*kind, shape, target, job.agreement);
  plan.seed = job.seed;
  plan.tokenizer_of = job.target_path;
  PACELINE_TRY(settle_walk(job, target, plan));
  PACELINE_TRY(choose_types(job.quant, job.quant_of, plan));
  plan.made_as = described(*kind, job, plan);
  if (const KnownModel* like = find_known_model(job.like); like && *like->assumed != '\0')
    plan.notes.push_back(fmt::format("assumed of {}: {}", like->name, like->assumed));
  if (target && !target->has_mask_token && kind->architecture == std::string_view("dflash"))
    plan.notes.push_back("the target has no mask token: its last token is taken for one");
  add_provenance(job, job.quant, plan);
  return plan;
}

}  // namespace paceline::synth
