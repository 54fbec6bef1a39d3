#include "safety/worker/dns_lookup.h"

#include <gtest/gtest.h>

#include <map>

#include "cache/entry_seal.h"
#include "safety/link_subject.h"
#include "tests/support/fake_clock.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;
using dns::Answer;
using dns::Failure;
using dns::RecordType;
using safety::DnsFacts;
using safety::HostItem;

class DnsLookupTest : public ::testing::Test {
 protected:
  Answer addresses(std::chrono::seconds ttl, std::vector<std::string> texts = {"192.0.2.1"}) {
    Answer answer{.kind = Answer::Kind::kAddresses, .ttl = ttl};
    for (const std::string& text : texts) {
      answer.addresses.push_back(safety::IpAddress::parse(text).value());
    }
    return answer;
  }
  // The facts of one question about the host, and whether it was asked.
  std::shared_ptr<const DnsFacts> ask(const std::string& host, RecordType type = RecordType::kA) {
    std::vector<HostItem> items = {lookup_.item(host, type)};
    items[0].is_needed = true;
    const auto missing = lookup_.find_local(items);
    lookup_.resolve(missing, safety::Deadline::none(), &writes_);
    failure_ = items[0].failure;
    return items[0].facts;
  }
  cache::DnsEntry decoded(const safety::AnswerWrite& write) {
    const std::vector<std::string> ids = {"p1"};
    const auto decoded = cache::decode_entry(write.bytes, write.key, ids);
    EXPECT_EQ(decoded.outcome, cache::DecodeOutcome::kEntry);
    EXPECT_TRUE(cache::is_sealed(decoded.entry, peppers_));
    return decoded.entry;
  }

  FakeClock clock_;
  const safety::PepperSet peppers_ =
      safety::parse_peppers("p1 " + std::string(64, 'a') + "\np0 " + std::string(64, 'b'));
  safety::Metrics metrics_;
  std::map<std::string, dns::Resolution> zone_;
  int queries_ = 0;
  std::vector<safety::AnswerWrite> writes_;
  std::optional<Failure> failure_;
  safety::DnsLookup lookup_{peppers_,
                            [this](std::span<const dns::Question> questions, safety::Deadline) {
                              std::vector<dns::Resolution> outcomes;
                              for (const dns::Question& question : questions) {
                                ++queries_;
                                outcomes.push_back(zone_.at(question.host));
                              }
                              return outcomes;
                            },
                            metrics_,
                            {},
                            clock_};
};

TEST_F(DnsLookupTest, AnAnswerIsAskedForOnceInItsTime) {
  zone_["a.test"] = addresses(20s);
  EXPECT_EQ(ask("a.test")->kind, DnsFacts::Kind::kAddresses);
  clock_.advance(19s);
  EXPECT_EQ(ask("a.test")->addresses.front().str(), "192.0.2.1");
  EXPECT_EQ(queries_, 1);
  clock_.advance(2s);
  ask("a.test");
  EXPECT_EQ(queries_, 2);
  ASSERT_EQ(writes_.size(), 2U);
  const auto entry = decoded(writes_[0]);
  EXPECT_EQ(entry.addresses, (std::vector<std::string>{"192.0.2.1"}));
  EXPECT_EQ(writes_[0].until.left(clock_), 0ns);  // ended 1 s ago
  EXPECT_EQ(writes_[1].until.left(clock_), 20s);
}

TEST_F(DnsLookupTest, NoAnswerIsKeptBeyondTheConfigsTime) {
  zone_["a.test"] = addresses(900s);
  safety::DnsLookup lookup(
      peppers_,
      [&](std::span<const dns::Question>, safety::Deadline) {
        ++queries_;
        return std::vector<dns::Resolution>{zone_["a.test"]};
      },
      metrics_, {.ttl_max = 30s}, clock_);
  std::vector<HostItem> items = {lookup.item("a.test", RecordType::kA)};
  items[0].is_needed = true;
  lookup.resolve(lookup.find_local(items), safety::Deadline::none(), &writes_);
  ASSERT_EQ(writes_.size(), 1U);
  EXPECT_EQ(writes_[0].until.left(clock_), 30s);
}

TEST_F(DnsLookupTest, S15_TheTimeThatAnAnswerWaitedForTheOthersIsPartOfItsTime) {
  Answer late = addresses(20s);
  late.age = 2s;
  zone_["late.test"] = late;
  ask("late.test");
  ASSERT_EQ(writes_.size(), 1U);
  EXPECT_EQ(writes_[0].until.left(clock_), 18s);
  const auto ends = std::chrono::milliseconds(decoded(writes_[0]).expires_at_ms);
  EXPECT_EQ(ends - clock_.wall_now().time_since_epoch(), 18s);
  clock_.advance(17s);
  ask("late.test");
  EXPECT_EQ(queries_, 1);
  clock_.advance(1s);
  ask("late.test");
  EXPECT_EQ(queries_, 2);
  // It ended while others were waited for.
  Answer over = addresses(20s);
  over.age = 20s;
  zone_["over.test"] = over;
  ask("over.test");
  ask("over.test");
  EXPECT_EQ(queries_, 4);
  EXPECT_EQ(writes_.size(), 2U);
}

// rows 15 and 16: to be used once
TEST_F(DnsLookupTest, S15_S16_WhatHasNoTimeIsUsedOnceAndNotCached) {
  zone_["zero.test"] = addresses(0s);
  zone_["nosoa.test"] = Answer{.kind = Answer::Kind::kNoData};
  Answer stale = addresses(0s);
  stale.is_stale = true;
  zone_["stale.test"] = stale;
  for (const auto& [host, answer] : zone_) {
    queries_ = 0;
    EXPECT_NE(ask(host)->kind, DnsFacts::Kind::kFailed);
    ask(host);
    EXPECT_EQ(queries_, 2) << host;
  }
  EXPECT_TRUE(ask("stale.test")->is_stale);
  EXPECT_TRUE(writes_.empty());
}

