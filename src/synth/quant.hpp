#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/tensor_type.hpp"
#include "synth/plan.hpp"
#include "util/result.hpp"

namespace paceline::synth {

/// Classes of tensors that can have a type of their own.
inline constexpr std::array tensor_classes = {"embedding",    "output",  "attention", "recurrent",
                                              "feed-forward", "experts", "other"};

/// The class of a tensor by its name: "other" is what belongs to a drafter or a mixer alone.
const char* class_of(const std::string& tensor_name);

/// Names of the types that a matrix can be stored as, as ggml writes them.
std::vector<std::string> quant_names();

/// The type of that name, in whatever case; nothing where ggml cannot quantise to it.
std::optional<std::uint32_t> quant_of_name(std::string_view name);

/// True for what stays in F32 whatever is asked for, by llama-quantize's rules: vectors, norms,
/// routers, convolutions and the projections of an indexer.
bool stays_f32(const TensorPlan& tensor);

/// Gives every tensor of the plan its type. Where a row is not so many blocks of the type as a
/// whole, it takes the type that llama-quantize does then; the plan's notes say so.
util::Result<void> choose_types(const std::string& quant,
                                const std::map<std::string, std::string>& quant_of, Plan& plan);

/// llama.cpp's number for a file that is mostly of that type (general.file_type).
std::uint32_t file_type_of(std::uint32_t type);

}  // namespace paceline::synth
