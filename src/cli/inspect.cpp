#include "study/inspect.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/measure.hpp"
#include "cli/output.hpp"
#include "document/json.hpp"
#include "engine/embedded/embedded_engine.hpp"
#include "report/inspection.hpp"
#include "util/clock.hpp"
#include "util/interrupt.hpp"

namespace paceline::cli {

namespace {

constexpr const char* about_inspect =
    "Says what a GGUF file is, without loading it: the exact quantisation by tensor class, traces "
    "of an importance matrix, the drafter in it, and what is odd about it.";

struct Settings {
  std::string file;
  std::optional<std::string> json;
};

util::Result<int> inspect(const Settings& settings) {
  PACELINE_TRY(check_json_path(settings.json, {settings.file}));
  engine::embedded::EmbeddedEngine reader(worker_program());
  const auto facts = study::inspect(reader, settings.file, util::interrupted);
  reader.close();
  if (util::interrupted()) return exit_interrupted;
  if (!facts) return tl::unexpected<util::Error>(facts.error());

  document::Inspection inspection;
  inspection.tool = {"paceline", PACELINE_VERSION};
  inspection.created = util::utc_now();
  inspection.model = document::to_model(*facts);
  const auto text = report::inspection(inspection, style_for(text_stream(settings.json)));
  PACELINE_TRY(write_out(text, document::to_json_text(inspection) + "\n", settings.json));
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("inspect", about_inspect);
  command->add_option("file", settings->file, "Model or drafter; of a split one its first file")
      ->type_name("FILE")
      ->required();
  command->add_option("--json", settings->json, "Write the document there; - is standard output")
      ->type_name("FILE")
      ->default_str("no document");
  command->footer(
      "Examples:\n"
      "  paceline inspect model-00001-of-00003.gguf\n"
      "  paceline inspect drafter.gguf --json - | less");
  command->callback([settings, &action] { action = [settings] { return inspect(*settings); }; });
}

}  // namespace paceline::cli