TEST_F(DnsLookupTest, NegativeAnswersAreCachedByTheirOwnTime) {
  zone_["gone.test"] = Answer{.kind = Answer::Kind::kNoSuchName, .ttl = 30s};
  zone_["empty.test"] = Answer{.kind = Answer::Kind::kNoData, .ttl = 30s};
  EXPECT_EQ(ask("gone.test")->kind, DnsFacts::Kind::kNoSuchName);
  EXPECT_EQ(ask("empty.test")->kind, DnsFacts::Kind::kNoData);
  EXPECT_EQ(decoded(writes_[0]).answer, cache::DnsAnswer::kNoSuchName);
  EXPECT_EQ(decoded(writes_[1]).answer, cache::DnsAnswer::kNoData);
  EXPECT_EQ(ask("gone.test")->kind, DnsFacts::Kind::kNoSuchName);
  EXPECT_EQ(queries_, 2);
}

TEST_F(DnsLookupTest, AFailureIsNoAnswerAndNeverCached) {
  zone_["broken.test"] = Failure::kServfail;
  EXPECT_EQ(ask("broken.test")->kind, DnsFacts::Kind::kFailed);
  EXPECT_EQ(ask("broken.test")->failure, "dns_servfail");
  EXPECT_EQ(failure_, Failure::kServfail);
  EXPECT_EQ(queries_, 2);
  EXPECT_TRUE(writes_.empty());
}

// The names of a chain stand in the cache as HMACs only, and come back as they were.
TEST_F(DnsLookupTest, AChainIsCachedAsHmacsOfItsSuffixes) {
  Answer answer = addresses(100s);
  answer.chain = {"cdn.evil.test", "edge.test"};
  zone_["a.test"] = answer;
  const auto facts = ask("a.test");
  ASSERT_EQ(facts->chain.size(), 2U);
  EXPECT_EQ(facts->chain[0], safety::suffix_hashes(peppers_.current.key, "cdn.evil.test"));
  ASSERT_EQ(writes_.size(), 1U);
  EXPECT_EQ(writes_[0].bytes.find("evil"), std::string::npos);
  std::vector<HostItem> items = {lookup_.item("a.test", RecordType::kA)};
  auto missing = std::vector<HostItem*>{&items[0]};
  const auto keys = lookup_.keys(missing);
  ASSERT_EQ(keys.keys().size(), 2U);
  std::vector<cache::LookupOf<cache::DnsEntry>> lookups(2);
  lookups[0].outcome = cache::LookupOf<cache::DnsEntry>::Outcome::kHit;
  lookups[0].life = 100s;
  lookups[0].entry = decoded(writes_[0]);
  lookup_.take(keys, lookups, missing);
  EXPECT_TRUE(missing.empty());
  EXPECT_EQ(*items[0].facts, *facts);
}

// What inet_ntop writes otherwise than RFC 5952 must not be refused by the cache's own rules.
TEST_F(DnsLookupTest, S09_EveryAddressCanBeCached) {
  const std::vector<std::string> texts = {"::1",        "::ffff:7f00:1",     "::7f00:1",
                                          "64:ff9b::1", "2001:db8::1:0:0:1", "1:0:2:0:3:0:4:0",
                                          "::"};
  zone_["six.test"] = addresses(50s, texts);
  const auto facts = ask("six.test", RecordType::kAaaa);
  EXPECT_EQ(facts->addresses.size(), texts.size());
  ASSERT_EQ(writes_.size(), 1U);
  EXPECT_EQ(decoded(writes_[0]).addresses.size(), texts.size());
}

TEST_F(DnsLookupTest, AChainThatNoEntryCanHoldIsUsedOnce) {
  Answer answer = addresses(100s);
  answer.chain = {""};  // the root
  zone_["root.test"] = answer;
  EXPECT_EQ(ask("root.test")->kind, DnsFacts::Kind::kAddresses);
  EXPECT_TRUE(writes_.empty());
}

TEST_F(DnsLookupTest, WhileTheResolversAreDownNobodyWaits) {
  for (const char* host : {"a.test", "b.test", "c.test", "d.test"}) {
    zone_[host] = Failure::kTimeout;
    ask(host);
  }
  EXPECT_TRUE(lookup_.health().is_down());
  queries_ = 0;
  EXPECT_EQ(ask("a.test")->failure, "dns_unreachable");
  EXPECT_EQ(queries_, 0);
  zone_["a.test"] = addresses(10s);
  clock_.advance(5s);
  EXPECT_EQ(ask("a.test")->kind, DnsFacts::Kind::kAddresses);
  EXPECT_FALSE(lookup_.health().is_down());
}

TEST_F(DnsLookupTest, OnlyWhatIsNeededIsAskedFor) {
  zone_["a.test"] = addresses(10s);
  std::vector<HostItem> items = {lookup_.item("a.test", RecordType::kA)};
  lookup_.resolve(lookup_.find_local(items), safety::Deadline::none(), &writes_);
  EXPECT_EQ(queries_, 0);
  EXPECT_EQ(items[0].facts, nullptr);
}

TEST_F(DnsLookupTest, WithoutAResolverEveryNameFails) {
  safety::DnsLookup none(peppers_, nullptr, metrics_, {}, clock_);
  std::vector<HostItem> items = {none.item("a.test", RecordType::kA)};
  items[0].is_needed = true;
  none.resolve(none.find_local(items), safety::Deadline::none(), nullptr);
  EXPECT_EQ(items[0].facts->kind, DnsFacts::Kind::kFailed);
}

}  // namespace
}  // namespace han::tests
