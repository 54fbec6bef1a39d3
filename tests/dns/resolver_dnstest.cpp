// The resolver against a real name server (NSD).
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "dns/address_class.h"
#include "dns/resolver.h"
#include "tests/support/deadlines.h"
#include "tests/support/nsd_server.h"

namespace han::tests {
namespace {

using dns::Answer;
using dns::Failure;
using dns::Question;
using dns::RecordType;
using dns::Resolution;
using dns::Resolver;
using Kind = Answer::Kind;

std::string zone_records() {
  std::ostringstream out;
  out << "plain 60 IN A 192.0.2.1\n"
      << "plain 60 IN AAAA 2001:db8::1\n"
      << "v6only 60 IN AAAA 2001:db8::2\n"
      << "mixed 60 IN A 8.8.8.8\nmixed 60 IN A 10.0.0.1\n"
      << "zero 0 IN A 192.0.2.1\n"
      << "long 5000 IN A 192.0.2.1\n"
      << "alias 20 IN CNAME far\nfar 3600 IN A 192.0.2.2\n"
      << "dangling 20 IN CNAME nowhere\n"
      << "across 25 IN CNAME there.other.\n"
      << "looped 60 IN CNAME looped2\nlooped2 60 IN CNAME looped\n"
      << "*.wild 60 IN A 192.0.2.3\n"
      << "xn--80ak6aa92e 60 IN A 192.0.2.4\n";
  for (int i = 0; i < 11; ++i) out << "c" << i << " 60 IN CNAME c" << i + 1 << "\n";
  out << "c11 60 IN A 192.0.2.5\nlongest 60 IN CNAME c0\n";
  for (int i = 0; i < 120; ++i) out << "many 60 IN A 192.0.2." << i << "\n";
  for (int i = 0; i < 4000; ++i) {
    out << "crowd 60 IN A 198.18." << i / 256 << "." << i % 256 << "\n";
  }
  return out.str();
}

class ResolverTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_server =
        new NsdServer({{"test", zone_records()}, {"other", "there 3600 IN A 192.0.2.6\n"}});
  }
  static void TearDownTestSuite() {
    delete shared_server;
    shared_server = nullptr;
  }

  Resolution ask(const std::string& host, RecordType type = RecordType::kA) {
    return resolver_.resolve({host, type}, late());
  }
  Answer answer(const std::string& host, RecordType type = RecordType::kA) {
    return std::get<Answer>(ask(host, type));
  }

  static NsdServer* shared_server;
  Resolver resolver_{{.servers = {shared_server->address()}}};
};

NsdServer* ResolverTest::shared_server = nullptr;

TEST_F(ResolverTest, GivesTheAddressesOfEachType) {
  const Answer small = answer("plain.test");
  EXPECT_EQ(small.kind, Kind::kAddresses);
  EXPECT_EQ(small.addresses, (std::vector{*safety::IpAddress::parse("192.0.2.1")}));
  EXPECT_EQ(small.ttl.count(), 60);
  EXPECT_FALSE(small.is_stale);
  EXPECT_EQ(answer("plain.test", RecordType::kAaaa).addresses.front().str(), "2001:db8::1");
  EXPECT_EQ(answer("x.y.wild.test").addresses.front().str(), "192.0.2.3");
  EXPECT_EQ(answer("xn--80ak6aa92e.test").addresses.front().str(), "192.0.2.4");
}

TEST_F(ResolverTest, S14_EveryAddressOfTheSetIsGiven) {
  const Answer found = answer("mixed.test");
  ASSERT_EQ(found.addresses.size(), 2U);
  EXPECT_TRUE(std::any_of(found.addresses.begin(), found.addresses.end(),
                          [](const auto& address) { return !dns::classify(address).is_global; }));
}

TEST_F(ResolverTest, S15_TtlZeroIsNotCachedAndAskedForEachTime) {
  EXPECT_EQ(answer("zero.test").ttl.count(), 0);
  const auto sent = resolver_.stats().queries_sent;
  EXPECT_EQ(answer("zero.test").ttl.count(), 0);
  EXPECT_EQ(resolver_.stats().queries_sent, sent + 1);
}

TEST_F(ResolverTest, S16_NegativeAnswersLiveByTheSoa) {
  const Answer no_data = answer("v6only.test");
  EXPECT_EQ(no_data.kind, Kind::kNoData);
  EXPECT_EQ(no_data.ttl.count(), 30);
  const Answer absent = answer("absent.test");
  EXPECT_EQ(absent.kind, Kind::kNoSuchName);
  EXPECT_EQ(absent.ttl.count(), 30);
}

