#include "study/fingerprint.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>

#include "model/sha256.hpp"
#include "util/sha256.hpp"

namespace paceline::study {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t head_bytes = 1 << 20;
constexpr std::uintmax_t sample_bytes = 1 << 16;
constexpr std::uintmax_t samples = 16;
constexpr std::size_t shown_digits = 16;

std::string short_digits(util::Sha256& sha256) {
  return sha256.digits().value_or("unknown").substr(0, shown_digits);
}

void add_piece(std::ifstream& file, std::uintmax_t from, std::uintmax_t bytes,
               util::Sha256& sha256) {
  std::string piece(bytes, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(from));
  file.read(piece.data(), static_cast<std::streamsize>(bytes));
  sha256.add(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
}

/// Its bytes alone: a program built or installed again is the same one.
std::string describe_program(const fs::path& path) {
  const auto digits = model::sha256_of(path);
  return digits ? "SHA-256 " + digits->substr(0, shown_digits) : digits.error().message;
}

/// Nothing where the system has no such file.
std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string describe_prompts(const RunOptions& options) {
  util::Sha256 sha256;
  const auto add = [&sha256](const std::string& text) {
    sha256.add(text);
    sha256.add(std::string_view("\0", 1));
  };
  for (const auto* prompts :
       {&options.prompts.warm_up, &options.prompts.measured, &options.prompts.held_out})
    for (const auto& prompt : *prompts) {
      for (const auto* text : {&prompt.id, &prompt.workload_class, &prompt.family, &prompt.text})
        add(*text);
      for (const auto& message : prompt.messages) {
        add(message.role);
        add(message.content);
        for (const auto& image : message.images) add(image);
      }
    }
  add(options.fill_text);
  return fmt::format("{} prompts, SHA-256 {}", options.prompts.measured.size(),
                     short_digits(sha256));
}

std::string describe_machine(const trace::MachineFacts& machine) {
  util::Sha256 id;
  id.add(first_line("/etc/machine-id"));
  return fmt::format("{}, {} logical processors, {} bytes of memory, id {}",
                     machine.processor.value_or("unknown processor"),
                     machine.cores_online.value_or(0), machine.memory_bytes.value_or(0),
                     short_digits(id));
}

}  // namespace

std::string describe_file(const fs::path& path) {
  struct stat status {};
  std::ifstream file(path, std::ios::binary);
  if (!file || ::stat(path.c_str(), &status) != 0) return "not there, or not readable";
  const auto size = static_cast<std::uintmax_t>(status.st_size);
  util::Sha256 sha256;
  add_piece(file, 0, std::min(size, head_bytes), sha256);
  for (std::uintmax_t i = 1; i <= samples && size > head_bytes; ++i)
    add_piece(file, (size - std::min(size, sample_bytes)) / samples * i, sample_bytes, sha256);
  return fmt::format("{} bytes, changed at {}.{:09}, samples {}", size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, short_digits(sha256));
}

Fingerprint fingerprint_of(const RunOptions& options, const trace::MachineFacts& machine,
                           const std::vector<fs::path>& programs,
                           const std::vector<std::string>& inputs) {
  Fingerprint found;
  for (const auto& program : programs)
    found["program " + program.filename().string()] = describe_program(program);
  std::set<std::string> files(inputs.begin(), inputs.end());
  for (const auto& arm : options.arms)
    files.insert({arm.setup.model_path, arm.setup.draft_path.value_or(""),
                  arm.setup.mmproj_path.value_or(""), arm.setup.server_bin});
  std::error_code absent;
  if (fs::is_regular_file(options.workload, absent)) files.insert(options.workload);
  files.erase("");
  for (const auto& file : files) found["file " + file] = describe_file(file);
  found["prompts"] = describe_prompts(options);
  found["machine"] = describe_machine(machine);
  found["kernel"] = machine.kernel.value_or("unknown");
  if (const auto driver = first_line("/proc/driver/nvidia/version"); !driver.empty())
    found["graphics driver"] = driver;
  return found;
}

std::vector<std::string> changes(const Fingerprint& before, const Fingerprint& now) {
  std::set<std::string> things;
  for (const auto& [thing, value] : before) things.insert(thing);
  for (const auto& [thing, value] : now) things.insert(thing);
  const auto value_in = [](const Fingerprint& fingerprint, const std::string& thing) {
    const auto found = fingerprint.find(thing);
    return found == fingerprint.end() ? std::string("no part of it") : found->second;
  };
  std::vector<std::string> sentences;
  for (const auto& thing : things)
    if (value_in(before, thing) != value_in(now, thing))
      sentences.push_back(
          fmt::format("{} was {} and is {}", thing, value_in(before, thing), value_in(now, thing)));
  return sentences;
}

}  // namespace paceline::study
