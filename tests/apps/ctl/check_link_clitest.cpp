// check link, and check text with links: with a name server of the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "tests/apps/ctl/ctl_run.h"
#include "tests/apps/ctl/line_by_line.h"
#include "tests/apps/ctl/offline_files.h"
#include "tests/apps/ctl/small_zone.h"
#include "tests/support/built_binary.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;

class CheckLink : public ::testing::Test {
 protected:
  CheckLink() { write_file(files_.config(), "schema: 1\n"); }

  CtlResult check(const std::string& kind, const std::vector<std::string>& tail,
                  const CtlOptions& options = {}) const {
    return run_ctl(files_.arguments({"check", kind}, zone_.arguments(tail)), options);
  }
  Json verdict(const std::string& kind, const std::string& subject) const {
    return Json::parse(check(kind, {"--json", subject}).out);
  }

  OfflineFiles files_;
  SmallZone zone_;
};

TEST_F(CheckLink, ExitsByTheDecision) {
  EXPECT_EQ(check("link", {"https://plain.example.com/"}).code, 0);
  EXPECT_EQ(check("link", {"https://gone.example.com/"}).code, 0);
  EXPECT_EQ(check("link", {"https://inner.example.com/"}).code, 10);
  EXPECT_EQ(check("link", {"http://127.0.0.1/"}).code, 10);
  EXPECT_EQ(check("link", {"javascript:alert(1)"}).code, 10);
  EXPECT_EQ(check("link", {"https://broken.example.com/"}).code, 11);
  EXPECT_EQ(check("link", {}).code, 2);
}

TEST_F(CheckLink, S14_NamesWhatDecided) {
  const Json inner = verdict("link", "https://inner.example.com/");
  EXPECT_EQ(inner["rules"], Json({"link.address.private"}));
  EXPECT_EQ(inner["reason"], "rule");
  EXPECT_EQ(inner["layer"], "computed");
  const Json broken = verdict("link", "https://broken.example.com/");
  EXPECT_EQ(broken["decision"], "indeterminate");
  EXPECT_EQ(broken["reason"], "dns_servfail");
  EXPECT_EQ(verdict("link", "https://gone.example.com/")["rules"], Json({"link.dns.no_such_name"}));
  EXPECT_EQ(verdict("link", "https://empty.example.com/")["rules"], Json({"link.dns.no_data"}));
}

TEST_F(CheckLink, S02_TheUrlIsShownOnlyWhenAsked) {
  const std::string url = "https://user:zebra@plain.example.com/";
  EXPECT_FALSE(check("link", {"--json", url}).shows("zebra"));
  EXPECT_FALSE(check("link", {url}).shows("example.com"));
  EXPECT_EQ(Json::parse(check("link", {"--json", "--show-text", url}).out)["text"], url);
  EXPECT_FALSE(check("link", {"--zebra", url}).shows("zebra@"));
}

TEST_F(CheckLink, WithoutDnsALinkIsIndeterminateUnlessItsUrlBlocks) {
  const auto no_dns = [&](const std::string& url) {
    return run_ctl(files_.arguments({"check", "link"}, {"--no-dns", "--json", url}));
  };
  const auto plain = no_dns("https://plain.example.com/");
  EXPECT_EQ(plain.code, 11);
  EXPECT_EQ(Json::parse(plain.out)["reason"], "dns_off");
  EXPECT_EQ(no_dns("http://10.0.0.1/").code, 10);
  write_file(files_.config(), "schema: 1\nlinks: {dns: off}\n");
  EXPECT_EQ(no_dns("https://plain.example.com/").code, 0);
  EXPECT_EQ(zone_.server().query_count(), 0U);
}

TEST_F(CheckLink, LinksOfATextJoinItsVerdict) {
  EXPECT_EQ(check("text", {"look at https://plain.example.com/ now"}).code, 0);
  const Json json = verdict("text", "https://plain.example.com/ https://inner.example.com/x");
  EXPECT_EQ(json["decision"], "block");
  ASSERT_EQ(json["links"].size(), 2U);
  EXPECT_EQ(json["links"][0]["decision"], "allow");
  EXPECT_EQ(json["links"][1]["decision"], "block");
  EXPECT_EQ(json["links"][1]["rules"], Json({"link.address.private"}));
  EXPECT_EQ(check("text", {"see https://broken.example.com/"}).code, 11);
  EXPECT_EQ(check("text", {"no link at all"}).code, 0);
}

