#include "safety/subject_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "safety/base/hex.h"
#include "tests/safety/link_judge_fixture.h"

namespace han::tests {
namespace {

using safety::Decision;
using safety::HostFacts;
using safety::Verdict;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// Hosts of a test; any other one does not answer.
class FakeHosts final : public safety::HostResolver {
 public:
  std::map<std::string, HostFacts> hosts;
  std::vector<std::vector<std::string>> calls;

  std::vector<HostFacts> resolve(std::span<const std::string> names) override {
    calls.emplace_back(names.begin(), names.end());
    std::vector<HostFacts> facts;
    for (const std::string& name : names) {
      const auto found = hosts.find(name);
      facts.push_back(found == hosts.end() ? HostFacts{failed("dns_timeout"), failed("dns_timeout")}
                                           : found->second);
    }
    return facts;
  }
};

class SubjectJudge : public LinkJudgeFixture {
 protected:
  SubjectJudge() : scratch_(*bundle_->text_engine()) {
    hosts_.hosts["plain.example.com"] = {addresses({"93.184.216.34"}), no_data()};
    hosts_.hosts["inner.example.com"] = {addresses({"10.0.0.1"}), no_data()};
    hosts_.hosts["gone.example.com"] = {no_such_name(), no_such_name()};
  }

  safety::SubjectJudge subjects(safety::HostResolver* resolver) const {
    return {bundle_, config_, set_, resolver};
  }
  Verdict text(std::string_view raw) { return subjects(&hosts_).judge_text(raw, scratch_).verdict; }
  Verdict link(std::string_view raw) { return subjects(&hosts_).judge_link(raw).verdict; }

