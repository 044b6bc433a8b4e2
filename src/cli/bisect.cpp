#include "cli/bisect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "cli/shell_command.hpp"
#include "report/comparison.hpp"
#include "util/console.hpp"
#include "util/files.hpp"
#include "util/interrupt.hpp"
#include "util/misused.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::cli {

namespace {

using report::Notes;

/// Launches are doubled so often where nothing can be told, then the commit is skipped.
constexpr int most_doublings = 2;

bool is_found(const std::string& git_says) {
  return git_says.find("is the first bad commit") != std::string::npos;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Nothing is printed of the many comparisons but what the bisection says of them.
std::string no_report(const document::Document&) { return ""; }

/// A working tree of the repository, of its own, removed with everything in it at the end.
class Checkout {
 public:
  Checkout(std::string repository, std::filesystem::path folder)
      : repository_(std::move(repository)), folder_(std::move(folder)) {}
  Checkout(const Checkout&) = delete;
  Checkout& operator=(const Checkout&) = delete;
  ~Checkout() {
    (void)run_in(repository_, {"git", "worktree", "remove", "--force", path()});
    std::error_code unknown;
    std::filesystem::remove_all(folder_, unknown);
    (void)run_in(repository_, {"git", "worktree", "prune"});
  }

  util::Result<void> create(const std::string& commit) const {
    std::filesystem::create_directories(folder_.parent_path());
    return must(run_in(repository_, {"git", "worktree", "add", "--detach", path(), commit}));
  }

  util::Result<Said> try_git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "git");
    return run_in(path(), arguments);
  }

  util::Result<std::string> git(std::vector<std::string> arguments) const {
    const auto said = try_git(std::move(arguments));
    PACELINE_TRY(must(said));
    return said->text;
  }

  util::Result<bool> build(const std::string& command) const {
    PACELINE_TRY_ASSIGN(const Said said, run_in(path(), {"/bin/sh", "-c", command}));
    return said.succeeded;
  }

  std::string path() const { return folder_.string(); }

 private:
  static util::Result<void> must(const util::Result<Said>& said) {
    PACELINE_TRY(said);
    if (said->succeeded) return {};
    return util::misused("git refuses: {}", util::printable(first_line(said->text)));
  }

  std::string repository_;
  std::filesystem::path folder_;
};

struct Step {
  std::string commit;
  std::string subject;
  std::string says;   ///< good, bad, skip
  std::string ratio;  ///< or why it was skipped
};

class Bisection {
 public:
  Bisection(const BisectSettings& settings, const SideWords& words, const CompareRule& rule)
      : settings_(settings), words_(words), rule_(rule), place_(new_place()) {}

  ~Bisection() {
    std::error_code unknown;
    std::filesystem::remove(place_, unknown);
  }
  Bisection(const Bisection&) = delete;
  Bisection& operator=(const Bisection&) = delete;

  util::Result<int> run() {
    PACELINE_TRY(take_server());
    const std::string repository = std::filesystem::absolute(settings_.repository).string();
    Checkout good(repository, place_ / "good");
    Checkout at(repository, place_ / "at");
    PACELINE_TRY(good.create(settings_.ends[0]));
    PACELINE_TRY(at.create(settings_.ends[1]));
    good_ = good.path();
    at_ = at.path();
    for (const Checkout* end : {&good, &at}) {
      PACELINE_TRY_ASSIGN(const bool built, end->build(settings_.build));
      if (!built)
        return util::misused("{} does not build with \"{}\"", end->path(), settings_.build);
    }
    PACELINE_TRY(find_limit());
    PACELINE_TRY_ASSIGN(const std::string said,
                        at.git({"bisect", "start", settings_.ends[1], settings_.ends[0]}));
    return is_found(said) ? end(first_line(said), 0) : follow(at);
  }

 private:
  static std::filesystem::path new_place() {
    return util::cache_folder() / fmt::format("bisect-{:08x}", std::random_device()());
  }

  /// The server's path is inside a checkout, so it is taken out of what both sides share.
  util::Result<void> take_server() {
    for (auto option = words_.shared.begin(); option != words_.shared.end(); ++option) {
      if (option->name != "--server-bin") continue;
      server_ = option->values.back();
      words_.shared.erase(option);
      break;
    }
    if (settings_.build.empty() || server_.empty() || server_.front() == '/')
      return util::misused(
          "--bisect needs --build COMMAND, which builds a commit in its checkout, and --server-bin "
          "with the path of the llama-server in it, as in build/bin/llama-server");
    return {};
  }