TEST_F(CheckLink, UrlsInALinkAreJudgedAsInAText) {
  for (const auto& [inner, code] :
       std::map<std::string, int>{{"https%3A%2F%2Finner.example.com%2F", 10},
                                  {"https%3A%2F%2Fbroken.example.com%2F", 11},
                                  {"https%3A%2F%2Fplain.example.com%2Fa", 0},
                                  {"http%3A%2F%2F127.0.0.1%2F", 10}}) {
    const std::string url = "https://plain.example.com/url?q=" + inner;
    EXPECT_EQ(check("link", {url}).code, code) << inner;
    EXPECT_EQ(check("text", {url}).code, code) << inner;
    Json link = verdict("link", url);
    Json text = verdict("text", url);
    ASSERT_EQ(link["links"].size(), 1U);
    ASSERT_EQ(text["links"].size(), 2U);
    for (const char* field : {"decision", "reason", "rules", "categories", "monitor_rules"}) {
      EXPECT_EQ(link[field], text[field]) << inner << " " << field;
    }
    EXPECT_EQ(link["links"][0]["rules"], text["links"][1]["rules"]);
  }
}

TEST_F(CheckLink, HashesAreThoseOfThePepperFile) {
  write_file(files_.file("pepper"), "p1 " + std::string(64, 'a') + "\n");
  const std::string text = "https://plain.example.com/a#b";
  const auto hash = [&](const CtlOptions& options) {
    const auto result = check("text", {"--json", text}, options);
    return Json::parse(result.out)["links"][0]["url_hash"].get<std::string>();
  };
  const CtlOptions with_pepper{.env = {"MESSAGE_SAFETY_PEPPER_FILE=" + files_.file("pepper")}};
  EXPECT_EQ(hash(with_pepper), hash(with_pepper));
  EXPECT_EQ(hash(with_pepper).size(), 64U);
  EXPECT_NE(hash({}), hash({}));
}

TEST_F(CheckLink, JudgesAUrlALine) {
  const auto result = check("link", {"--lines", "-"},
                            {.input = "\"https://plain.example.com/\"\n"
                                      "\"http://127.0.0.1/\"\nbad\n\"\"\n"});
  std::vector<std::string> words;
  std::istringstream out(result.out);
  for (std::string line; std::getline(out, line);) {
    const Json json = Json::parse(line);
    words.push_back(json.contains("error") ? "error" : json["decision"].get<std::string>());
  }
  EXPECT_THAT(words, ElementsAre("allow", "block", "error", "block"));
  EXPECT_EQ(result.code, 1);
}

// Answers are held back until every name was asked for: one line after the other never gets there.
TEST_F(CheckLink, LinesThatAreThereAreResolvedTogether) {
  constexpr std::size_t kLines = 100;
  std::string input;
  for (std::size_t i = 0; i < kLines; ++i) {
    input += Json("https://h" + std::to_string(i) + ".example.com/").dump() + "\n";
  }
  zone_.server().hold();
  CtlRun run(files_.arguments({"check", "link"}, zone_.arguments({"--lines", "-"})),
             {.input = input});
  EXPECT_TRUE(await([&] {
    std::set<std::string> names;
    for (const DnsQuery& query : zone_.server().queries()) names.insert(query.name);
    return names.size() == kLines;
  }));
  zone_.server().release();
  const CtlResult result = run.finish();
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'),
            static_cast<std::ptrdiff_t>(kLines));
}

// More lines than are held at once, texts and what is no line among them: all in their places.
TEST_F(CheckLink, ManyLinesKeepTheirOrder) {
  const std::vector<std::string> subjects = {"https://plain.example.com/", "http://127.0.0.1/",
                                             "https://gone.example.com/"};
  const std::vector<std::string> decisions = {"allow", "block", "monitor"};
  for (const char* kind : {"link", "text"}) {
    std::string input;
    for (std::size_t i = 0; i < 400; ++i) {
      input += i % 4 == 3 ? "zebra\n" : Json(subjects[i % 4]).dump() + "\n";
    }
    const auto result = check(kind, {"--lines", "-"}, {.input = input});
    EXPECT_EQ(result.code, 1);
    std::istringstream out(result.out);
    std::size_t count = 0;
    for (std::string line; std::getline(out, line); ++count) {
      const Json json = Json::parse(line);
      if (count % 4 == 3) {
        EXPECT_EQ(json["error"].get<std::string>().find("line " + std::to_string(count + 1) +
                                                        " is not one JSON string"),
                  0U);
      } else {
        EXPECT_EQ(json["decision"], decisions[count % 4]) << kind << count;
      }
    }
    EXPECT_EQ(count, 400U);
  }
}

TEST_F(CheckLink, ALineIsAnsweredBeforeTheNextOneIsWaitedFor) {
  const auto arguments = files_.arguments({built_binary("safetyctl"), "check", "link"},
                                          zone_.arguments({"--lines", "--file"}));
  expect_answers_line_by_line(arguments, "\"https://plain.example.com/\"");
}

TEST_F(CheckLink, AWrongServerIsAUsageError) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--dns-server", "zebra"}, {"--no-dns"}}) {
    std::vector<std::string> tail = more;
    tail.emplace_back("https://plain.example.com/");
    const auto result = check("link", tail);
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_FALSE(result.shows("zebra"));
  }
}

}  // namespace
}  // namespace han::tests
