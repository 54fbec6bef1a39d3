// Open redirects against lists: the host that a payload leads to is blocked; whatever a text that
// holds the URL is judged, the link by itself gets no better verdict. The payloads come without
// expectations, so the forms around them are ours.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/apps/ctl/offline_files.h"
#include "tests/conformance/data_of_others.h"
#include "tests/conformance/json_answers.h"

namespace han::tests {
namespace {

using nlohmann::json;

std::string percent_encoded(const std::string& text) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 0xF]};
    }
  }
  return out;
}

// Each payload as a parameter, bare and encoded once and twice, and as a path.
std::vector<std::string> urls() {
  std::vector<std::string> all;
  std::istringstream file(data_file("ssrf/Open-Redirect-payloads.txt"));
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const std::string encoded = percent_encoded(line);
    all.push_back("https://trusted.example.com/?next=" + line);
    all.push_back("https://trusted.example.com/?a=b&next=" + encoded + "&c=d");
    all.push_back("https://trusted.example.com/#/?next=" + percent_encoded(encoded));
    all.push_back("https://trusted.example.com/" + line);
  }
  return all;
}

std::vector<json> verdicts(const OfflineFiles& files, const char* kind, const std::string& input) {
  return json_answers(files.arguments({"check", kind}, {"--lines", "-"}), input);
}

bool holds_all(const json& rules, const json& of) {
  const std::set<std::string> known = rules;
  return std::all_of(of.begin(), of.end(),
                     [&known](const json& rule) { return known.contains(rule); });
}

// What a text has and a link has not: an end at '<', and disguises (a backslash that Markdown takes
// off), which are for readers.
bool is_read_alike(const std::string& url) {
  return url.find('<') == std::string::npos && url.find('>') == std::string::npos &&
         url.find("\\@") == std::string::npos && url.find("\\:") == std::string::npos;
}

TEST(OpenRedirects, ALinkByItselfGetsNoBetterVerdictThanInAText) {
  const OfflineFiles files;
  write_file(files.rules(), R"(schema: 1
rules:
- {id: led.there, kind: url-host, pattern: google.com, severity: 70, action: block, mode: enforce}
)");
  const std::vector<std::string> all = urls();
  ASSERT_EQ(all.size(), 4 * 240U);
  std::string input;
  for (const std::string& url : all) input += json(url).dump() + "\n";
  const auto links = verdicts(files, "link", input);
  const auto texts = verdicts(files, "text", input);
  ASSERT_EQ(links.size(), all.size());
  ASSERT_EQ(texts.size(), all.size());
  std::size_t led = 0;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(all[i]);
    if (is_read_alike(all[i])) {
      ++compared;
      EXPECT_TRUE(holds_all(links[i]["rules"], texts[i]["rules"])) << links[i] << texts[i];
      EXPECT_TRUE(texts[i]["decision"] != "block" || links[i]["decision"] == "block");
    }
    if (holds_all(links[i]["rules"], json{"led.there"})) ++led;
  }
  std::cout << all.size() << " URLs, " << compared << " read alike in texts, " << led
            << " lead to the listed host\n";
  EXPECT_GT(compared, 9 * all.size() / 10);
  EXPECT_GT(led, all.size() / 4);
}

}  // namespace
}  // namespace han::tests