TEST_F(ResolverTest, S16_ARefusalIsNoAbsence) {
  EXPECT_EQ(ask("a.foreign"), Resolution(Failure::kRefused));
}

TEST_F(ResolverTest, S17_TheTtlIsTheLeastOfChainAndSetAtMost900) {
  const Answer found = answer("alias.test");
  EXPECT_EQ(found.ttl.count(), 20);
  EXPECT_EQ(found.chain, (std::vector<std::string>{"far.test"}));
  EXPECT_EQ(resolver_.stats().ttl_capped, 0U);
  EXPECT_EQ(answer("long.test").ttl.count(), 900);
  EXPECT_EQ(resolver_.stats().ttl_capped, 1U);  // covers 000-M11
}

TEST_F(ResolverTest, S17_NxdomainBehindACnameIsAnAnswer) {
  const Answer found = answer("dangling.test");
  EXPECT_EQ(found.kind, Kind::kNoSuchName);
  EXPECT_EQ(found.chain, (std::vector<std::string>{"nowhere.test"}));
  EXPECT_EQ(found.ttl.count(), 20);
}

TEST_F(ResolverTest, ACnameIntoAnotherZoneIsFollowed) {
  const Answer found = answer("across.test");
  EXPECT_EQ(found.addresses.front().str(), "192.0.2.6");
  EXPECT_EQ(found.chain, (std::vector<std::string>{"there.other"}));
  EXPECT_EQ(found.ttl.count(), 25);
}

TEST_F(ResolverTest, S17_LongChainsAndLoopsAreFailuresEachTime) {
  const Answer longest = answer("c0.test");
  EXPECT_EQ(longest.chain.size(), 11U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ask("longest.test"), Resolution(Failure::kChain));
    EXPECT_EQ(ask("looped.test"), Resolution(Failure::kLoop));
  }
}

TEST_F(ResolverTest, S18_ATruncatedAnswerIsAskedForAgainOverTcp) {
  EXPECT_EQ(answer("many.test").addresses.size(), 120U);
  EXPECT_EQ(resolver_.stats().tcp_connections, 1U);
}

TEST_F(ResolverTest, S18_MoreAddressesThanTheLimitAreAFailure) {
  EXPECT_EQ(ask("crowd.test"), Resolution(Failure::kLimit));
  Resolver large({.servers = {shared_server->address()}, .answers_max = 4000});
  const auto found = large.resolve({"crowd.test", RecordType::kA}, late());
  EXPECT_EQ(std::get<Answer>(found).addresses.size(), 4000U);
}

TEST_F(ResolverTest, ABatchKeepsItsOrderAndAsksEqualQuestionsOnce) {
  std::vector<Question> questions;
  for (int i = 0; i < 300; ++i) {
    questions.push_back({i % 3 == 0 ? "plain.test" : "n" + std::to_string(i) + ".wild.test",
                         i % 2 == 0 ? RecordType::kA : RecordType::kAaaa});
  }
  questions.push_back({"No Host", RecordType::kA});
  const auto results = resolver_.resolve(questions, late());
  ASSERT_EQ(results.size(), questions.size());
  for (std::size_t i = 0; i < 300; ++i) {
    const Answer& found = std::get<Answer>(results[i]);
    const bool has_addresses = i % 2 == 0 || i % 3 == 0;
    EXPECT_EQ(found.kind, has_addresses ? Kind::kAddresses : Kind::kNoData) << i;
  }
  EXPECT_EQ(results.back(), Resolution(Failure::kMalformed));
  const auto stats = resolver_.stats();
  EXPECT_EQ(stats.questions, 301U);
  EXPECT_EQ(stats.shared, 98U);
  EXPECT_EQ(stats.queries_sent, 202U);
  EXPECT_EQ(stats.in_flight + stats.waiting, 0U);
}

// Threads of this process that would take a SIGTERM.
std::size_t takers_of_sigterm() {
  std::size_t takers = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("SigBlk:", 0) != 0) continue;
      const auto blocked = std::stoull(line.substr(7), nullptr, 16);
      takers += (blocked >> (SIGTERM - 1) & 1) == 0 ? 1 : 0;
    }
  }
  return takers;
}

// Else a process that waits for its signals on a thread of its own would miss them.
TEST(ResolverThread, TakesNoSignalOfTheProcess) {
  const std::size_t before = takers_of_sigterm();
  const Resolver resolver({.servers = {"127.0.0.1:9"}});
  EXPECT_EQ(takers_of_sigterm(), before);
}

}  // namespace
}  // namespace han::tests
