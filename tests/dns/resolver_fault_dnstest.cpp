// The resolver against a server that lies, is silent or goes away.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "dns/resolver.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/fake_clock.h"
#include "tests/support/lying_dns.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using dns::Answer;
using dns::Failure;
using dns::Question;
using dns::RecordType;
using dns::Resolution;
using dns::Resolver;
using std::chrono::milliseconds;
using Packets = std::vector<std::string>;

// Of questions that nobody answers; of those whose answer is late only on a busy machine; of both.
constexpr milliseconds kShort{50};
constexpr milliseconds kLong{10'000};
constexpr milliseconds kMiddle{400};

Packets one_address(const DnsQuery& query) {
  return {DnsReply(query).address(query.name, 20, "192.0.2.1").bytes()};
}

Packets silence(const DnsQuery&) { return {}; }

LyingDns::Script code(unsigned rcode) {
  return [rcode](const DnsQuery& query) { return Packets{DnsReply(query).rcode(rcode).bytes()}; };
}

Resolution ask(Resolver& resolver, const std::string& host) {
  return resolver.resolve({host, RecordType::kA}, late());
}

std::size_t failures(const Resolver& resolver, Failure failure) {
  return resolver.stats().failures[static_cast<std::size_t>(failure)];
}

// The outcome of one question to a server with this script.
Resolution outcome(LyingDns::Script script, LyingDnsOptions options = {},
                   milliseconds timeout = kLong) {
  LyingDns server(std::move(script), options);
  Resolver resolver({.servers = {server.address()}, .timeout = timeout});
  return ask(resolver, "a.test");
}

TEST(ResolverFault, S16_FailuresAreNeverAbsence) {
  EXPECT_EQ(outcome(code(2)), Resolution(Failure::kServfail));
  EXPECT_EQ(outcome(code(4)), Resolution(Failure::kServfail));
  EXPECT_EQ(outcome(code(5)), Resolution(Failure::kRefused));
  EXPECT_EQ(outcome(silence, {}, kShort), Resolution(Failure::kTimeout));
}

TEST(ResolverFault, S16_NegativeAnswersWithoutSoaAreNotCached) {
  const Resolution found = outcome(code(3));
  EXPECT_EQ(std::get<Answer>(found).kind, Answer::Kind::kNoSuchName);
  EXPECT_EQ(std::get<Answer>(found).ttl.count(), 0);
  EXPECT_EQ(std::get<Answer>(outcome(code(0))).ttl.count(), 0);
}

TEST(ResolverFault, S18_TruncationThatTcpCannotMend) {
  const auto truncated = [](const DnsQuery& query) {
    return Packets{DnsReply(query).address(query.name, 20, "192.0.2.1").truncated().bytes()};
  };
  EXPECT_EQ(outcome(truncated), Resolution(Failure::kTruncated));  // over TCP too
  EXPECT_EQ(outcome(truncated, {.has_tcp = false}), Resolution(Failure::kTruncated));
  const auto silent_tcp = [&](const DnsQuery& query) {
    return query.is_tcp ? Packets() : truncated(query);
  };
  EXPECT_EQ(outcome(silent_tcp, {}, kMiddle), Resolution(Failure::kTruncated));
}

TEST(ResolverFault, S18_ARefusedConnectionFailsNoOtherQuestion) {
  LyingDns server(
      [](const DnsQuery& query) {
        if (!query.name.starts_with("big")) return one_address(query);
        return Packets{DnsReply(query).truncated().bytes()};
      },
      {.has_tcp = false});
  server.hold();
  Resolver resolver({.servers = {server.address()}, .timeout = std::chrono::seconds(5)});
  std::vector<Question> questions;
  for (int i = 0; i < 40; ++i) {
    questions.push_back({(i % 4 == 0 ? "big" : "n") + std::to_string(i) + ".test", RecordType::kA});
  }
  std::vector<Resolution> results;
  std::jthread caller([&] { results = resolver.resolve(questions, late()); });
  ASSERT_TRUE(await([&] { return server.query_count() >= 40; }));
  server.release();
  caller.join();
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(std::holds_alternative<Answer>(results[i]), i % 4 != 0) << i;
  }
}

