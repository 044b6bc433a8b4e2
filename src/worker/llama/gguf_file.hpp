#pragma once

#include "model/gguf.hpp"

namespace paceline::worker {

/// The head of a model's file as everything in the worker asks it.
using GgufFile = model::Gguf;

}  // namespace paceline::worker
