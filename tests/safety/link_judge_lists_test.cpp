// What lists do to the verdict of a link.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/safety/link_judge_fixture.h"

namespace han::tests {
namespace {

using safety::Decision;
using safety::DnsFacts;
using safety::FindingAction;
using safety::LinkEvidence;
using safety::LinkFinding;
using safety::Verdict;
using ::testing::Contains;
using ::testing::ElementsAre;

using LinkJudgeLists = LinkJudgeFixture;

TEST_F(LinkJudgeLists, S01_ABackslashEndsTheHost) {
  EXPECT_THAT(stable("https://evil.example\\@good.example/x").hits, Contains("bad.hosts"));
}

TEST_F(LinkJudgeLists, S02_UserinfoIsAFindingAndNeverTheHost) {
  const LinkEvidence evidence = stable("https://good.example:password@evil.example/");
  EXPECT_EQ(evidence.decision, Decision::kBlock);
  EXPECT_THAT(evidence.hits, ElementsAre("bad.hosts", "link.userinfo"));
  EXPECT_EQ(stable("https://user@plain.example/").decision, Decision::kMonitor);
}

TEST_F(LinkJudgeLists, S08_AConfusableHostBlocksUnlessAListAllowsIt) {
  EXPECT_THAT(stable("http://xn--80ak6aa92e.test/").hits, Contains("link.confusable"));
  EXPECT_EQ(stable("http://xn--80ak6aa92e.test/").decision, Decision::kBlock);
  const LinkEvidence known = stable("http://www.xn--80ak6aa92e.com/");
  EXPECT_EQ(known.decision, Decision::kAllow);
  EXPECT_THAT(known.hits, ElementsAre("good.suffixes"));
}

TEST_F(LinkJudgeLists, ListsOfEachKindHit) {
  EXPECT_THAT(stable("https://evil.example/any?x").hits, ElementsAre("bad.hosts"));
  EXPECT_EQ(stable("https://sub.evil.example/").decision, Decision::kAllow);
  EXPECT_THAT(stable("https://sub.evil.test/").hits, Contains("bad.suffixes"));
  EXPECT_THAT(stable("https://mixed.example/bad/x").hits, ElementsAre("bad.paths"));
  EXPECT_EQ(stable("https://mixed.example/good").decision, Decision::kAllow);
  EXPECT_THAT(stable("http://8.8.8.8/").hits, ElementsAre("bad.networks"));
  EXPECT_THAT(stable("https://a.ruled.example/").hits, ElementsAre("host.rule"));
  EXPECT_THAT(stable("https://a.ruled.example/").categories, ElementsAre("scam"));
  EXPECT_EQ(stable("https://watched.example/").decision, Decision::kMonitor);
  const LinkEvidence shadowed = stable("https://shadowed.example/");
  EXPECT_EQ(shadowed.decision, Decision::kAllow);
  EXPECT_THAT(shadowed.monitor, ElementsAre("shadowed"));
}

TEST_F(LinkJudgeLists, NetworksAreAskedAboutWhatIsNoUrlToo) {
  for (const char* url : {"http://8.8.8.8:99999/", "http://08.8.8.8/"}) {
    EXPECT_THAT(stable(url).hits, ElementsAre("bad.networks", "link.invalid")) << url;
  }
}

TEST_F(LinkJudgeLists, TheMostSpecificListDecidesAndOutrankedOnesAreRecorded) {
  const LinkEvidence evidence = stable("https://shop.good.example/");
  EXPECT_EQ(evidence.decision, Decision::kBlock);
  EXPECT_THAT(evidence.hits, ElementsAre("bad.hosts"));
  EXPECT_THAT(evidence.monitor, ElementsAre("good.suffixes"));
  EXPECT_TRUE(judge().is_usable(evidence));
}

TEST_F(LinkJudgeLists, AnAllowNeverLiftsAnAddressASchemeOrUserinfo) {
  EXPECT_THAT(resolved("https://a.good.example/", addresses({"10.0.0.1"})).rules,
              Contains("link.address.private"));
  EXPECT_EQ(resolved("https://a.good.example/", addresses({"10.0.0.1"})).decision,
            Decision::kBlock);
  EXPECT_EQ(stable("intent://a.good.example/").decision, Decision::kBlock);
  EXPECT_EQ(stable("foo://a.good.example/").decision, Decision::kMonitor);
  EXPECT_EQ(stable("https://user@a.good.example/").decision, Decision::kMonitor);
}

TEST_F(LinkJudgeLists, AnAllowLiftsNetworksOfTheResolvedAddresses) {
  EXPECT_EQ(resolved("https://plain.example/", addresses({"8.8.8.8"})).decision, Decision::kBlock);
  const Verdict verdict = resolved("https://a.good.example/", addresses({"8.8.8.8"}));
  EXPECT_EQ(verdict.decision, Decision::kAllow);
  EXPECT_THAT(verdict.rules, ElementsAre("good.suffixes"));
  EXPECT_THAT(verdict.monitor_rules, ElementsAre("bad.networks"));
}

TEST_F(LinkJudgeLists, S17_NamesOfTheChainAreLookedUpInTheLists) {
  for (const char* name : {"evil.example", "cdn.evil.test", "evil.test", "x.ruled.example"}) {
    for (const safety::Pepper* pepper : {&peppers_.current, &*peppers_.previous}) {
      const DnsFacts facts = with_chain(*pepper, {"cdn.example", name, "end.example"});
      EXPECT_EQ(resolved("https://plain.example/", facts).decision, Decision::kBlock) << name;
    }
  }
  EXPECT_EQ(resolved("https://plain.example/",
                     with_chain(peppers_.current, {"sub.evil.example", "other.example"}))
                .decision,
            Decision::kAllow);
}

TEST_F(LinkJudgeLists, S17_AnAllowOfTheFirstNameDoesNotLiftTheChain) {
  EXPECT_EQ(
      resolved("https://a.good.example/", with_chain(peppers_.current, {"evil.example"})).decision,
      Decision::kBlock);
  // And a good name in the chain says nothing good of the first.
  EXPECT_EQ(
      resolved("https://watched.example/", with_chain(peppers_.current, {"good.example"})).decision,
      Decision::kMonitor);
}

TEST_F(LinkJudgeLists, EvidenceSurvivesTheCacheOnlyWhileItsListsLive) {
  const LinkEvidence evidence = stable("https://evil.example/");
  EXPECT_TRUE(judge().is_usable(evidence));
  files_.write("lists.yaml", "schema: 1\nlists: []\n");
  bundle_ = files_.load();
  EXPECT_FALSE(judge().is_usable(evidence));
}

TEST_F(LinkJudgeLists, S09_ListsOfNetworksKnowTheInnerAddress) {
  EXPECT_THAT(stable("http://[64:ff9b::808:808]/").hits, ElementsAre("bad.networks"));
  EXPECT_THAT(resolved("http://plain.example/", no_data(), addresses({"64:ff9b::808:808"})).rules,
              ElementsAre("bad.networks"));
}

TEST_F(LinkJudgeLists, S09_AListedAddressHitsInsideOfAnotherOne) {
  for (const char* host : {"9.9.9.9", "[::ffff:9.9.9.9]", "[64:ff9b::909:909]", "[::9.9.9.9]"}) {
    const std::string url = "http://" + std::string(host) + "/x";
    EXPECT_THAT(stable(url).hits, ElementsAre("bad.hosts")) << host;
  }
  EXPECT_THAT(stable("http://[::ffff:909:90a]/bad/x?y").hits, ElementsAre("bad.paths"));
  EXPECT_EQ(stable("http://[::ffff:909:90a]/good").decision, Decision::kAllow);
}

TEST_F(LinkJudgeLists, S06_ALinkThatIsNoUrlIsLookedUpAsALessStrictProgramReadsIt) {
  config_.links.set_action(LinkFinding::kInvalid, FindingAction::kMonitor);
  EXPECT_EQ(stable("http://evil.example:99999/").decision, Decision::kBlock);
  EXPECT_EQ(stable("http://plain.example:99999/").decision, Decision::kMonitor);
}

}  // namespace
}  // namespace han::tests
