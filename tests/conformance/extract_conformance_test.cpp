// Extraction against the fixtures of linkify-it: links.txt and not_links.txt, every case. The first
// plain reading is the expected one; other readings are ours to add. Where we differ on purpose is
// listed line by line, with the reason, in extract_differences.txt, and nothing else may be there.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "safety/link/extract.h"
#include "tests/conformance/data_of_others.h"

namespace han::tests {
namespace {

constexpr const char* kNoLink = "(none)";

struct FixtureCase {
  std::size_t line;  // from 1
  std::string text;
  std::string expected;
};

// A line that starts with '%' is a comment, and counts as an empty one.
std::vector<std::string> fixture_lines(const std::string& name) {
  std::istringstream file(data_file("url-extraction/" + name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line.starts_with('%') ? "" : line);
  }
  lines.emplace_back();
  return lines;
}

// A text, and in the next line the link in it; when that is empty, the text is the link.
std::vector<FixtureCase> link_cases() {
  const auto lines = fixture_lines("links.txt");
  std::vector<FixtureCase> cases;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const bool is_pair = !lines[i + 1].empty();
    cases.push_back({i + 1, lines[i], is_pair ? lines[i + 1] : lines[i]});
    if (is_pair) ++i;
  }
  return cases;
}

std::vector<FixtureCase> no_link_cases() {
  const auto lines = fixture_lines("not_links.txt");
  std::vector<FixtureCase> cases;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].empty()) cases.push_back({i + 1, lines[i], kNoLink});
  }
  return cases;
}

std::string first_plain(const std::string& text) {
  for (const auto& link : safety::extract_links(text).links) {
    if (link.reading == safety::Reading::kPlain) {
      return text.substr(link.start, link.end - link.start);
    }
  }
  return kNoLink;
}

// Line number to reason, of one fixture.
std::map<std::size_t, std::string> listed_differences(const std::string& fixture) {
  std::ifstream file(SAFETY_DIFFERENCES);
  EXPECT_TRUE(file.is_open());
  std::map<std::size_t, std::string> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name;
    std::size_t number = 0;
    std::string reason;
    if (line.starts_with('#') || !(fields >> name) || name != fixture) continue;
    fields >> number;
    std::getline(fields, reason);
    EXPECT_GT(reason.size(), 10U) << line;
    EXPECT_TRUE(all.emplace(number, reason).second) << line;
  }
  return all;
}

void compare(const std::string& fixture, const std::vector<FixtureCase>& cases) {
  auto differences = listed_differences(fixture);
  const std::size_t listed = differences.size();
  for (const FixtureCase& one : cases) {
    const std::string found = first_plain(one.text);
    if (found == one.expected) continue;
    EXPECT_EQ(differences.erase(one.line), 1U)
        << fixture << " line " << one.line << ": " << one.text << "\n  found " << found;
  }
  for (const auto& [line, reason] : differences) {
    ADD_FAILURE() << fixture << " line " << line << " is listed as a difference and is none";
  }
  std::cout << fixture << ": " << cases.size() << " cases, " << listed
            << " differences, all listed\n";
}

TEST(ExtractConformance, Links) {
  const auto cases = link_cases();
  ASSERT_EQ(cases.size(), 117U);
  compare("links.txt", cases);
}

TEST(ExtractConformance, NotLinks) {
  const auto cases = no_link_cases();
  ASSERT_EQ(cases.size(), 38U);
  compare("not_links.txt", cases);
}

}  // namespace
}  // namespace han::tests
