#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "safety/apps/ctl/link_explanation.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/apps/ctl/offline_files.h"
#include "tests/apps/ctl/small_zone.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class LinkExplanation : public ::testing::Test {
 protected:
  LinkExplanation() { write_file(files_.config(), "schema: 1\n"); }

  CtlResult explain(const std::vector<std::string>& tail) const {
    return run_ctl(files_.arguments({"explain", "link"}, zone_.arguments(tail)));
  }
  Json json(const std::string& url) const { return Json::parse(explain({"--json", url}).out); }

  OfflineFiles files_;
  SmallZone zone_;
};

TEST_F(LinkExplanation, SaysWhatTheHostResolvesTo) {
  const Json inner = json("https://inner.example.com/");
  EXPECT_EQ(inner["decision"], "block");
  EXPECT_EQ(inner["stable"]["decision"], "allow");
  EXPECT_EQ(inner["stable"]["needs_dns"], true);
  ASSERT_EQ(inner["dns"].size(), 2U);
  const Json& a = inner["dns"][0];
  EXPECT_EQ(a["type"], "A");
  EXPECT_EQ(a["outcome"], "addresses");
  EXPECT_EQ(a["ttl"], 60);
  ASSERT_EQ(a["addresses"].size(), 2U);
  EXPECT_EQ(a["addresses"][0], Json({{"address", "10.0.0.1"},
                                     {"class", "private"},
                                     {"global", false},
                                     {"embedded", nullptr}}));
  EXPECT_EQ(inner["dns"][1]["outcome"], "no_data");
  EXPECT_EQ(inner["dns"][1]["ttl"], 30);
  ASSERT_EQ(inner["explained"].size(), 1U);
  EXPECT_EQ(inner["explained"][0], Json({{"id", "link.address.private"},
                                         {"kind", "finding"},
                                         {"action", "block"},
                                         {"decision", "block"},
                                         {"why", "links.actions.address is block"}}));
}

TEST_F(LinkExplanation, S17_TheTimeOfAChainIsItsShortest) {
  const Json plain = json("https://plain.example.com/");
  EXPECT_EQ(plain["dns"][0]["ttl"], 20);
  EXPECT_EQ(plain["dns"][0]["chain_length"], 1);
  EXPECT_FALSE(plain["dns"][0].contains("chain"));
}

TEST_F(LinkExplanation, TellsTheUrlsInTheLink) {
  const std::string url = "https://plain.example.com/?q=https%3A%2F%2Finner.example.com%2Fa";
  const Json link = json(url);
  EXPECT_EQ(link["decision"], "block");
  EXPECT_EQ(link["stable"]["decision"], "allow");
  ASSERT_EQ(link["nested"].size(), 1U);
  EXPECT_EQ(link["nested"][0]["decision"], "block");
  EXPECT_EQ(link["nested"][0]["rules"], Json({"link.address.private"}));
  EXPECT_EQ(link["nested"][0]["url_hash"], link["links"][0]["url_hash"]);
  EXPECT_FALSE(link["nested"][0].contains("text"));
  EXPECT_EQ(json("https://plain.example.com/")["nested"], Json::array());
  EXPECT_FALSE(explain({url}).shows("example"));
  EXPECT_THAT(explain({"--show-text", url}).out, HasSubstr("https://inner.example.com/a"));
}

TEST_F(LinkExplanation, S04_SaysWhatAnAddressIs) {
  const Json address = json("http://0x7f.1/");
  EXPECT_EQ(address["address"]["class"], "loopback");
  EXPECT_EQ(address["address"]["address"], "127.0.0.1");
  EXPECT_EQ(address["dns"], Json::array());
  EXPECT_EQ(json("no url")["is_url"], false);
}

TEST_F(LinkExplanation, ShowsTheUrlAndNamesOnlyWhenAsked) {
  const std::string url = "https://user:pw@plain.example.com/a/b?c#d";
  for (const std::vector<std::string>& mode : {std::vector<std::string>{}, {"--json"}}) {
    std::vector<std::string> tail = mode;
    tail.push_back(url);
    EXPECT_FALSE(explain(tail).shows("example"));
  }
  const Json shown = Json::parse(explain({"--json", "--show-text", url}).out);
  EXPECT_EQ(shown["text"], url);
  EXPECT_EQ(shown["fetch_identity"], "https://user:pw@plain.example.com/a/b?c");
  EXPECT_EQ(shown["policy_key"], "https://plain.example.com/a/b?c");
  EXPECT_EQ(shown["resolved_name"], "plain.example.com");
  EXPECT_EQ(shown["expressions"][0], "plain.example.com/a/b?c");
  EXPECT_EQ(shown["dns"][0]["chain"], Json({"cdn.example.net"}));
}

TEST_F(LinkExplanation, OfATextSaysWhereEachLinkStands) {
  const auto explain_text = [&](const std::vector<std::string>& tail) {
    return run_ctl(files_.arguments({"explain", "text"}, zone_.arguments(tail)));
  };
  const std::string text = "see https://inner.example.com/ now";
  const Json json = Json::parse(explain_text({"--json", text}).out);
  EXPECT_EQ(json["has_links"], true);
  ASSERT_EQ(json["places"].size(), 1U);
  EXPECT_EQ(json["places"][0]["start"], 4);
  EXPECT_EQ(json["places"][0]["end"], 30);
  EXPECT_EQ(json["places"][0]["rules"], Json({"link.address.private"}));
  EXPECT_EQ(json["explained"][0]["kind"], "finding");
  const auto table = explain_text({text});
  EXPECT_THAT(table.out, HasSubstr("link at"));
  EXPECT_FALSE(table.shows("example"));
}

TEST_F(LinkExplanation, PrintsTablesForPeople) {
  const auto result = explain({"--show-text", "https://inner.example.com/"});
  EXPECT_EQ(result.code, 10);
  EXPECT_THAT(result.out, HasSubstr("without DNS"));
  EXPECT_THAT(result.out, HasSubstr("10.0.0.1"));
  EXPECT_THAT(result.out, HasSubstr("private"));
  EXPECT_THAT(result.out, HasSubstr("finding    link.address.private\n"));
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace han::tests
