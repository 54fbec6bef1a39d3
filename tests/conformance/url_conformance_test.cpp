// URLs against the data of others: every case of the web platform tests (urltestdata.json,
// toascii.json, percent-encoding.json), Punycode, and payloads of open redirects.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <variant>

#include "safety/link/idna.h"
#include "safety/link/url.h"
#include "tests/conformance/data_of_others.h"

namespace han::tests {
namespace {

using nlohmann::json;
using safety::Url;

std::string with_mark(std::string_view text, char mark) {
  return text.empty() ? std::string() : mark + std::string(text);
}

std::string port_text(const Url& url) {
  return url.port() ? std::to_string(*url.port()) : std::string();
}

void expect_parts(const json& test, const Url& url) {
  EXPECT_EQ(url.href(), test["href"].get<std::string>());
  EXPECT_EQ(std::string(url.scheme()) + ":", test["protocol"].get<std::string>());
  EXPECT_EQ(url.username(), test["username"].get<std::string>());
  EXPECT_EQ(url.password(), test["password"].get<std::string>());
  EXPECT_EQ(url.host(), test["hostname"].get<std::string>());
  EXPECT_EQ(std::string(url.host()) + with_mark(port_text(url), ':'),
            test["host"].get<std::string>());
  EXPECT_EQ(port_text(url), test["port"].get<std::string>());
  EXPECT_EQ(url.path(), test["pathname"].get<std::string>());
  EXPECT_EQ(with_mark(url.query(), '?'), test["search"].get<std::string>());
  EXPECT_EQ(with_mark(url.fragment(), '#'), test["hash"].get<std::string>());
}

void expect_case(const json& test) {
  SCOPED_TRACE(test.dump());
  std::variant<Url, safety::UrlError> base = safety::UrlError::kNoScheme;
  const Url* base_url = nullptr;
  if (!test["base"].is_null()) {
    base = Url::parse(test["base"].get<std::string>());
    base_url = std::get_if<Url>(&base);
    const bool is_failure_of_base = test.contains("failure");
    ASSERT_TRUE(base_url != nullptr || is_failure_of_base);
    if (base_url == nullptr) return;
  }
  const auto parsed = Url::parse(test["input"].get<std::string>(), base_url);
  if (test.contains("failure")) {
    EXPECT_TRUE(std::holds_alternative<safety::UrlError>(parsed));
    return;
  }
  ASSERT_TRUE(std::holds_alternative<Url>(parsed)) << to_string(std::get<safety::UrlError>(parsed));
  const Url& url = std::get<Url>(parsed);
  expect_parts(test, url);
  const auto again = Url::parse(url.href());
  ASSERT_TRUE(std::holds_alternative<Url>(again));
  EXPECT_EQ(std::get<Url>(again).href(), url.href());
}

TEST(WptUrl, EveryCaseOfUrltestdata) {
  std::size_t count = 0;
  for (const json& test : json::parse(data_file("wpt-url/urltestdata.json"))) {
    if (!test.is_object()) continue;
    expect_case(test);
    ++count;
  }
  EXPECT_EQ(count, 891U);
}

TEST(WptUrl, EveryCaseOfToascii) {
  std::size_t count = 0;
  for (const json& test : json::parse(data_file("wpt-url/toascii.json"))) {
    if (!test.is_object()) continue;
    SCOPED_TRACE(test.dump());
    const auto parsed = Url::parse("https://" + test["input"].get<std::string>() + "/x");
    const Url* url = std::get_if<Url>(&parsed);
    if (test["output"].is_null()) {
      EXPECT_EQ(url, nullptr) << url->host();
    } else if (url == nullptr) {
      ADD_FAILURE() << to_string(std::get<safety::UrlError>(parsed));
    } else {
      EXPECT_EQ(url->host(), test["output"].get<std::string>());
    }
    ++count;
  }
  EXPECT_EQ(count, 87U);
}

// UTF-8 is the only encoding of a message.
TEST(WptUrl, EveryCaseOfPercentEncoding) {
  std::size_t count = 0;
  for (const json& test : json::parse(data_file("wpt-url/percent-encoding.json"))) {
    if (!test.is_object()) continue;
    SCOPED_TRACE(test.dump());
    const std::string input = test["input"];
    const auto parsed = Url::parse("https://doesnotmatter.invalid/?" + input + "#" + input);
    ASSERT_TRUE(std::holds_alternative<Url>(parsed));
    EXPECT_EQ(std::get<Url>(parsed).query(), test["output"]["utf-8"].get<std::string>());
    EXPECT_EQ(std::get<Url>(parsed).fragment(), test["output"]["utf-8"].get<std::string>());
    ++count;
  }
  EXPECT_EQ(count, 7U);
}

// The host that a browser would open, or the error's word in brackets.
std::string host_of(const std::string& text, const Url* base = nullptr) {
  const auto parsed = Url::parse(text, base);
  const auto* error = std::get_if<safety::UrlError>(&parsed);
  if (error != nullptr) return "(" + std::string(to_string(*error)) + ")";
  return std::string(std::get<Url>(parsed).host());
}

// A label is mapped to lower case before it is encoded.
TEST(PunycodeOfOthers, EveryLabelIsEncodedAsListed) {
  std::size_t encoded = 0;
  for (const json& test : json::parse(data_file("idna-rust/punycode_tests.json"))) {
    const std::string label = test["decoded"];
    std::string expected = "xn--" + test["encoded"].get<std::string>();
    for (char& byte : expected) byte = static_cast<char>(std::tolower(byte));
    if (label.find(' ') != std::string::npos) {
      EXPECT_EQ(host_of("http://" + label + ".example/"), "(host_code)");
    } else if (std::any_of(label.begin(), label.end(), [](char byte) { return byte < 0; })) {
      EXPECT_EQ(host_of("http://" + label + ".example/"), expected + ".example");
      EXPECT_EQ(host_of("http://" + expected + ".example/"), expected + ".example");
      ++encoded;
    }
  }
  EXPECT_EQ(encoded, 21U);
}

TEST(PunycodeOfOthers, ALabelOfHostileLengthIsRefused) {
  for (const json& test : json::parse(data_file("idna-rust/bad_punycode_tests.json"))) {
    const std::string label = test["decoded"];
    ASSERT_GT(label.size(), safety::kIdnaBytesMax);
    EXPECT_EQ(host_of("http://" + label + ".example/"), "(host_length)");
  }
}

// Which hosts the payloads lead to; counted by another implementation of the standard.
TEST(OpenRedirects, LeadWhereTheStandardSays) {
  const auto base = Url::parse("https://www.whitelisteddomain.tld/");
  std::map<std::string, int> hosts;
  std::istringstream lines(data_file("ssrf/Open-Redirect-payloads.txt"));
  for (std::string line; std::getline(lines, line);) {
    ++hosts[host_of(line, &std::get<Url>(base))];
  }
  const std::map<std::string, int> expected = {{"(host_code)", 39},
                                               {"(ipv4)", 6},
                                               {"(port)", 2},
                                               {"", 2},
                                               {"216.58.214.206", 54},
                                               {"[::d83a:d6ce]", 6},
                                               {"[::ffff:d83a:d6ce]", 6},
                                               {"google.com&www.whitelisteddomain.tld", 1},
                                               {"google.com", 42},
                                               {"https", 6},
                                               {"www.google.com", 28},
                                               {"www.whitelisteddomain.tld", 47},
                                               {"www.whitelisteddomain.tld.google.com", 1}};
  EXPECT_EQ(hosts, expected);
}

}  // namespace
}  // namespace han::tests
