// What the policy makes of links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "safety/policy.h"

namespace han::tests {
namespace {

using safety::Config;
using safety::decide_link;
using safety::decide_link_verdict;
using safety::Decision;
using safety::FindingAction;
using safety::LinkEvidence;
using safety::LinkFinding;
using safety::LinkFindings;
using safety::RuleAction;
using safety::RuleMode;
using safety::RuleTable;
using safety::TextLink;
using safety::Verdict;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

RuleTable table() {
  return RuleTable("rules-version",
                   {{"list.bad", {90, RuleAction::kBlock, RuleMode::kEnforce, {"phishing"}}},
                    {"list.watch", {90, RuleAction::kMonitor, RuleMode::kEnforce, {"ads"}}},
                    {"list.shadow", {90, RuleAction::kBlock, RuleMode::kShadow, {"phishing"}}}});
}

Config config() {
  Config out = safety::default_config();
  out.version = "config-version";
  return out;
}

LinkFindings found(std::initializer_list<LinkFinding> findings) {
  LinkFindings out;
  for (const LinkFinding finding : findings) out.add(finding);
  return out;
}

LinkEvidence stable(const LinkFindings& findings, const Config& with = config()) {
  return decide_link(findings, true, table(), with);
}

Verdict resolved(const LinkEvidence& evidence, const LinkFindings& findings) {
  return decide_link_verdict(evidence, findings, table(), config());
}

TEST(PolicyLinks, NothingFoundAllowsOnceTheHostIsResolved) {
  const LinkEvidence evidence = stable({});
  EXPECT_EQ(evidence, (LinkEvidence{Decision::kAllow, "", {}, {}, {}, true}));
  const Verdict verdict = resolved(evidence, {});
  EXPECT_EQ(verdict.decision, Decision::kAllow);
  EXPECT_EQ(verdict.reason, "");
  EXPECT_EQ(verdict.versions, (safety::Versions{"rules-version", "config-version", ""}));
}

TEST(PolicyLinks, AFindingDoesWhatTheConfigSays) {
  Config with = config();
  for (const auto& [action, decision] : {std::pair(FindingAction::kBlock, Decision::kBlock),
                                         std::pair(FindingAction::kMonitor, Decision::kMonitor)}) {
    with.links.set_action(LinkFinding::kPort, action);
    const LinkEvidence evidence = stable(found({LinkFinding::kPort}), with);
    EXPECT_EQ(evidence.decision, decision);
    EXPECT_EQ(evidence.reason, "rule");
    EXPECT_THAT(evidence.hits, ElementsAre("link.port"));
  }
  with.links.set_action(LinkFinding::kPort, FindingAction::kIgnore);
  EXPECT_EQ(stable(found({LinkFinding::kPort}), with), stable({}, with));
}

TEST(PolicyLinks, TheStrongestOfFindingsAndListsDecidesAndAllAreNamed) {
  LinkFindings findings = found({LinkFinding::kUserinfo, LinkFinding::kUserinfo});
  findings.hits = {"list.watch", "list.bad"};
  findings.monitor = {"list.shadow"};
  findings.add_address("private");
  const LinkEvidence evidence = stable(findings);
  EXPECT_EQ(evidence.decision, Decision::kBlock);
  EXPECT_THAT(evidence.hits,
              ElementsAre("link.address.private", "link.userinfo", "list.bad", "list.watch"));
  EXPECT_THAT(evidence.monitor, ElementsAre("list.shadow"));
  EXPECT_THAT(evidence.categories, ElementsAre("ads", "phishing"));
}

TEST(PolicyLinks, WhatDecidesIsNotOnlyWatched) {
  LinkFindings findings;
  findings.hits = {"list.bad"};
  findings.monitor = {"list.bad", "list.watch"};
  EXPECT_THAT(stable(findings).monitor, ElementsAre("list.watch"));
}

TEST(PolicyLinks, WhatBlocksNeedsNoDns) {
  EXPECT_FALSE(stable(found({LinkFinding::kScheme})).needs_dns);
  EXPECT_TRUE(stable(found({LinkFinding::kUserinfo})).needs_dns);
  EXPECT_FALSE(decide_link({}, false, table(), config()).needs_dns);
  LinkFindings failed;
  failed.failure = "dns_timeout";
  EXPECT_EQ(resolved(stable(found({LinkFinding::kScheme})), failed).decision, Decision::kBlock);
}

TEST(PolicyLinks, SeverityAndCategoriesOfListsCountAsOfRules) {
  Config with = config();
  LinkFindings findings;
  findings.hits = {"list.bad"};
  with.policy.block_severity_min = 91;
  EXPECT_EQ(stable(findings, with).decision, Decision::kMonitor);
  with.policy.block_severity_min = 0;
  with.policy.categories = {{"phishing", RuleAction::kMonitor}};
  EXPECT_EQ(stable(findings, with).decision, Decision::kMonitor);
}

TEST(PolicyLinks, AFailureIsNeverAllowed) {
  for (const LinkFindings& base : {LinkFindings(), found({LinkFinding::kUserinfo})}) {
    LinkFindings failed;
    failed.failure = "dns_servfail";
    const Verdict verdict = resolved(stable(base), failed);
    EXPECT_EQ(verdict.decision, Decision::kIndeterminate);
    EXPECT_EQ(verdict.reason, "dns_servfail");
  }
  EXPECT_EQ(resolved(LinkEvidence(), {}).decision, Decision::kIndeterminate);
  LinkFindings unknown;
  unknown.hits = {"gone"};
  EXPECT_EQ(stable(unknown).decision, Decision::kIndeterminate);
  EXPECT_EQ(stable(unknown).reason, safety::kReasonEvidence);
  EXPECT_EQ(resolved(stable(unknown), {}).reason, safety::kReasonEvidence);
}

TEST(PolicyLinks, WhatTheHostResolvesToJoinsTheStablePart) {
  LinkFindings dns = found({LinkFinding::kNoSuchName});
  dns.hits = {"list.bad"};
  const Verdict verdict = resolved(stable(found({LinkFinding::kUserinfo})), dns);
  EXPECT_EQ(verdict.decision, Decision::kBlock);
  EXPECT_THAT(verdict.rules, ElementsAre("link.dns.no_such_name", "link.userinfo", "list.bad"));
  EXPECT_THAT(verdict.categories, ElementsAre("phishing"));
  // Evidence that needs no DNS is not judged by it.
  EXPECT_EQ(resolved(decide_link({}, false, table(), config()), dns).decision, Decision::kAllow);
}

TEST(PolicyLinks, EvidenceOfALyingCacheIsNotUsable) {
  const RuleTable rules = table();
  const auto usable = [&rules](Decision decision, std::vector<std::string> hits,
                               std::vector<std::string> monitor = {}) {
    return is_usable_link(LinkEvidence{decision, "", std::move(hits), std::move(monitor), {}, true},
                          rules);
  };
  EXPECT_TRUE(is_usable_link(stable({}), rules));
  EXPECT_TRUE(usable(Decision::kBlock, {"link.address.private", "link.scheme", "list.bad"},
                     {"list.shadow"}));
  EXPECT_FALSE(usable(Decision::kIndeterminate, {}));
  EXPECT_FALSE(usable(Decision::kBlock, {"gone"}));
  EXPECT_FALSE(usable(Decision::kBlock, {"link.gone"}));
  EXPECT_FALSE(usable(Decision::kBlock, {"link.address"}));
  EXPECT_FALSE(usable(Decision::kBlock, {"list.shadow"}));
  EXPECT_FALSE(usable(Decision::kBlock, {}, {"gone"}));
  EXPECT_FALSE(usable(Decision::kBlock, {"list.bad", "link.scheme"}));
  EXPECT_FALSE(usable(Decision::kBlock, {"list.bad", "list.bad"}));
}

TextLink link(std::string hash, Decision decision, std::vector<std::string> rules = {}) {
  TextLink out;
  out.url_hash = std::move(hash);
  out.verdict.decision = decision;
  out.verdict.reason = decision == Decision::kIndeterminate ? "dns_timeout" : "rule";
  out.verdict.rules = std::move(rules);
  return out;
}

Verdict text(Decision decision, std::vector<std::string> rules = {}) {
  Verdict out;
  out.decision = decision;
  out.reason = decision == Decision::kIndeterminate ? "engine" : "rule";
  if (decision == Decision::kAllow) out.reason.clear();
  out.rules = std::move(rules);
  return out;
}

Verdict join(const Verdict& of_text, const std::vector<TextLink>& links, bool is_over = false,
             const Config& with = config()) {
  return join_links(of_text, links, is_over, with);
}

TEST(PolicyLinks, ATextIsAsBadAsItsWorstLink) {
  const std::array<Decision, 4> by_strength = {Decision::kAllow, Decision::kMonitor,
                                               Decision::kIndeterminate, Decision::kBlock};
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      const Verdict verdict = join(text(by_strength[a]), {link("1", by_strength[b])});
      EXPECT_EQ(verdict.decision, by_strength[std::max(a, b)]);
      if (verdict.decision != Decision::kIndeterminate) continue;
      EXPECT_EQ(verdict.reason, a == 2 ? "engine" : "dns_timeout");
    }
  }
  EXPECT_EQ(join(text(Decision::kAllow), {}).reason, "");
}

