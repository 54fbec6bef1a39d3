#include "safety/link_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/safety/link_judge_fixture.h"

namespace han::tests {
namespace {

using safety::Decision;
using safety::DnsFacts;
using safety::DnsUse;
using safety::FindingAction;
using safety::LinkEvidence;
using safety::LinkFinding;
using safety::Verdict;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using LinkJudge = LinkJudgeFixture;

TEST_F(LinkJudge, AnOrdinaryLinkIsAllowedOnceItIsResolved) {
  const LinkEvidence evidence = stable("https://plain.example/a?b");
  EXPECT_EQ(evidence.decision, Decision::kAllow);
  EXPECT_TRUE(evidence.needs_dns);
  const Verdict verdict = resolved("https://plain.example/a?b", addresses({"93.184.216.34"}));
  EXPECT_EQ(verdict.decision, Decision::kAllow);
  EXPECT_THAT(verdict.rules, IsEmpty());
  EXPECT_EQ(verdict.versions.rules, bundle_->rules_version());
  EXPECT_EQ(verdict.versions.config, config_.version);
}

TEST_F(LinkJudge, WhatNobodyResolvedIsIndeterminate) {
  const auto judge_of = judge();
  const LinkEvidence evidence = stable("https://plain.example/");
  const DnsFacts good = addresses({"93.184.216.34"});
  for (const auto& [a, aaaa] : {std::pair<const DnsFacts*, const DnsFacts*>(nullptr, nullptr),
                                std::pair<const DnsFacts*, const DnsFacts*>(&good, nullptr),
                                std::pair<const DnsFacts*, const DnsFacts*>(nullptr, &good)}) {
    const Verdict verdict = judge_of.judge(evidence, a, aaaa);
    EXPECT_EQ(verdict.decision, Decision::kIndeterminate);
    EXPECT_EQ(verdict.reason, "dns_off");
  }
  const DnsFacts bad = addresses({"10.0.0.1"});
  EXPECT_EQ(judge_of.judge(evidence, &bad, nullptr).decision, Decision::kBlock);
}

TEST_F(LinkJudge, WithDnsOffTheStablePartIsTheVerdict) {
  config_.links.dns = DnsUse::kOff;
  const LinkEvidence evidence = stable("https://plain.example/");
  EXPECT_FALSE(evidence.needs_dns);
  EXPECT_EQ(judge().judge(evidence, nullptr, nullptr).decision, Decision::kAllow);
  EXPECT_EQ(stable("http://10.0.0.1/").decision, Decision::kBlock);
  // Evidence of a process that resolves is of another config.
  EXPECT_FALSE(judge().is_usable({Decision::kAllow, "", {}, {}, {}, true}));
}

TEST_F(LinkJudge, S04_AnAddressInAnySpellingIsClassified) {
  for (const char* url : {"http://127.0.0.1/", "http://0x7f.1/", "http://017700000001/",
                          "http://2130706433/", "http://127.0.0.1./", "http://127.0.0.1../"}) {
    const LinkEvidence evidence = stable(url);
    EXPECT_EQ(evidence.decision, Decision::kBlock) << url;
    EXPECT_THAT(evidence.hits, ElementsAre("link.address.loopback")) << url;
    EXPECT_FALSE(evidence.needs_dns);
  }
  EXPECT_EQ(stable("http://93.184.216.34/").decision, Decision::kAllow);
}

TEST_F(LinkJudge, S09_Ipv4InsideIpv6IsJudgedByTheInnerAddress) {
  for (const char* host : {"[::ffff:127.0.0.1]", "[::ffff:0:7f00:1]", "[::169.254.169.254]",
                           "[2002:a9fe:a9fe::]", "[64:ff9b::7f00:1]"}) {
    EXPECT_EQ(stable(std::string("http://") + host + "/").decision, Decision::kBlock) << host;
  }
  EXPECT_EQ(stable("http://[fe80::1%25eth0]/").decision, Decision::kBlock);
  EXPECT_EQ(resolved("http://plain.example/", no_data(), addresses({"64:ff9b::7f00:1"})).decision,
            Decision::kBlock);
}

TEST_F(LinkJudge, S06_WhatIsNoUrlIsNeverAllowed) {
  for (const char* url : {"http://%2531%2532%2537.0.0.1/", "http://a b.example/", "no url", "",
                          "http://plain.example:99999/"}) {
    EXPECT_EQ(stable(url).decision, Decision::kBlock) << url;
    EXPECT_THAT(stable(url).hits, Contains("link.invalid"));
  }
  config_.links.set_action(LinkFinding::kInvalid, FindingAction::kMonitor);
  EXPECT_EQ(stable("no url").decision, Decision::kMonitor);
}

TEST_F(LinkJudge, AUrlOverTheLimitIsIndeterminateAndNotCached) {
  for (const FindingAction action : {FindingAction::kBlock, FindingAction::kMonitor}) {
    config_.links.set_action(LinkFinding::kInvalid, action);
    const LinkEvidence evidence =
        stable("http://plain.example/" + std::string(safety::kUrlBytesMax, 'a'));
    EXPECT_EQ(evidence.decision, Decision::kIndeterminate);
    EXPECT_EQ(evidence.reason, "limit");
    EXPECT_FALSE(judge().is_usable(evidence));
  }
}

TEST_F(LinkJudge, SchemesThatActOnTheReadersSideBlock) {
  for (const char* url : {"javascript:alert(1)", "data:text/html,x", "file:///etc/passwd",
                          "vbscript:x", "JAVASCRIPT:x", " java\nscript:x", "intent://x#Intent;end",
                          "blob:https://plain.example/x", "ms-msdt:/id", "smb://files.example/x"}) {
    EXPECT_EQ(stable(url).decision, Decision::kBlock) << url;
    EXPECT_THAT(stable(url).hits, Contains("link.scheme"));
  }
  EXPECT_EQ(stable("postgres://db.example/app").decision, Decision::kMonitor);
  EXPECT_THAT(stable("postgres://db.example/app").hits, Contains("link.other_scheme"));
  EXPECT_EQ(stable("mailto:a@plain.example"),
            (LinkEvidence{Decision::kAllow, "", {}, {}, {}, false}));
}

TEST_F(LinkJudge, TheLookOfTheHostIsFound) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"http://xn--pple-43d.com/", "link.mixed_script"},
      {"http://localhost/", "link.local_name"},
      {"http://printer.local/", "link.local_name"},
      {"http://db.internal/", "link.local_name"},
      {"http://intranet/", "link.single_label"},
      {"http://plain.example:8443/", "link.port"},
      {"http://xn--e1afmkfd.example/", "link.punycode"},
  };
  for (const auto finding : {LinkFinding::kPort, LinkFinding::kPunycode}) {
    config_.links.set_action(finding, FindingAction::kMonitor);
  }
  for (const auto& [url, id] : cases) EXPECT_THAT(stable(url).hits, Contains(id)) << url;
}

