// Google's Safe Browsing vectors: each gives what is listed, or what the table of differences says
// and why; and the keys of raw bytes and of parsed URLs agree on each that WHATWG accepts.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "safety/base/hex.h"
#include "safety/link/loose_ipv4.h"
#include "safety/link/policy_key.h"
#include "safety/link/url.h"
#include "tests/conformance/data_of_others.h"

namespace han::tests {
namespace {

using nlohmann::json;
using safety::policy_key;
using safety::PolicyKey;
using safety::Url;

constexpr const char* kQuery = "the documentation keeps the query, the Go client drops it";
constexpr const char* kHosts = "the documentation has at most five host forms";
constexpr const char* kHex = "the documentation asks for upper-case digits in escapes";
constexpr const char* kIpv6 = "one address has one spelling: WHATWG's";

struct Difference {
  std::string_view group;
  std::string_view input;
  std::string_view ours;
  const char* reason;
};

constexpr Difference kDifferences[] = {
    {"TestGeneratePatterns", "http://a.b.c.d.e.f.g.h.i/",
     "a.b.c.d.e.f.g.h.i/ e.f.g.h.i/ f.g.h.i/ g.h.i/ h.i/", kHosts},
    {"TestGeneratePatterns", "https://a.b.c.d.e.f.g.h.i/",
     "a.b.c.d.e.f.g.h.i/ e.f.g.h.i/ f.g.h.i/ g.h.i/ h.i/", kHosts},
    {"TestGeneratePatterns", "a.b.c.d.e.f.g.h.i/",
     "a.b.c.d.e.f.g.h.i/ e.f.g.h.i/ f.g.h.i/ g.h.i/ h.i/", kHosts},
    {"TestGenerateLookupHosts", "http://a.b.c.d.e.f.kita.tokyo.jp",
     "a.b.c.d.e.f.kita.tokyo.jp e.f.kita.tokyo.jp f.kita.tokyo.jp kita.tokyo.jp tokyo.jp", kHosts},
    {"TestGenerateLookupHosts", "http://[::192.9.5.5]/ipng", "[::c009:505]", kIpv6},
    {"TestCanonicalHost", "http://[::192.9.5.5]/ipng", "[::c009:505]", kIpv6},
    {"TestCanonicalURL", "http://www.google.com/q?", "http://www.google.com/q?", kQuery},
    {"TestCanonicalURL", "http://www.google.com/q?r?", "http://www.google.com/q?r?", kQuery},
    {"TestCanonicalURL", "http://www.google.com/q?r?s", "http://www.google.com/q?r?s", kQuery},
    {"TestCanonicalURL", "http://www.google.com/q?r?s%3F", "http://www.google.com/q?r?s?", kQuery},
    {"TestCanonicalURL", "http://evil.com/foo?bar;", "http://evil.com/foo?bar;", kQuery},
    {"TestCanonicalURL", "http://some%1bhost.com/%1b", "http://some%1Bhost.com/%1B", kHex},
};

// A browser opens these hosts, so the key is that of the parsed URL; raw takes none without "//"
// and a host behind it, as the vectors ask.
const std::set<std::string> kNoHostToRaw = {
    "http:///blah#ref",         "http:///blah?query#ref",
    "http:///blah;param",       "http:///blah;param?query#ref",
    "mailto:bryner@google.com",
};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::vector<std::string> expressions(const PolicyKey& key) {
  std::vector<std::string> out;
  for (const std::string_view one : key.expressions()) out.emplace_back(one);
  return out;
}

// The host of each expression, or its path, once each, in order.
std::vector<std::string> parts(const PolicyKey& key, bool is_host) {
  std::vector<std::string> out;
  for (const std::string& one : expressions(key)) {
    const std::string part = is_host ? one.substr(0, one.find('/')) : one.substr(one.find('/'));
    if (std::find(out.begin(), out.end(), part) == out.end()) out.push_back(part);
  }
  return out;
}

std::string ours(const std::string& group, const std::string& input) {
  if (group == "TestParseIPAddress") return safety::loose_ipv4(input).value_or("");
  const auto key = policy_key(input);
  if (!key) return "none";
  if (group == "TestGeneratePatterns") return joined(expressions(*key));
  if (group == "TestCanonicalHost") return std::string(key->host());
  if (group == "TestGenerateLookupHosts") return joined(parts(*key, true));
  if (group == "TestCanonicalPath") return std::string(key->path());
  if (group == "TestGenerateLookupPaths") {
    std::vector<std::string> paths = parts(*key, false);
    std::reverse(paths.begin(), paths.end());
    return joined(paths);
  }
  return key->canonical();
}

std::string input_of(const json& row) {
  const json& input = row.at("input");
  if (input.is_string()) return input.get<std::string>();
  const auto bytes = safety::from_hex(input.at("hex").get<std::string>());
  return {bytes->begin(), bytes->end()};
}

std::string listed(const json& row) {
  const json& output = row.at("output");
  if (row.at("fail").get<bool>()) return "none";
  if (output.is_array()) return joined(output.get<std::vector<std::string>>());
  return output.get<std::string>();
}

const Difference* difference(const std::string& group, const std::string& input) {
  for (const Difference& one : kDifferences) {
    if (one.group == group && one.input == input) return &one;
  }
  return nullptr;
}

TEST(PolicyKeyConformance, SafeBrowsingVectors) {
  const json data = json::parse(data_file("safebrowsing/urls_test_vectors.json"));
  int count = 0;
  std::set<const Difference*> used;
  for (const auto& [group, rows] : data.items()) {
    for (const json& row : rows) {
      ++count;
      const std::string input = input_of(row);
      const Difference* other = difference(group, input);
      if (other == nullptr) {
        EXPECT_EQ(ours(group, input), listed(row)) << group << " " << input;
        continue;
      }
      used.insert(other);
      EXPECT_EQ(ours(group, input), other->ours) << group << " " << input;
      EXPECT_NE(ours(group, input), listed(row)) << "no difference: " << group << " " << input;
    }
  }
  EXPECT_EQ(used.size(), std::size(kDifferences));
  EXPECT_EQ(count, 106);
  std::cout << count << " vectors, " << std::size(kDifferences) << " by documented choice:\n";
  std::map<std::string, int> reasons;
  for (const Difference& one : kDifferences) ++reasons[one.reason];
  for (const auto& [reason, times] : reasons) std::cout << "  " << times << ": " << reason << "\n";
}

TEST(PolicyKeyConformance, RawAndParsedKeysAgree) {
  const json data = json::parse(data_file("safebrowsing/urls_test_vectors.json"));
  int count = 0;
  std::set<std::string> without_raw;
  for (const auto& [group, rows] : data.items()) {
    if (group == "TestParseIPAddress") continue;
    for (const json& row : rows) {
      const std::string input = input_of(row);
      const auto parsed = Url::parse(input);
      const Url* url = std::get_if<Url>(&parsed);
      if (url == nullptr) continue;
      const auto raw = policy_key(input);
      if (!raw) {
        without_raw.insert(input);
        continue;
      }
      ++count;
      EXPECT_EQ(raw->canonical(), policy_key(*url).canonical()) << input;
      EXPECT_EQ(expressions(*raw), expressions(policy_key(*url))) << input;
    }
  }
  EXPECT_EQ(without_raw, kNoHostToRaw);
  EXPECT_GT(count, 60);
  std::cout << count << " vectors that WHATWG accepts have one key both ways, "
            << without_raw.size() << " have none from raw bytes\n";
}

// Real URLs: what the parser takes has the same key from its raw bytes, but for bytes that are no
// UTF-8.
TEST(PolicyKeyConformance, RawAndParsedKeysAgreeOnRealUrls) {
  const std::string text = data_file("bench/userbait-a.txt");
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const auto parsed = Url::parse(line);
    const Url* url = std::get_if<Url>(&parsed);
    if (url == nullptr || url->host().empty()) continue;
    const auto raw = policy_key(line);
    ASSERT_TRUE(raw.has_value()) << line;
    EXPECT_EQ(raw->canonical(), policy_key(*url).canonical()) << line;
    const auto again = policy_key(raw->canonical());
    EXPECT_EQ(again->canonical(), raw->canonical()) << line;
    ++count;
  }
  EXPECT_GT(count, 1000U);
  std::cout << count << " real URLs have one key both ways\n";
}

}  // namespace
}  // namespace han::tests