  std::shared_ptr<const safety::PepperSet> set_ =
      std::make_shared<const safety::PepperSet>(peppers());
  FakeHosts hosts_;
  safety::TextScratch scratch_;
};

TEST_F(SubjectJudge, ATextWithoutLinksIsJudgedAsBefore) {
  EXPECT_EQ(text("hello").decision, Decision::kAllow);
  EXPECT_THAT(text("gift card code").rules, ElementsAre("scam.gift"));
  EXPECT_THAT(hosts_.calls, IsEmpty());
}

TEST_F(SubjectJudge, LinksOfATextJoinItsVerdict) {
  const Verdict good = text("see https://plain.example.com/a now");
  EXPECT_EQ(good.decision, Decision::kAllow);
  ASSERT_EQ(good.links.size(), 1U);
  EXPECT_EQ(good.links[0].url_hash,
            safety::to_hex(set_->current.key.mac("link", "https://plain.example.com/a")));
  EXPECT_EQ(good.links[0].decision, Decision::kAllow);

  const Verdict bad = text("see https://plain.example.com/a and https://inner.example.com/");
  EXPECT_EQ(bad.decision, Decision::kBlock);
  EXPECT_EQ(bad.links.size(), 2U);
  EXPECT_THAT(bad.rules, ElementsAre("link.address.private"));
  EXPECT_EQ(bad.versions, good.versions);

  const Verdict both = text("gift card code https://gone.example.com/");
  EXPECT_EQ(both.decision, Decision::kBlock);
  EXPECT_THAT(both.rules, ElementsAre("link.dns.no_such_name", "scam.gift"));
}

TEST_F(SubjectJudge, SaysWhereTheLinksStand) {
  const auto judged = subjects(&hosts_).judge_text(
      "see https://plain.example.com/ or https://inner.example.com/", scratch_);
  ASSERT_EQ(judged.links.size(), 2U);
  EXPECT_EQ(judged.links[0].start, 4U);
  EXPECT_EQ(judged.links[0].end, 30U);
  EXPECT_FALSE(judged.links[0].is_obfuscated);
  EXPECT_EQ(judged.links[1].url_hash, judged.verdict.links[1].url_hash);
  EXPECT_EQ(judged.links[1].verdict.decision, Decision::kBlock);
}

TEST_F(SubjectJudge, S10_AReadingWithoutAHostOfTheDnsIsNotJudged) {
  const Verdict verdict = text("https://plain.example.com\uff0cnext");
  EXPECT_EQ(verdict.decision, Decision::kAllow);
  EXPECT_EQ(verdict.links.size(), 1U);
  ASSERT_EQ(hosts_.calls.size(), 1U);
  EXPECT_THAT(hosts_.calls[0], ElementsAre("plain.example.com"));
}

TEST_F(SubjectJudge, S16_ALinkThatIsNotResolvedIsNeverAllowed) {
  const Verdict silent = text("see https://silent.example.com/");
  EXPECT_EQ(silent.decision, Decision::kIndeterminate);
  EXPECT_EQ(silent.reason, "dns_timeout");
  const Verdict unasked =
      subjects(nullptr).judge_text("see https://plain.example.com/", scratch_).verdict;
  EXPECT_EQ(unasked.decision, Decision::kIndeterminate);
  EXPECT_EQ(unasked.reason, "dns_off");
  EXPECT_EQ(subjects(nullptr)
                .judge_text("gift card code https://plain.example.com/", scratch_)
                .verdict.decision,
            Decision::kBlock);
}

TEST_F(SubjectJudge, EachHostOfATextIsAskedOnceAndAllTogether) {
  text(
      "https://plain.example.com/a https://plain.example.com/b https://gone.example.com/ "
      "http://127.0.0.1/ javascript:x");
  ASSERT_EQ(hosts_.calls.size(), 1U);
  EXPECT_THAT(hosts_.calls[0], ElementsAre("gone.example.com", "plain.example.com"));
}

TEST_F(SubjectJudge, ATextWithTooManyLinksIsIndeterminate) {
  config_.links.links_max = 2;
  const Verdict verdict =
      text("https://plain.example.com/1 https://plain.example.com/2 https://plain.example.com/3");
  EXPECT_EQ(verdict.decision, Decision::kIndeterminate);
  EXPECT_EQ(verdict.reason, "limit");
}

TEST_F(SubjectJudge, ATextOverTheLimitIsNotSearchedForLinks) {
  config_.limits.text_bytes_max = 20;
  EXPECT_EQ(text("see https://inner.example.com/").reason, "limit");
  EXPECT_THAT(hosts_.calls, IsEmpty());
}

TEST_F(SubjectJudge, JudgesALink) {
  EXPECT_EQ(link("https://plain.example.com/").decision, Decision::kAllow);
  EXPECT_EQ(link("https://inner.example.com/").decision, Decision::kBlock);
  EXPECT_EQ(link("https://gone.example.com/").decision, Decision::kMonitor);
  EXPECT_EQ(link("https://silent.example.com/").decision, Decision::kIndeterminate);
  const auto invalid = subjects(&hosts_).judge_link("no url").link;
  EXPECT_FALSE(invalid.subject.has_value());
  EXPECT_EQ(invalid.verdict.decision, Decision::kBlock);
  EXPECT_EQ(invalid.url_hash, safety::to_hex(set_->current.key.mac("link", "no url")));
}

TEST_F(SubjectJudge, ALinkOfATextIsTheLinkByItself) {
  for (const char* url : {"https://plain.example.com/", "https://inner.example.com/x?y",
                          "https://gone.example.com/", "http://127.0.0.1/"}) {
    const auto alone = subjects(&hosts_).judge_link(url).link;
    const Verdict verdict = text(std::string("a ") + url + " b");
    ASSERT_EQ(verdict.links.size(), 1U) << url;
    EXPECT_EQ(verdict.links[0],
              (safety::LinkVerdict{alone.url_hash, alone.verdict.decision, alone.verdict.rules}));
  }
}

// A URL in a URL gets no better verdict where the outer one stands alone.
TEST_F(SubjectJudge, UrlsInALinkAreJudgedWithIt) {
  const std::string outer = "https://plain.example.com/url?q=";
  for (const auto& [inner, decision] : std::map<std::string, Decision>{
           {"https%3A%2F%2Fplain.example.com%2F", Decision::kAllow},
           {"https%3A%2F%2Finner.example.com%2F", Decision::kBlock},
           {"https%3A%2F%2Fgone.example.com%2F", Decision::kMonitor},
           {"https%3A%2F%2Fsilent.example.com%2F", Decision::kIndeterminate},
           {"http%253A%252F%252F127.0.0.1", Decision::kBlock},
           {"http://evil.example/", Decision::kBlock},
           {"http%2525253A%2525252F%2525252Fplain.example.com", Decision::kIndeterminate}}) {
    hosts_.calls.clear();
    const auto judged = subjects(&hosts_).judge_link(outer + inner);
    EXPECT_EQ(judged.verdict.decision, decision) << inner;
    EXPECT_EQ(judged.link.verdict.decision, Decision::kAllow) << inner;
    EXPECT_LE(hosts_.calls.size(), 1U);
    // As in a text, where the outer link is told too.
    Verdict in_text = text(outer + inner);
    ASSERT_FALSE(in_text.links.empty());
    in_text.links.erase(in_text.links.begin());
    EXPECT_EQ(judged.verdict, in_text) << inner;
  }
}

TEST_F(SubjectJudge, AVerdictSaysWhatCameFromTheUrlInside) {
  const Verdict verdict =
      link("https://u@plain.example.com/?q=http://evil.example/#http://1.2.3.4");
  EXPECT_THAT(verdict.rules, ElementsAre("bad.hosts", "link.userinfo"));
  EXPECT_THAT(verdict.categories, ElementsAre("phishing"));
  ASSERT_EQ(verdict.links.size(), 2U);
  const auto& key = set_->current.key;
  EXPECT_EQ(verdict.links[0].url_hash, safety::to_hex(key.mac("link", "http://evil.example/")));
  EXPECT_THAT(verdict.links[0].rules, ElementsAre("bad.hosts"));
  EXPECT_THAT(verdict.links[1].rules, IsEmpty());
  EXPECT_THAT(link("https://plain.example.com/?a=b").links, IsEmpty());
}

TEST_F(SubjectJudge, ALinkWithTooManyUrlsInItIsIndeterminate) {
  config_.links.links_max = 2;
  const std::string url = "https://plain.example.com/?a=http://plain.example.com/1";
  EXPECT_EQ(link(url).decision, Decision::kAllow);
  const Verdict over = link(url + "&b=http://plain.example.com/2");
  EXPECT_EQ(over.decision, Decision::kIndeterminate);
  EXPECT_EQ(over.reason, "limit");
  EXPECT_EQ(link("https://inner.example.com/?a=http://a.com&b=http://b.com").decision,
            Decision::kBlock);
}

TEST_F(SubjectJudge, ManySubjectsGetTheVerdictsOfEachAndAreResolvedTogether) {
  using Subject = safety::SubjectJudge::Subject;
  const std::vector<Subject> all = {
      {Subject::Kind::kText, "see https://plain.example.com/a and https://inner.example.com/"},
      {Subject::Kind::kLink, "https://plain.example.com/?q=https%3A%2F%2Fgone.example.com%2F"},
      {Subject::Kind::kText, "gift card code"},
      {Subject::Kind::kLink, "no url"},
      {Subject::Kind::kLink, "https://silent.example.com/"},
      {Subject::Kind::kText, "see https://silent.example.com/"}};
  const auto verdicts = subjects(&hosts_).judge_all(all, scratch_);
  ASSERT_EQ(hosts_.calls.size(), 1U);
  EXPECT_THAT(hosts_.calls[0], ElementsAre("gone.example.com", "inner.example.com",
                                           "plain.example.com", "silent.example.com"));
  ASSERT_EQ(verdicts.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_text = all[i].kind == Subject::Kind::kText;
    EXPECT_EQ(verdicts[i], is_text ? text(all[i].raw) : link(all[i].raw)) << i;
  }
  EXPECT_THAT(subjects(&hosts_).judge_all({}, scratch_), IsEmpty());
}

}  // namespace
}  // namespace han::tests
