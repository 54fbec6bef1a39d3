#include "safety/link_judge_dns.h"

#include <gtest/gtest.h>

#include "safety/link_subject.h"

namespace han::tests {
namespace {

using safety::DnsFacts;
using safety::facts_of;
using safety::IpAddress;
using Kind = dns::Answer::Kind;

safety::PepperSet peppers() { return safety::parse_peppers("p1 " + std::string(64, 'a') + "\n"); }

TEST(LinkJudgeDns, AnAnswerBecomesFacts) {
  const auto set = peppers();
  dns::Answer answer;
  answer.kind = Kind::kAddresses;
  answer.addresses = {*IpAddress::parse("192.0.2.1"), *IpAddress::parse("192.0.2.2")};
  answer.chain = {"cdn.example", "end.example"};
  answer.is_stale = true;
  const DnsFacts facts = facts_of(answer, set.current);
  EXPECT_EQ(facts.kind, DnsFacts::Kind::kAddresses);
  EXPECT_EQ(facts.addresses, answer.addresses);
  EXPECT_EQ(facts.pepper_id, "p1");
  ASSERT_EQ(facts.chain.size(), 2U);
  EXPECT_EQ(facts.chain[0], suffix_hashes(set.current.key, "cdn.example"));
  EXPECT_TRUE(facts.is_stale);
  EXPECT_EQ(facts.failure, "");
}

TEST(LinkJudgeDns, NegativeAnswersStayDifferent) {
  const auto set = peppers();
  dns::Answer answer;
  answer.kind = Kind::kNoData;
  EXPECT_EQ(facts_of(answer, set.current).kind, DnsFacts::Kind::kNoData);
  answer.kind = Kind::kNoSuchName;
  EXPECT_EQ(facts_of(answer, set.current).kind, DnsFacts::Kind::kNoSuchName);
}

TEST(LinkJudgeDns, S16_AFailureKeepsItsReason) {
  const auto set = peppers();
  for (std::size_t i = 0; i < dns::kFailures; ++i) {
    const auto failure = static_cast<dns::Failure>(i);
    const DnsFacts facts = facts_of(failure, set.current);
    EXPECT_EQ(facts.kind, DnsFacts::Kind::kFailed);
    EXPECT_EQ(facts.failure, to_string(failure));
    EXPECT_TRUE(facts.addresses.empty());
  }
}

}  // namespace
}  // namespace han::tests