TEST_F(LinkJudge, S14_AnyBadAddressOfTheSetBlocks) {
  const Verdict verdict = resolved("https://plain.example/", addresses({"8.8.4.4", "10.0.0.1"}));
  EXPECT_EQ(verdict.decision, Decision::kBlock);
  EXPECT_THAT(verdict.rules, ElementsAre("link.address.private"));
  EXPECT_EQ(resolved("https://plain.example/", addresses({"8.8.4.4"}), addresses({"::1"})).decision,
            Decision::kBlock);
}

TEST_F(LinkJudge, S15_TheSameEvidenceIsJudgedByTheAddressesOfEachTime) {
  const LinkEvidence evidence = stable("https://plain.example/");
  const DnsFacts before = addresses({"93.184.216.34"});
  const DnsFacts after = addresses({"169.254.169.254"});
  EXPECT_EQ(judge().judge(evidence, &before, &none_).decision, Decision::kAllow);
  EXPECT_EQ(judge().judge(evidence, &after, &none_).decision, Decision::kBlock);
}

TEST_F(LinkJudge, S16_AFailureIsIndeterminateAndNeverNoSuchName) {
  for (const char* reason : {"dns_servfail", "dns_timeout", "dns_truncated"}) {
    for (const auto& [a, aaaa] :
         {std::pair(failed(reason), failed(reason)),
          std::pair(failed(reason), addresses({"2606:2800:220:1::1"})),
          std::pair(addresses({"93.184.216.34"}), failed(reason)),
          std::pair(no_such_name(), failed(reason)), std::pair(no_data(), failed(reason))}) {
      const Verdict verdict = resolved("https://plain.example/", a, aaaa);
      EXPECT_EQ(verdict.decision, Decision::kIndeterminate) << reason;
      EXPECT_EQ(verdict.reason, reason);
      EXPECT_THAT(verdict.rules, IsEmpty());
    }
  }
  // Half an answer that blocks is enough.
  EXPECT_EQ(resolved("https://plain.example/", failed("dns_timeout"), addresses({"::1"})).decision,
            Decision::kBlock);
}