TEST(ResolverFault, GarbageIsMalformedAndForeignPacketsArePassedOver) {
  const auto garbage = [](const DnsQuery& query) {
    const std::string head = DnsReply(query).bytes();
    return Packets{head.substr(0, 6) + std::string("\x00\x09", 2) + head.substr(8) + "garbage"};
  };
  EXPECT_EQ(outcome(garbage), Resolution(Failure::kMalformed));
  const auto foreign = [](const DnsQuery& query) {
    const auto other = static_cast<std::uint16_t>(query.id + 1);
    return Packets{DnsReply(query).id(other).address(query.name, 9, "10.0.0.1").bytes(),
                   DnsReply(query).question("b.test").address(query.name, 9, "10.0.0.2").bytes(),
                   DnsReply(query).id(other).truncated().bytes(),
                   DnsReply(query).address(query.name, 9, "192.0.2.1").bytes()};
  };
  const Resolution found = outcome(foreign);
  EXPECT_EQ(std::get<Answer>(found).addresses.front().str(), "192.0.2.1");
}

TEST(ResolverFault, APacketThatIsNoMessageCostsNoMoreThanTheAnswer) {
  const auto noise = [](const DnsQuery& query) {
    return Packets{"x", DnsReply(query).address(query.name, 9, "192.0.2.1").bytes()};
  };
  const Resolution found = outcome(noise);
  // c-ares 1.18 passes it over; 1.34 closes the socket, and asking again meets the same.
  const auto* answer = std::get_if<Answer>(&found);
  if (answer == nullptr) {
    EXPECT_FALSE(is_permanent(std::get<Failure>(found)));
  } else {
    EXPECT_EQ(answer->addresses.front().str(), "192.0.2.1");
  }
}

TEST(ResolverFault, TheNextServerIsAskedWhenOneFails) {
  LyingDns good(one_address);
  const std::vector<LyingDns::Script> scripts = {code(2), code(5), silence};
  for (const auto& script : scripts) {
    LyingDns bad(script);
    Resolver resolver({.servers = {bad.address(), good.address()}, .timeout = kMiddle});
    EXPECT_TRUE(std::holds_alternative<Answer>(ask(resolver, "a.test")));
    EXPECT_GE(bad.query_count(), 1U);
  }
}

TEST(ResolverFault, NoServerIsUnreachableAndTheStreakSaysSo) {
  std::string gone;
  {
    const LyingDns server(silence);
    gone = server.address();
  }
  Resolver resolver({.servers = {gone}, .timeout = kLong});
  EXPECT_EQ(ask(resolver, "a.test"), Resolution(Failure::kUnreachable));
  EXPECT_EQ(ask(resolver, "b.test"), Resolution(Failure::kUnreachable));
  EXPECT_EQ(resolver.stats().silent_streak, 2U);
  EXPECT_EQ(failures(resolver, Failure::kUnreachable), 2U);

  LyingDns server(silence);
  Resolver other({.servers = {server.address()}, .timeout = kMiddle});
  EXPECT_EQ(ask(other, "a.test"), Resolution(Failure::kTimeout));
  EXPECT_EQ(other.stats().silent_streak, 1U);
  server.set_script(code(2));
  EXPECT_EQ(ask(other, "a.test"), Resolution(Failure::kServfail));
  EXPECT_EQ(other.stats().silent_streak, 0U);
}

