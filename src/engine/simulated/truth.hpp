#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/setup.hpp"

namespace paceline::engine::simulated {

/// Seconds that the parts of one pass take beside its verify call.
struct PhaseTimes {
  double draft_s = 0;  ///< one run of the drafter, whatever it offers
  double checkpoint_s = 0;
  double process_s = 0;  ///< the drafter's catch-up, on every pass of an arm with a drafter
  double sample_s = 0;
  double accept_s = 0;
  double rollback_s = 0;
  double between_s = 0;  ///< between the end of a pass and the next one
  double sync_s = 0;     ///< what synchronising after each phase adds to a pass; in no phase
};

enum class FaultKind {
  refuse_open,  ///< the launch never opens
  crash,        ///< the process dies in the job: nothing of it arrives
  hang,         ///< nothing more is said until the job's patience is over
  cut,          ///< records arrive up to the pass, then the stream ends
};

/// Something that goes wrong at one place.
struct Fault {
  FaultKind kind = FaultKind::crash;
  int launch = 0;  ///< 0, 1, .. over all engines of a world, in the order they are opened
  int job = 0;     ///< 0, 1, .. within the launch
  int pass = 0;    ///< 0, 1, .. within the job
};

/// What is true of a simulated machine and text. Every random draw comes from `seed`, the launch
/// and the job, so that a run can be repeated.
struct Truth {
  std::uint64_t seed = 1;

  /// Seconds of the target's decode call of a width.
  std::function<double(int width)> verify_s = [](int) { return 0.01; };
  PhaseTimes phases;
  double prefill_s_per_token = 0.001;
  double prefill_drafter_s_per_token = 0;  ///< on top, with a drafter
  double pass_noise_sd = 0;                ///< of the logarithm of one pass's time

  /// Factors on every time of a launch, and of a prompt's decode.
  std::function<double(int launch)> launch_factor = [](int) { return 1.0; };
  std::function<double(std::string_view prompt)> prompt_factor = [](std::string_view) {
    return 1.0;
  };

  /// Probability that position i of a draft is accepted, all before it being accepted. Positions
  /// past the end are never accepted.
  std::function<std::vector<double>(const trace::Setup&, std::string_view prompt)> acceptance =
      [](const trace::Setup&, std::string_view) { return std::vector<double>{}; };
  double fire_probability = 1;  ///< that a run of the drafter offers anything
  int shortest_draft = 0;       ///< drafts are this long to the full length; 0: always full
  int draft_block = 8;          ///< the longest draft is one less where the setup does not say
  bool replays = false;         ///< a rejection costs a pass that decodes the accepted part again

  /// Token of a text, from 0, from which on a setup writes another one; nothing: it never does.
  std::function<std::optional<int>(const trace::Setup&, std::string_view prompt)> strays_at =
      [](const trace::Setup&, std::string_view) { return std::optional<int>(); };
  double top2_margin = 1;  ///< between the two best logits, at every token
  /// 99th percentile of |logit difference| between passes of one token and of a width.
  std::function<double(int width)> logit_difference = [](int) { return 0.001; };

  double eos_probability = 0;  ///< that a token of the text is the stop token
  int text_period = 0;         ///< the text repeats after so many tokens; 0: never
  std::vector<Fault> faults;
};

/// A truth and what has happened in it so far; shared by the engines of one run.
struct World {
  Truth truth;
  int launches = 0;  ///< opened or refused so far
};

}  // namespace paceline::engine::simulated