TEST_F(LinkJudge, S16_NegativeAnswersAreFindings) {
  EXPECT_THAT(resolved("https://plain.example/", no_such_name(), no_such_name()).rules,
              ElementsAre("link.dns.no_such_name"));
  EXPECT_THAT(resolved("https://plain.example/", no_data(), no_data()).rules,
              ElementsAre("link.dns.no_data"));
  EXPECT_EQ(resolved("https://plain.example/", no_data(), no_data()).decision, Decision::kMonitor);
}

TEST_F(LinkJudge, AChainThatCannotBeReadIsIndeterminate) {
  DnsFacts facts = with_chain(peppers_.current, {"cdn.example"});
  facts.pepper_id = "gone";
  EXPECT_EQ(resolved("https://plain.example/", facts).decision, Decision::kIndeterminate);
  EXPECT_EQ(resolved("https://plain.example/", facts).reason, "evidence");
  const safety::LinkJudge without(bundle_, config_, nullptr);
  facts.pepper_id = peppers_.current.id;
  EXPECT_EQ(without.judge(stable("https://plain.example/"), &facts, &none_).decision,
            Decision::kIndeterminate);
}

TEST_F(LinkJudge, S18_AnAnswerOverTheLimitIsIndeterminate) {
  const Verdict verdict = resolved("https://plain.example/", failed("dns_limit"));
  EXPECT_EQ(verdict.decision, Decision::kIndeterminate);
  EXPECT_EQ(verdict.reason, "dns_limit");
}

TEST_F(LinkJudge, S20_AStaleAnswerIsMarkedAndAFreshNegativeOneReplacesIt) {
  DnsFacts stale = addresses({"93.184.216.34"});
  stale.is_stale = true;
  EXPECT_THAT(resolved("https://plain.example/", stale).rules, ElementsAre("link.dns.stale"));
  EXPECT_EQ(resolved("https://plain.example/", stale).decision, Decision::kMonitor);
  EXPECT_THAT(resolved("https://plain.example/", no_such_name(), no_such_name()).rules,
              ElementsAre("link.dns.no_such_name"));
}

TEST_F(LinkJudge, AChangeOfThePolicyClassifiesTheSameAnswerAnew) {
  const DnsFacts facts = addresses({"10.1.2.3"});
  EXPECT_EQ(resolved("https://plain.example/", facts).decision, Decision::kBlock);
  config_.links.networks_allow = {*safety::IpPrefix::parse("10.1.0.0/16")};
  EXPECT_EQ(resolved("https://plain.example/", facts).decision, Decision::kAllow);
  config_.links.networks_block = {*safety::IpPrefix::parse("10.1.2.0/24")};
  EXPECT_THAT(resolved("https://plain.example/", facts).rules, ElementsAre("link.address.blocked"));
  config_.links.set_action(LinkFinding::kAddress, FindingAction::kMonitor);
  EXPECT_EQ(resolved("https://plain.example/", facts).decision, Decision::kMonitor);
}

}  // namespace
}  // namespace han::tests