TEST(PolicyLinks, RulesOfAllLinksStandInTheTextsVerdict) {
  TextLink watched = link("2", Decision::kMonitor, {"link.userinfo"});
  watched.verdict.monitor_rules = {"list.shadow"};
  watched.verdict.categories = {"ads"};
  const Verdict verdict = join(text(Decision::kMonitor, {"word"}),
                               {link("1", Decision::kBlock, {"list.bad"}), watched});
  EXPECT_THAT(verdict.rules, ElementsAre("link.userinfo", "list.bad", "word"));
  EXPECT_THAT(verdict.monitor_rules, ElementsAre("list.shadow"));
  EXPECT_THAT(verdict.categories, ElementsAre("ads"));
  ASSERT_EQ(verdict.links.size(), 2U);
  EXPECT_EQ(verdict.links[0], (safety::LinkVerdict{"1", Decision::kBlock, {"list.bad"}}));
  EXPECT_EQ(verdict.links[1], (safety::LinkVerdict{"2", Decision::kMonitor, {"link.userinfo"}}));
}

TEST(PolicyLinks, OneLinkTwiceIsOneLink) {
  TextLink hidden = link("1", Decision::kAllow);
  hidden.is_obfuscated = true;
  const Verdict verdict = join(text(Decision::kAllow), {link("1", Decision::kAllow), hidden});
  ASSERT_EQ(verdict.links.size(), 1U);
  EXPECT_EQ(verdict.decision, Decision::kMonitor);
  EXPECT_THAT(verdict.rules, ElementsAre("link.obfuscated"));
  EXPECT_THAT(verdict.links[0].rules, ElementsAre("link.obfuscated"));
}