TEST(ResolverFault, EqualQuestionsUnderWayAreAskedOnce) {
  LyingDns server(one_address);
  server.hold();
  Resolver resolver({.servers = {server.address()}, .timeout = std::chrono::seconds(30)});
  std::vector<std::jthread> callers;
  std::vector<Resolution> results(8, Resolution(Failure::kStopped));
  for (std::size_t i = 0; i < results.size(); ++i) {
    callers.emplace_back([&, i] {
      const std::vector<Question> twice(2, {"a.test", RecordType::kA});
      results[i] = resolver.resolve(twice, late()).back();
    });
  }
  ASSERT_TRUE(await([&] { return resolver.stats().questions == 16; }));
  server.release();
  callers.clear();
  for (const Resolution& result : results) EXPECT_TRUE(std::holds_alternative<Answer>(result));
  EXPECT_EQ(server.query_count(), 1U);
  EXPECT_EQ(resolver.stats().shared, 15U);
  EXPECT_EQ(resolver.stats().addresses, 1U);
}

TEST(ResolverFault, TheDeadlineIsKeptAndALaterCallerJoins) {
  LyingDns server(one_address);
  server.hold();
  Resolver resolver({.servers = {server.address()}, .timeout = std::chrono::seconds(30)});
  std::jthread first([&] { ask(resolver, "a.test"); });
  ASSERT_TRUE(await([&] { return server.query_count() == 1; }));
  EXPECT_EQ(resolver.resolve({"a.test", RecordType::kA}, in(0)), Resolution(Failure::kTimeout));
  std::jthread release([&] {
    EXPECT_TRUE(await([&] { return resolver.stats().questions == 3; }));
    server.release();
  });
  EXPECT_TRUE(std::holds_alternative<Answer>(ask(resolver, "a.test")));
  EXPECT_EQ(server.query_count(), 1U);
}

TEST(ResolverFault, QuestionsUnderWayAndWaitingAreBounded) {
  LyingDns server(one_address);
  server.hold();
  Resolver resolver({.servers = {server.address()},
                     .timeout = std::chrono::seconds(30),
                     .in_flight_max = 3,
                     .waiting_max = 2});
  std::vector<Resolution> results(5, Resolution(Failure::kStopped));
  std::vector<std::jthread> callers;
  for (std::size_t i = 0; i < results.size(); ++i) {
    callers.emplace_back([&, i] { results[i] = ask(resolver, "n" + std::to_string(i) + ".test"); });
    // The first three are under way before the others wait.
    ASSERT_TRUE(await([&] {
      const auto stats = resolver.stats();
      return stats.in_flight == std::min<std::size_t>(i + 1, 3) &&
             stats.in_flight + stats.waiting == i + 1;
    }));
  }
  EXPECT_EQ(ask(resolver, "late.test"), Resolution(Failure::kOverload));
  EXPECT_EQ(server.query_count("late.test"), 0U);
  server.release();
  callers.clear();
  for (const Resolution& result : results) EXPECT_TRUE(std::holds_alternative<Answer>(result));
  EXPECT_EQ(resolver.stats().waiting, 0U);
}

TEST(ResolverFault, AWaitingQuestionThatNobodyWantsAnyMoreIsNotAsked) {
  LyingDns server(one_address);
  server.hold();
  Resolver resolver(
      {.servers = {server.address()}, .timeout = std::chrono::seconds(30), .in_flight_max = 1});
  std::jthread caller([&] { ask(resolver, "first.test"); });
  ASSERT_TRUE(await([&] { return server.query_count() == 1; }));
  // It says nothing about the name, or about the servers.
  EXPECT_EQ(resolver.resolve({"second.test", RecordType::kA}, in(1)),
            Resolution(Failure::kOverload));
  server.release();
  caller.join();
  EXPECT_TRUE(std::holds_alternative<Answer>(ask(resolver, "third.test")));
  EXPECT_EQ(server.query_count("second.test"), 0U);
}

TEST(ResolverFault, StoppingEndsWhatIsUnderWay) {
  LyingDns server(silence);
  Resolver resolver({.servers = {server.address()}, .timeout = std::chrono::seconds(30)});
  Resolution found = Failure::kTimeout;
  std::jthread caller([&] { found = ask(resolver, "a.test"); });
  ASSERT_TRUE(await([&] { return server.query_count() == 1; }));
  resolver.stop();
  caller.join();
  EXPECT_EQ(found, Resolution(Failure::kStopped));
  EXPECT_EQ(ask(resolver, "b.test"), Resolution(Failure::kStopped));
}