  util::Result<document::Comparison> compare(int launches) {
    SideWords words = words_;
    std::erase_if(words.shared, [](const auto& option) {
      return option.name == "--launches" || option.name == "--json" || option.name == "--trace";
    });
    words.shared.push_back({"--launches", {std::to_string(launches)}, false, false, false});
    words.shared.push_back(
        {"--server-bin", {good_ + "/" + server_, at_ + "/" + server_}, false, false, true});
    CompareRule rule = rule_;
    rule.launches_given = false;
    PACELINE_TRY_ASSIGN(Sides sides, plan_comparison(words, rule));
    if (limit_ > 0) sides.run.comparison->fail_if_slower = limit_;
    sides.output.render = no_report;
    PACELINE_TRY_ASSIGN(const Compared compared, measure_comparison(sides));
    if (!compared.document || compared.document->comparisons.empty())
      return util::fail(util::ErrorKind::not_enough_data, "nothing was measured");
    return compared.document->comparisons.front();
  }

  int launches() const {
    for (const auto& option : words_.shared)
      if (option.name == "--launches") return std::stoi(option.values.back());
    return 3;
  }

  /// Commits are bad from half way between the good end's speed and the bad one's on, unless the
  /// user says from where.
  util::Result<void> find_limit() {
    PACELINE_TRY_ASSIGN(const auto ends, compare(launches()));
    if (ends.verdict != "slower")
      return util::fail(
          util::ErrorKind::not_enough_data,
          fmt::format("{} is not surely slower than {}, so there is nothing to look for. "
                      "{}",
                      settings_.ends[1], settings_.ends[0], report::verdict_sentence(ends)));
    limit_ = rule_.fail_if_slower ? 0 : 1 - std::sqrt(*ends.ratios.tokens_per_s.value);
    util::say(report::verdict_sentence(ends));
    return {};
  }

  util::Result<int> follow(const Checkout& at) {
    while (!util::interrupted()) {
      PACELINE_TRY_ASSIGN(const std::string log, at.git({"log", "-1", "--format=%h%n%s"}));
      Step step{first_line(log), first_line(log.substr(log.find('\n') + 1)), "", ""};
      PACELINE_TRY(judge(at, step));
      util::say(fmt::format("{} {}: {} ({})", step.commit, util::printable(step.subject), step.says,
                            step.ratio));
      PACELINE_TRY_ASSIGN(const Said said, at.try_git({"bisect", step.says}));
      steps_.push_back(std::move(step));
      if (is_found(said.text)) return end(first_line(said.text), 0);
      if (!said.succeeded)
        return end(in_one_line(said.text), static_cast<int>(util::ErrorKind::not_enough_data));
    }
    return exit_interrupted;
  }

  util::Result<void> judge(const Checkout& at, Step& step) {
    step.says = "skip";
    PACELINE_TRY_ASSIGN(const bool built, at.build(settings_.build));
    if (!built) {
      step.ratio = "does not build";
      return {};
    }
    int count = launches();
    for (int doubled = 0; doubled <= most_doublings && !util::interrupted();
         ++doubled, count *= 2) {
      const auto compared = compare(count);
      if (!compared) {
        step.ratio = compared.error().message;
        return {};
      }
      Notes unused;
      step.ratio = report::ratio_text(compared->ratios.tokens_per_s, true, unused);
      const std::string verdict = compared->limit.value ? compared->limit.value->verdict : "";
      if (verdict == "broken") step.says = "bad";
      if (verdict == "kept") step.says = "good";
      if (step.says != "skip") return {};
    }
    step.ratio += ", cannot be told";
    return {};
  }

  util::Result<int> end(const std::string& says, int exit_code) const {
    util::TextTable table;
    for (const char* name : {"commit", "subject", "verdict", "tok/s over the good one's"})
      table.add_column(name, util::Align::left);
    for (const auto& step : steps_)
      table.add_row({{step.commit}, {util::printable(step.subject)}, {step.says}, {step.ratio}});
    util::write_all(stdout, table.render(0, false) + util::printable(says) + "\n");
    return exit_code;
  }

  BisectSettings settings_;
  SideWords words_;
  CompareRule rule_;
  std::filesystem::path place_;
  std::string server_;
  std::string good_;
  std::string at_;
  double limit_ = 0;  ///< share; 0: the user's
  std::vector<Step> steps_;
};

}  // namespace

util::Result<int> bisect(const BisectSettings& settings, const SideWords& words,
                         const CompareRule& rule) {
  return Bisection(settings, words, rule).run();
}

}  // namespace paceline::cli
