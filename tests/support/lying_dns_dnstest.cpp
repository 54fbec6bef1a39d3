#include <gtest/gtest.h>

#include <thread>
#include <variant>

#include "dns/resolver.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/lying_dns.h"

namespace han::tests {
namespace {

using dns::Answer;
using dns::RecordType;
using dns::Resolver;

std::vector<std::string> one_address(const DnsQuery& query) {
  return {DnsReply(query).address(query.name, 20, "192.0.2.1").bytes()};
}

TEST(LyingDns, AnswersByItsScriptAndRemembersTheQueries) {
  LyingDns server(one_address);
  Resolver resolver({.servers = {server.address()}});
  const auto first = resolver.resolve({"a.test", RecordType::kA}, late());
  EXPECT_EQ(std::get<Answer>(first).addresses.front().str(), "192.0.2.1");
  server.set_script([](const DnsQuery& query) {
    return std::vector<std::string>{DnsReply(query).rcode(3).soa("test", 5, 5).bytes()};
  });
  const auto second = resolver.resolve({"b.test", RecordType::kAaaa}, late());
  EXPECT_EQ(std::get<Answer>(second).kind, Answer::Kind::kNoSuchName);
  ASSERT_EQ(server.query_count(), 2U);
  EXPECT_EQ(server.query_count("a.test"), 1U);
  EXPECT_EQ(server.queries()[1].type, kDnsAaaa);
  EXPECT_FALSE(server.queries()[1].is_tcp);
}

TEST(LyingDns, HoldsAnswersBackUntilTheyAreReleased) {
  LyingDns server(one_address);
  server.hold();
  Resolver resolver({.servers = {server.address()}, .timeout = std::chrono::seconds(30)});
  dns::Resolution found = dns::Failure::kStopped;
  std::jthread caller([&] { found = resolver.resolve({"a.test", RecordType::kA}, late()); });
  ASSERT_TRUE(await([&] { return server.query_count() == 1; }));
  EXPECT_EQ(resolver.stats().addresses, 0U);
  server.release();
  caller.join();
  EXPECT_TRUE(std::holds_alternative<Answer>(found));
}

TEST(LyingDns, SpeaksTcpToo) {
  LyingDns server([](const DnsQuery& query) {
    DnsReply reply(query);
    if (query.is_tcp) return std::vector<std::string>{reply.address("a.test", 1, "::1").bytes()};
    return std::vector<std::string>{reply.truncated().bytes()};
  });
  Resolver resolver({.servers = {server.address()}});
  const auto found = resolver.resolve({"a.test", RecordType::kAaaa}, late());
  EXPECT_EQ(std::get<Answer>(found).addresses.size(), 1U);
  ASSERT_EQ(server.query_count(), 2U);
  EXPECT_TRUE(server.queries()[1].is_tcp);
}

}  // namespace
}  // namespace han::tests
