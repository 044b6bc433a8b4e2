#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "workload/prompts.hpp"

// What DEFINITIONS 10 asks of the built-in prompts: independent units, so that counting them is
// honest.

namespace paceline::workload {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t shared_window = 12;    ///< words that two prompts must not have in common
constexpr std::size_t template_window = 10;  ///< the same with numbers and names taken out
constexpr std::size_t opening = 6;

/// Runs of letters and digits, as they stand.
Words words_of(const std::string& text) {
  Words words;
  bool inside = false;
  for (const char letter : text) {
    const bool belongs = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    if (belongs && !inside) words.emplace_back();
    if (belongs) words.back().push_back(letter);
    inside = belongs;
  }
  return words;
}

Words lower_case(Words words) {
  for (auto& word : words)
    for (auto& letter : word)
      letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return words;
}

/// The words with numbers as "0" and capitalised words as "X", each once in a row: what is left of
/// a template when it is filled in.
Words skeleton_of(const Words& words) {
  Words skeleton;
  for (const auto& word : words) {
    const auto is_digit = [](unsigned char letter) { return std::isdigit(letter) != 0; };
    std::string slot = word;
    if (std::any_of(word.begin(), word.end(), is_digit))
      slot = "0";
    else if (std::isupper(static_cast<unsigned char>(word[0])) != 0)
      slot = "X";
    const bool again = slot != word && !skeleton.empty() && skeleton.back() == slot;
    if (!again) skeleton.push_back(std::move(slot));
  }
  return skeleton;
}

/// A run of names and numbers alone is no template.
bool says_something(const Words& window) {
  const auto slots =
      std::count(window.begin(), window.end(), "X") + std::count(window.begin(), window.end(), "0");
  return 2 * slots <= static_cast<std::ptrdiff_t>(window.size());
}

std::vector<Words> texts_of(const Prompt& prompt) {
  std::vector<Words> texts = {words_of(prompt.text)};
  for (const auto& message : prompt.messages) texts.push_back(words_of(message.content));
  return texts;
}

/// "A and B: WORDS" for the first window of words that two prompts have in common, by `form`.
template <class Form>
std::string first_shared(const std::vector<Prompt>& prompts, std::size_t length, Form form) {
  std::map<Words, std::string> owners;
  for (const auto& prompt : prompts)
    for (const auto& text : texts_of(prompt)) {
      const Words words = form(text);
      for (std::size_t i = 0; i + length <= words.size(); ++i) {
        const auto begin = words.begin() + static_cast<std::ptrdiff_t>(i);
        const Words window(begin, begin + static_cast<std::ptrdiff_t>(length));
        if (!says_something(window)) continue;
        const auto& owner = owners.try_emplace(window, prompt.id).first->second;
        if (owner != prompt.id)
          return fmt::format("{} and {}: {}", owner, prompt.id, fmt::join(window, " "));
      }
    }
  return "";
}

class PacelineWorkload : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto read = load_workload("paceline");
    ASSERT_TRUE(read) << read.error().message;
    prompts = read->prompts;
  }

  std::vector<Prompt> prompts;
};

TEST_F(PacelineWorkload, has_six_classes_of_at_least_sixteen_families) {
  std::map<std::string, std::set<std::string>> families;
  for (const auto& prompt : prompts) families[prompt.workload_class].insert(prompt.family);
  Words names;
  for (const auto& [name, members] : families) {
    names.push_back(name);
    EXPECT_GE(members.size(), 16u) << name;
  }
  EXPECT_EQ(names, (Words{"chat", "code", "json", "planning", "prose", "tool-calls"}));
}

TEST_F(PacelineWorkload, has_both_forms_and_the_terms_of_every_prompt) {
  for (const auto& prompt : prompts) {
    EXPECT_FALSE(prompt.text.empty()) << prompt.id;
    EXPECT_FALSE(prompt.messages.empty()) << prompt.id;
    EXPECT_FALSE(prompt.licence.empty()) << prompt.id;
    EXPECT_FALSE(prompt.note.empty()) << prompt.id;
  }
}

TEST_F(PacelineWorkload, has_no_twelve_words_in_two_prompts) {
  EXPECT_EQ(first_shared(prompts, shared_window, lower_case), "");
}

TEST_F(PacelineWorkload, has_no_template_in_two_prompts) {
  EXPECT_EQ(first_shared(prompts, template_window, skeleton_of), "");
}

TEST_F(PacelineWorkload, has_no_two_prompts_that_open_alike) {
  std::map<Words, std::string> openings;
  for (const auto& prompt : prompts) {
    const std::vector<Words> forms = {words_of(prompt.text),
                                      words_of(prompt.messages.back().content)};
    for (const auto& form : forms) {
      auto words = lower_case(form);
      words.resize(std::min(words.size(), opening));
      const auto& owner = openings.try_emplace(words, prompt.id).first->second;
      EXPECT_EQ(owner, prompt.id) << "they open alike";
    }
  }
}

TEST(PromptChecks, find_a_template_that_was_filled_in_twice) {
  const auto first = user_prompt("a", "c",
                                 "Write to Ada that the 3 parcels sent to Rome on Monday "
                                 "have been held at the border for lack of papers");
  const auto second = user_prompt("b", "c",
                                  "Write to Karl that the 17 parcels sent to Oslo on Friday "
                                  "have been held at the border for lack of papers");
  EXPECT_NE(first_shared({first, second}, template_window, skeleton_of), "");
  EXPECT_NE(first_shared({first, second}, 10, lower_case), "") << "ten words at the end";
  EXPECT_EQ(first_shared({first, second}, shared_window, lower_case), "");
}

}  // namespace
}  // namespace paceline::workload
