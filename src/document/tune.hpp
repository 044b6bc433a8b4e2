#pragma once

#include <string>
#include <vector>

#include "document/known.hpp"
#include "document/tool.hpp"
#include "metrics/predicted_run.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// One way of drafting on the texts of one class, as the map predicts it.
struct TunedWay {
  std::string arm;         ///< plain, a way of drafting, or the oracle of a drafter
  Known<int> draft_n_max;  ///< unknown of plain and of an oracle
  double draft_p_min = 0;
  Quantity tokens_per_pass;
  Quantity acceptance;
  Known<double> guessed;  ///< accepted tokens of those that were decoded
  Quantity passes_per_s;
  Quantity tokens_per_s;
  Quantity speedup;
};

/// The same of all classes together, each with its share of the mix.
struct TunedMix {
  std::string arm;
  Quantity pat_decode;
  Quantity speedup;
};

struct TunedClass {
  std::string name;
  int texts = 0;
  long tokens = 0;  ///< decoded, the first one of each text left out
  std::vector<TunedWay> ways;
  Known<std::string> fastest;         ///< of the ways of drafting, neither plain nor an oracle
  Known<std::string> most_accepting;  ///< likewise
  Known<std::string> most_tokens;     ///< most tokens per pass, likewise
};

/// How a run that was really made compares with what the map said of its way of drafting.
struct TunedMeasurement {
  std::string arm;
  std::string workload_class;  ///< empty: the mix
  Quantity tokens_per_pass;
  Quantity tokens_per_s;  ///< of the mix its PAT
  Quantity speedup;
  Known<double> predicted_speedup;
};

/// Seconds of engines, loading included.
struct TunedEffort {
  double texts_s = 0;            ///< plain writing what is mapped
  double maps_s = 0;             ///< drafters asked along it
  double timing_s = 0;           ///< passes timed
  Known<double> confirmation_s;  ///< runs of the best way and its neighbours
  Known<double> grid_s;          ///< runs of every length on the same prompts
  bool grid_is_measured = false;
  Known<double> share;  ///< all of the first four over the grid
};

/// What the requests that passes were timed with say of the map.
struct TunedCheck {
  long requests = 0;
  long requests_equal = 0;
  long passes = 0;
  std::vector<std::string> differences;
};

/// Maps of texts and what they predict: paceline.tune/1.
struct Tune {
  std::string schema = "paceline.tune/1";
  Tool tool;
  std::string created;
  std::string trace_id;
  Known<std::string> confirmation_trace_id;
  Known<std::string> model;  ///< its file
  std::string workload;
  std::string mix;
  std::vector<std::string> maps;  ///< how each drafter was asked, a sentence each
  std::vector<TunedClass> classes;
  std::vector<TunedMix> total;
  Known<std::string> best;  ///< way of drafting with the highest predicted PAT
  TunedCheck check;
  std::vector<TunedMeasurement> confirmed;  ///< on fresh prompts; empty: nothing was
  std::vector<TunedMeasurement> grid;       ///< on the mapped ones; empty: it was not run
  TunedEffort effort;
  std::vector<std::string> notes;
};

/// Everything that the trace of maps says. Runs that were made afterwards are added below.
Tune to_tune(const trace::Trace& mapped, const trace::Mix& mix);

/// Adds the interleaved runs of the best way and its neighbours, on fresh prompts.
void add_confirmation(Tune& tune, const trace::Trace& run, const trace::Mix& mix);

/// Adds runs of every length on the mapped prompts.
void add_grid(Tune& tune, const trace::Trace& run, const trace::Mix& mix);

}  // namespace paceline::document