TEST(ResolverFault, S20_StaleAnswersAreForFailuresOnlyAndOffByDefault) {
  LyingDns server(one_address);
  FakeClock clock;
  Resolver resolver({.servers = {server.address()},
                     .timeout = kMiddle,
                     .stale_max = std::chrono::seconds(600),
                     .clock = &clock});
  Resolver plain({.servers = {server.address()}, .timeout = kLong});
  EXPECT_TRUE(std::holds_alternative<Answer>(ask(resolver, "a.test")));
  EXPECT_TRUE(std::holds_alternative<Answer>(ask(plain, "a.test")));
  server.set_script(code(2));
  EXPECT_EQ(ask(plain, "a.test"), Resolution(Failure::kServfail));
  const Answer stale = std::get<Answer>(ask(resolver, "a.test"));
  EXPECT_TRUE(stale.is_stale);
  EXPECT_EQ(stale.ttl.count(), 0);
  EXPECT_EQ(resolver.stats().stale_served, 1U);
  EXPECT_EQ(ask(resolver, "b.test"), Resolution(Failure::kServfail));
  // NXDOMAIN is an answer, and the end of the stale one.
  server.set_script(code(3));
  EXPECT_EQ(std::get<Answer>(ask(resolver, "a.test")).kind, Answer::Kind::kNoSuchName);
  server.set_script(code(2));
  EXPECT_EQ(ask(resolver, "a.test"), Resolution(Failure::kServfail));
  // Too old.
  server.set_script(one_address);
  EXPECT_TRUE(std::holds_alternative<Answer>(ask(resolver, "a.test")));
  server.set_script(silence);
  clock.advance(std::chrono::seconds(621));
  EXPECT_EQ(ask(resolver, "a.test"), Resolution(Failure::kTimeout));
}

TEST(ResolverFault, S19_NoSearchDomainIsEverTried) {
  for (const char* search : {"search corp lan", "search .", "domain corp", "options ndots:15"}) {
    LyingDns server(code(3));
    const TempDir dir;
    std::ofstream(dir.file("resolv.conf")) << "nameserver 127.0.0.1\n" << search << "\n";
    Resolver resolver({.resolv_conf = dir.file("resolv.conf"), .resolv_conf_port = server.port()});
    ask(resolver, "a.test");
    ask(resolver, "single");
    std::vector<std::string> names;
    for (const DnsQuery& query : server.queries()) names.push_back(query.name);
    EXPECT_EQ(names, (std::vector<std::string>{"a.test", "single"})) << search;
  }
}

TEST(ResolverFault, TheServersOfResolvConfAreReadAgainWhenItChanges) {
  LyingDns server(one_address);
  const TempDir dir;
  const std::string conf = dir.file("resolv.conf");
  std::ofstream(conf) << "nameserver 127.0.0.2\n";
  Resolver resolver({.resolv_conf = conf, .resolv_conf_port = server.port(), .timeout = kLong});
  EXPECT_FALSE(std::holds_alternative<Answer>(ask(resolver, "a.test")));
  EXPECT_EQ(server.query_count(), 0U);
  std::ofstream(conf) << "# changed\nnameserver 127.0.0.1\n";
  EXPECT_TRUE(std::holds_alternative<Answer>(ask(resolver, "a.test")));
  EXPECT_EQ(resolver.stats().reloads, 1U);
  EXPECT_TRUE(std::holds_alternative<Answer>(ask(resolver, "b.test")));
  EXPECT_EQ(resolver.stats().reloads, 1U);
}

