#include "workload/prompts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "util/files.hpp"
#include "workload/readers/reader.hpp"
#include "workload/records.hpp"

namespace paceline::workload {

namespace {

// In this order: a file of SPEED-Bench has all that MT-Bench's have, and may have "messages".
constexpr std::array readers = {&speed_bench_reader, &mt_bench_reader, &sharegpt_reader,
                                &bfcl_reader, &paceline_reader};

constexpr std::uintmax_t largest_file = std::uintmax_t{2} << 30;
constexpr std::size_t most_prompts = 1'000'000;
constexpr std::size_t longest_prompt = std::size_t{8} << 20;  // past every context there is

std::size_t bytes_of(const Prompt& prompt) {
  std::size_t bytes = prompt.text.size();
  for (const auto& message : prompt.messages) {
    bytes += message.content.size();
    for (const auto& image : message.images) bytes += image.size();
  }
  return bytes;
}

std::string keys_of(const util::Json& record) {
  std::vector<std::string> keys;
  if (record.is_object())
    for (const auto& [key, value] : record.items())
      if (keys.size() < 8) keys.push_back(key.substr(0, 40));
  return keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", "));
}

const Reader& recognise(const util::Json& record) {
  for (const Reader* reader : readers)
    if (reader->recognises(record)) return *reader;
  throw util::JsonMismatch(fmt::format(
      "this is no format that can be read (keys: {}); a prompt is {{\"id\": .., \"class\": .., "
      "\"text\" or \"messages\": ..}}; the others are {}",
      keys_of(record), fmt::join(format_names(), ", ")));
}

/// Gathers the prompts of one file.
class Gathering {
 public:
  explicit Gathering(const Reader* reader) : reader_(reader) {}

  void take(const util::Json& record) {
    if (reader_ == nullptr) reader_ = &recognise(record);
    ++tally_.records;
    auto prompt = reader_->read(record, tally_);
    if (!prompt) return;
    if (bytes_of(*prompt) > longest_prompt)
      throw util::JsonMismatch(fmt::format("the prompt is longer than {} bytes", longest_prompt));
    if (prompts_.size() == most_prompts)
      throw util::JsonMismatch(fmt::format("these are more than {} prompts", most_prompts));
    settle_id(*prompt);
    prompts_.push_back(std::move(*prompt));
  }

  util::Result<Workload> finish(std::string_view source) {
    if (prompts_.empty()) {
      std::string text = fmt::format("{} holds no prompts", source);
      for (const auto& [reason, count] : tally_.left_out)
        text += fmt::format("; left out: {} of {} records, {}", count, tally_.records, reason);
      return util::fail(util::ErrorKind::usage, text);
    }
    return Workload{std::move(prompts_), notes()};
  }

 private:
  void settle_id(Prompt& prompt) {
    if (ids_.insert(prompt.id).second) return;
    if (!reader_->makes_ids_unique)
      throw util::JsonMismatch(fmt::format("the id \"{}\" was used before", prompt.id));
    ++renamed_;
    int& times = repeats_[prompt.id];
    std::string numbered;
    do numbered = fmt::format("{}#{}", prompt.id, ++times + 1);
    while (!ids_.insert(numbered).second);
    prompt.id = std::move(numbered);
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    if (reader_ != &paceline_reader) notes.push_back(fmt::format("read as {}", reader_->format));
    if (tally_.with_later_turns > 0)
      notes.push_back(fmt::format("only the first turn is used: {} of {} records have more",
                                  tally_.with_later_turns, tally_.records));
    for (const auto& [reason, count] : tally_.left_out)
      notes.push_back(fmt::format("left out: {} of {} records, {}", count, tally_.records, reason));
    if (renamed_ > 0)
      notes.push_back(fmt::format("{} ids were used before and got a number", renamed_));
    return notes;
  }

  const Reader* reader_;
  Tally tally_;
  std::vector<Prompt> prompts_;
  std::set<std::string> ids_;
  std::map<std::string, int> repeats_;
  int renamed_ = 0;
};

util::Result<const Reader*> reader_named(const std::string& format) {
  if (format == any_format) return nullptr;
  for (const Reader* reader : readers)
    if (format == reader->format) return reader;
  return util::fail(util::ErrorKind::usage,
                    fmt::format("there is no workload format \"{}\"; there are {}", format,
                                fmt::join(format_names(), ", ")));
}

std::filesystem::path path_of(const std::string& name_or_path) {
  if (name_or_path == "paceline") return util::shipped("workloads/paceline.jsonl");
  if (name_or_path == "lab") return util::shipped("workloads/held-out-prompts.jsonl");
  if (name_or_path == "evaluation") return util::shipped("workloads/evaluation.jsonl");
  return name_or_path;
}

}  // namespace

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Reader* reader : readers) names.emplace_back(reader->format);
  std::sort(names.begin(), names.end());
  return names;
}

util::Result<Workload> read_workload(std::string_view text, std::string_view source,
                                     const std::string& format) {
  PACELINE_TRY_ASSIGN(const Reader* reader, reader_named(format));
  Gathering gathering(reader);
  PACELINE_TRY(for_each_record(text, source,
                               [&gathering](const util::Json& record) { gathering.take(record); }));
  return gathering.finish(source);
}

util::Result<Workload> load_workload(const std::string& name_or_path, const std::string& format) {
  const auto path = path_of(name_or_path);
  std::error_code unknown;
  if (const auto bytes = std::filesystem::file_size(path, unknown);
      !unknown && bytes > largest_file)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("{} has {} bytes, more than a workload may have ({}): split it",
                                  path.string(), bytes, largest_file));
  PACELINE_TRY_ASSIGN(const std::string text, util::read_file(path));
  return read_workload(text, path.filename().string(), format);
}

}  // namespace paceline::workload