TEST(PolicyLinks, AnObfuscatedLinkDoesWhatTheConfigSays) {
  Config with = config();
  TextLink hidden = link("1", Decision::kAllow);
  hidden.is_obfuscated = true;
  with.links.set_action(LinkFinding::kObfuscated, FindingAction::kBlock);
  EXPECT_EQ(join(text(Decision::kAllow), {hidden}, false, with).decision, Decision::kBlock);
  with.links.set_action(LinkFinding::kObfuscated, FindingAction::kIgnore);
  EXPECT_EQ(join(text(Decision::kAllow), {hidden}, false, with).decision, Decision::kAllow);
  EXPECT_THAT(join(text(Decision::kAllow), {hidden}, false, with).rules, IsEmpty());
}

TEST(PolicyLinks, S10_AnAlternateReadingThatLeadsNowhereIsNone) {
  TextLink longer = link("1", Decision::kMonitor, {"link.dns.no_such_name"});
  EXPECT_EQ(join(text(Decision::kAllow), {longer}).decision, Decision::kMonitor);
  longer.is_alternate = true;
  EXPECT_EQ(join(text(Decision::kAllow), {longer}).decision, Decision::kAllow);
  EXPECT_THAT(join(text(Decision::kAllow), {longer}).links, IsEmpty());
  longer.verdict.rules.emplace_back("link.userinfo");
  EXPECT_EQ(join(text(Decision::kAllow), {longer}).decision, Decision::kMonitor);
  // The same link as a plain reading elsewhere counts.
  TextLink plain = link("1", Decision::kMonitor, {"link.dns.no_data"});
  longer.verdict.rules = plain.verdict.rules;
  EXPECT_EQ(join(text(Decision::kAllow), {longer, plain}).decision, Decision::kMonitor);
  TextLink failed = link("2", Decision::kIndeterminate);
  failed.is_alternate = true;
  EXPECT_EQ(join(text(Decision::kAllow), {failed}).decision, Decision::kIndeterminate);
}

TEST(PolicyLinks, MoreLinksThanAreJudgedIsIndeterminateUnlessSomethingBlocks) {
  EXPECT_EQ(join(text(Decision::kAllow), {}, true).decision, Decision::kIndeterminate);
  EXPECT_EQ(join(text(Decision::kMonitor), {}, true).reason, "limit");
  EXPECT_EQ(join(text(Decision::kAllow), {link("1", Decision::kBlock)}, true).decision,
            Decision::kBlock);
}

TEST(PolicyLinks, AnAddressThatStandsAloneIsAMention) {
  TextLink bare = link("1", Decision::kBlock, {"link.address.private"});
  bare.is_bare_address = true;
  const Verdict verdict = join(text(Decision::kAllow), {bare});
  EXPECT_EQ(verdict.decision, Decision::kMonitor);
  EXPECT_THAT(verdict.rules, ElementsAre("link.address.private"));
  EXPECT_EQ(verdict.links[0].decision, Decision::kMonitor);
  // The same address as a link, before or behind it.
  const TextLink whole = link("1", Decision::kBlock, {"link.address.private"});
  EXPECT_EQ(join(text(Decision::kAllow), {bare, whole}).decision, Decision::kBlock);
  EXPECT_EQ(join(text(Decision::kAllow), {bare, whole}).links[0].decision, Decision::kBlock);
  EXPECT_EQ(join(text(Decision::kAllow), {whole, bare}).decision, Decision::kBlock);
  // What the operator named.
  for (const char* rule : {"link.address.blocked", "list.bad"}) {
    TextLink named = link("1", Decision::kBlock, {rule});
    named.is_bare_address = true;
    EXPECT_EQ(join(text(Decision::kAllow), {named}).decision, Decision::kBlock) << rule;
  }
}

}  // namespace
}  // namespace han::tests
