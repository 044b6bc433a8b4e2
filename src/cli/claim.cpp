#include "report/claim.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "claim/figure.hpp"
#include "claim/given.hpp"
#include "claim/judge.hpp"
#include "claim/number.hpp"
#include "claim/text.hpp"
#include "cli/commands.hpp"
#include "cli/measure.hpp"
#include "cli/output.hpp"
#include "document/roofline.hpp"
#include "engine/embedded/embedded_engine.hpp"
#include "study/inspect.hpp"
#include "util/clock.hpp"
#include "util/files.hpp"
#include "util/interrupt.hpp"
#include "util/misused.hpp"

namespace paceline::cli {

namespace {

constexpr const char* about_claim =
    "Reads somebody's figures (typed in, or the output of llama-bench, servers, /metrics and other "
    "tools, with anything around it) and says what follows from them, which of them contradict "
    "each other, and which facts are missing that would make a benchmark of a screenshot.";

constexpr int exit_below_level = 1;

struct Settings {
  std::vector<std::string> files;
  std::vector<std::string> given;
  std::string model;
  std::string bandwidth;
  std::string strict;
  bool markdown = false;
  std::optional<std::string> json;
};

/// All of standard input.
util::Result<std::string> read_standard_input() {
  std::string text;
  std::array<char, 1 << 16> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), stdin))
    text.append(part.data(), count);
  if (std::ferror(stdin) == 0) return text;
  return util::fail(util::ErrorKind::usage, "standard input could not be read");
}

void append(claim::Sheet&& from, claim::Sheet& into) {
  const int group = into.rows.empty() ? 0 : into.rows.back().group;
  for (claim::Row& row : from.rows) {
    row.group += group + 1;
    into.rows.push_back(std::move(row));
  }
  const auto move_all = [](auto& source, auto& target) {
    for (auto& one : source) target.push_back(std::move(one));
  };
  move_all(from.remarks, into.remarks);
  move_all(from.inputs, into.inputs);
}

/// Bytes of a plain pass by the file's head, without KV, for rows that say none.
util::Result<void> add_model(const std::string& file, claim::Sheet& sheet) {
  engine::embedded::EmbeddedEngine reader(worker_program());
  document::RooflineQuestion question;
  const auto facts = study::inspect(reader, file, util::interrupted);
  reader.close();
  if (!facts) return tl::unexpected<util::Error>(facts.error());
  question.target = *facts;
  question.widths = {1};
  question.shape.n_ctx = 256;
  question.shape.cache_type_k = question.shape.cache_type_v = "f16";
  PACELINE_TRY_ASSIGN(const document::Roofline roofline, document::to_roofline(question));
  const double bytes = roofline.token.weight_bytes;
  for (claim::Row& row : sheet.rows)
    row.add({claim::Figure::bytes_per_pass,
             claim::exactly(bytes),
             {},
             std::to_string(bytes),
             "--model",
             "weights that a plain pass of the file reads"});
  return {};
}

util::Result<void> add_bandwidth(const std::string& text, claim::Sheet& sheet) {
  const auto range = claim::parse_figure(text, claim::Figure::bandwidth);
  if (!range || !(range->low > 0))
    return util::misused("--bandwidth {}: write it as 273GB/s or 273e9", text);
  for (claim::Row& row : sheet.rows)
    row.add({claim::Figure::bandwidth, *range, {}, text, "--bandwidth", {}});
  return {};
}

util::Result<claim::Sheet> read(const Settings& settings) {
  claim::Sheet sheet;
  int number = 0;
  for (const std::string& text : settings.given) {
    PACELINE_TRY_ASSIGN(claim::Row row, claim::parse_given(text, ++number));
    sheet.rows.push_back(std::move(row));
  }
  for (const std::string& file : settings.files) {
    PACELINE_TRY_ASSIGN(const std::string text,
                        file == "-" ? read_standard_input() : util::read_file(file));
    append(claim::read_text(text, file == "-" ? "standard input" : file), sheet);
  }
  if (sheet.rows.empty() && sheet.remarks.empty())
    return util::fail(util::ErrorKind::not_enough_data,
                      "no figure of a known tool was found: give some with --given "
                      "base=17.98,spec=84.64,k=15");
  if (!settings.bandwidth.empty()) PACELINE_TRY(add_bandwidth(settings.bandwidth, sheet));
  if (!settings.model.empty()) PACELINE_TRY(add_model(settings.model, sheet));
  return sheet;
}

bool is_below(const std::string& verdict, const std::string& level) {
  if (level.empty() || verdict == "benchmark") return false;
  return level == "benchmark" || verdict == "screenshot";
}

util::Result<int> run_claim(const Settings& settings) {
  if (settings.files.empty() && settings.given.empty())
    return util::misused("name a file, - for standard input, or figures with --given");
  std::vector<std::string> inputs = settings.files;
  inputs.push_back(settings.model);
  PACELINE_TRY(check_json_path(settings.json, inputs));
  PACELINE_TRY_ASSIGN(claim::Sheet sheet, read(settings));
  document::Claim claim = claim::judge(std::move(sheet));
  claim.tool = {"paceline", PACELINE_VERSION};
  claim.created = util::utc_now();
  const auto text = settings.markdown ? report::claim_markdown(claim)
                                      : report::claim(claim, style_for(text_stream(settings.json)));
  PACELINE_TRY(write_out(text, document::to_json_text(claim) + "\n", settings.json));
  return is_below(claim.facts.verdict, settings.strict) ? exit_below_level : 0;
}

}  // namespace

void add_claim(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("claim", about_claim);
  command
      ->add_option("file", settings->files,
                   "Text with the output of known tools in it; - is standard input")
      ->type_name("FILE")
      ->default_str("only what is given");
  command
      ->add_option("--given", settings->given,
                   "Figures of one row: base, spec, accept, k, tau, tokens, accepted, drafted, "
                   "passes and others, with full=yes where every pass has a full draft; again for "
                   "another row")
      ->type_name("NAME=VALUE,..")
      ->allow_extra_args(false)
      ->default_str("none");
  command
      ->add_option("--model", settings->model, "File whose weights a pass reads, for the ceiling")
      ->type_name("FILE")
      ->default_str("none");
  command->add_option("--bandwidth", settings->bandwidth, "Of the memory, as in 273GB/s")
      ->type_name("NUMBER")
      ->default_str("none");
  command->add_option("--strict", settings->strict, "End with 1 when the verdict is below that")
      ->check(CLI::IsMember({"benchmark", "incomplete"}))
      ->type_name("LEVEL")
      ->default_str("any verdict ends with 0");
  command->add_flag("--markdown", settings->markdown, "Write a reply fit to be pasted");
  command->add_option("--json", settings->json, "Write the document there; - is standard output")
      ->type_name("FILE")
      ->default_str("no document");
  command->footer(
      "Examples:\n"
      "  paceline claim --given base=17.98,spec=84.64,accept=38.67%,k=15,full=yes\n"
      "  paceline claim --given base=12.7,spec=49.8,accepted_per_pass=7.3,k=7 --markdown\n"
      "  curl -s localhost:8080/metrics | paceline claim -\n"
      "  paceline claim post.md --strict=incomplete");
  command->callback([settings, &action] { action = [settings] { return run_claim(*settings); }; });
}

}  // namespace paceline::cli