TEST(ResolverFault, S19_AResolvConfOfAnySortIsReadWhileQuestionsAreUnderWay) {
  LyingDns server(one_address);
  const TempDir dir;
  const std::string conf = dir.file("resolv.conf");
  std::string crowd = "nameserver 127.0.0.1\n";
  for (int i = 2; i < 202; ++i) crowd += "nameserver 127.0.0." + std::to_string(i) + "\n";
  const std::vector<std::string> contents = {
      "nameserver 127.0.0.1\n",
      "",  // the host itself
      crowd,
      "nameserver fe80::1%lo\nnameserver 127.0.0.1\n",
      "nameserver 127.0.0.1 # one\nnameserver\nnameserver none\nnameserver 999.0.0.1\n",
      std::string("\0\xff\n", 3) + std::string(100'000, 'x') + "\nnameserver 127.0.0.1\n",
      "nameserver 127.0.0.1\nsearch " + std::string(4'000, 's') + "\noptions timeout:9999999\n",
  };
  std::ofstream(conf) << contents[0];
  Resolver resolver(
      {.resolv_conf = conf, .resolv_conf_port = server.port(), .timeout = std::chrono::seconds(5)});
  std::vector<std::jthread> callers;
  std::vector<Resolution> results(contents.size(), Resolution(Failure::kStopped));
  server.hold();
  for (std::size_t i = 0; i < contents.size(); ++i) {
    std::ofstream(dir.file("next")) << contents[i];
    std::filesystem::rename(dir.file("next"), conf);
    callers.emplace_back([&, i] { results[i] = ask(resolver, "n" + std::to_string(i) + ".test"); });
    EXPECT_TRUE(await([&] { return server.query_count() >= i + 1; })) << i;
  }
  std::filesystem::remove(conf);
  server.release();
  callers.clear();
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_TRUE(std::holds_alternative<Answer>(results[i])) << i;
  }
  EXPECT_GE(resolver.stats().reloads, 1U);
  EXPECT_TRUE(std::holds_alternative<Answer>(ask(resolver, "later.test")));
  for (const DnsQuery& query : server.queries()) {
    EXPECT_TRUE(query.name.ends_with(".test") && query.name.find(".s") == std::string::npos);
  }
}

TEST(ResolverFault, NamesAreAskedOnTheirOwnAlongAChain) {
  LyingDns server([](const DnsQuery& query) {
    if (query.name == "a.test")
      return Packets{DnsReply(query).cname("a.test", 30, "b.test").bytes()};
    return one_address(query);
  });
  server.hold();
  Resolver resolver({.servers = {server.address()}, .timeout = std::chrono::seconds(30)});
  std::vector<Resolution> results;
  std::jthread caller([&] {
    const std::vector<Question> both = {{"a.test", RecordType::kA}, {"b.test", RecordType::kA}};
    results = resolver.resolve(both, late());
  });
  ASSERT_TRUE(await([&] { return server.query_count() == 2; }));
  server.release();
  caller.join();
  EXPECT_EQ(std::get<Answer>(results[0]).chain, (std::vector<std::string>{"b.test"}));
  EXPECT_TRUE(std::get<Answer>(results[1]).chain.empty());
}

TEST(ResolverFault, S15_TheAgeOfAnAnswerCountsFromItsFirstResponse) {
  FakeClock clock;
  std::atomic<bool> may_go_on{false};
  LyingDns server([&](const DnsQuery& query) {
    if (query.name == "chain.test") {
      return Packets{DnsReply(query).cname("chain.test", 30, "end.test").bytes()};
    }
    const bool is_late = query.name == "late.test" || query.name == "end.test";
    EXPECT_TRUE(!is_late || await([&] { return may_go_on.load(); }));
    return one_address(query);
  });
  Resolver resolver(
      {.servers = {server.address()}, .timeout = std::chrono::seconds(60), .clock = &clock});
  std::vector<Resolution> results;
  std::jthread caller([&] {
    const std::vector<Question> all = {{"early.test", RecordType::kA},
                                       {"chain.test", RecordType::kA},
                                       {"late.test", RecordType::kA}};
    results = resolver.resolve(all, late());
  });
  // The chain's end is asked for once its first response was read.
  const bool is_under_way =
      await([&] { return resolver.stats().addresses == 1 && resolver.stats().queries_sent == 4; });
  clock.advance(std::chrono::seconds(7));
  may_go_on = true;
  caller.join();
  ASSERT_TRUE(is_under_way);
  EXPECT_EQ(std::get<Answer>(results[0]).age, std::chrono::seconds(7));
  EXPECT_EQ(std::get<Answer>(results[1]).age, std::chrono::seconds(7));
  EXPECT_EQ(std::get<Answer>(results[2]).age, std::chrono::seconds(0));
}

// A clock that stops whoever reads it first.
class StoppingClock : public FakeClock {
 public:
  SteadyTime now() const override {
    if (!is_read_.exchange(true) && at_first_read) at_first_read();
    return FakeClock::now();
  }

  std::function<void()> at_first_read;

 private:
  mutable std::atomic<bool> is_read_{false};
};

// Both answers wait to be read when the resolver is told to stop; the second leads to another name,
// which is not asked for any more.
TEST(ResolverFault, StoppingEndsAChainThatWasAboutToGoOn) {
  LyingDns server([](const DnsQuery& query) {
    if (query.name == "a.test") return one_address(query);
    return Packets{DnsReply(query).cname(query.name, 30, "end.test").bytes()};
  });
  StoppingClock clock;
  Resolver resolver(
      {.servers = {server.address()}, .timeout = std::chrono::seconds(60), .clock = &clock});
  std::jthread stopper;
  clock.at_first_read = [&] {
    stopper = std::jthread([&] { resolver.stop(); });
    // What is no host is told so as long as the resolver runs.
    EXPECT_TRUE(await([&] {
      return resolver.resolve({"no host", RecordType::kA}, in(0)) == Resolution(Failure::kStopped);
    }));
  };
  server.hold();
  std::vector<Resolution> results;
  std::jthread caller([&] {
    const std::vector<Question> both = {{"a.test", RecordType::kA}, {"b.test", RecordType::kA}};
    results = resolver.resolve(both, in(20'000));
  });
  ASSERT_TRUE(await([&] { return server.query_count() == 2; }));
  server.release();
  caller.join();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Answer>(results[0]));
  EXPECT_EQ(results[1], Resolution(Failure::kStopped));
  EXPECT_EQ(resolver.stats().in_flight, 0U);
}

// Lengths and messages over TCP that are none; there is always an end, and never an answer.
TEST(ResolverFault, S18_LiesOverTcpAreNoAnswer) {
  const std::vector<std::function<Packets(const DnsQuery&)>> lies = {
      [](const DnsQuery&) { return Packets(200, ""); },
      [](const DnsQuery&) { return Packets{"x"}; },
      [](const DnsQuery& query) { return Packets{DnsReply(query).bytes().substr(0, 11)}; },
      [](const DnsQuery& query) {
        return Packets{DnsReply(query).id(1).address(query.name, 9, "192.0.2.1").bytes()};
      },
      [](const DnsQuery& query) {
        return Packets{DnsReply(query).question("b.test").address("b.test", 9, "8.8.8.8").bytes()};
      },
      [](const DnsQuery& query) {
        DnsReply reply(query);
        for (int i = 0; i < 3'000; ++i) {
          reply.address(query.name, 9,
                        "8.8." + std::to_string(i / 250) + '.' + std::to_string(i % 250));
        }
        return Packets{reply.bytes()};
      },
  };
  for (std::size_t i = 0; i < lies.size(); ++i) {
    const Resolution found = outcome([&](const DnsQuery& query) {
      return query.is_tcp ? lies[i](query) : Packets{DnsReply(query).truncated().bytes()};
    });
    EXPECT_TRUE(std::holds_alternative<Failure>(found)) << i;
  }
}

}  // namespace
}  // namespace han::tests
