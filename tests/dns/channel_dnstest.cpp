#include <gtest/gtest.h>
#include <poll.h>

#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "dns/channel.h"
#include "tests/support/lying_dns.h"

namespace han::tests {
namespace {

using dns::Channel;
using dns::ChannelTraffic;
using dns::Failure;
using dns::Question;
using dns::RecordType;

// What each question was replied: "answer" or the failure's word.
using Replies = std::map<std::string, std::string>;

Channel::OnReply into(Replies& replies) {
  return [&replies](const Question& question, const Channel::Reply& reply) {
    const auto* failure = std::get_if<Failure>(&reply);
    replies[question.host] = failure == nullptr ? "answer" : std::string(to_string(*failure));
  };
}

void run(Channel& channel) {
  while (!channel.is_idle()) {
    std::vector<pollfd> items;
    channel.add_poll_items(items);
    const auto left = channel.time_left();
    ::poll(items.data(), items.size(), left ? static_cast<int>(left->count()) : -1);
    channel.process(items);
  }
}

TEST(Channel, RepliesToEachQuestionOnce) {
  LyingDns server([](const DnsQuery& query) {
    return std::vector<std::string>{DnsReply(query).address(query.name, 5, "192.0.2.1").bytes()};
  });
  Replies replies;
  ChannelTraffic traffic;
  Channel channel({.servers = {server.address()}}, traffic, into(replies));
  for (int i = 0; i < 100; ++i) {
    channel.ask({"n" + std::to_string(i) + ".test", RecordType::kA});
  }
  EXPECT_FALSE(channel.is_idle());
  run(channel);
  EXPECT_EQ(replies.size(), 100U);
  EXPECT_EQ(replies["n7.test"], "answer");
  EXPECT_EQ(traffic.queries_sent, 100U);
  EXPECT_EQ(server.query_count(), 100U);
}

TEST(Channel, SaysWhyThereIsNoAnswer) {
  LyingDns server(
      [](const DnsQuery& query) -> std::vector<std::string> {
        if (query.name == "servfail.test") return {DnsReply(query).rcode(2).bytes()};
        if (query.name == "notimp.test") return {DnsReply(query).rcode(4).bytes()};
        if (query.name == "refused.test") return {DnsReply(query).rcode(5).bytes()};
        if (query.name == "truncated.test") return {DnsReply(query).truncated().bytes()};
        return {};
      },
      {.has_tcp = false});
  Replies replies;
  ChannelTraffic traffic;
  Channel channel({.servers = {server.address()}, .timeout = std::chrono::milliseconds(50)},
                  traffic, into(replies));
  for (const char* name : {"servfail", "notimp", "refused", "truncated", "silent"}) {
    channel.ask({std::string(name) + ".test", RecordType::kA});
  }
  run(channel);
  EXPECT_EQ(replies, (Replies{{"servfail.test", "dns_servfail"},
                              {"notimp.test", "dns_servfail"},
                              {"refused.test", "dns_refused"},
                              {"truncated.test", "dns_truncated"},
                              {"silent.test", "dns_timeout"}}));
  EXPECT_GE(traffic.tcp_connections, 1U);
}

TEST(Channel, QuestionsUnderWayAreStoppedAtTheEnd) {
  LyingDns server([](const DnsQuery&) { return std::vector<std::string>(); });
  Replies replies;
  ChannelTraffic traffic;
  {
    Channel channel({.servers = {server.address()}}, traffic, into(replies));
    channel.ask({"a.test", RecordType::kA});
  }
  EXPECT_EQ(replies, (Replies{{"a.test", "dns_stopped"}}));
}

TEST(Channel, TakesServersInEachFormAndRefusesOthers) {
  ChannelTraffic traffic;
  const auto make = [&](const std::string& server) {
    const Channel channel({.servers = {server}}, traffic, [](const auto&, const auto&) {});
  };
  for (const char* good : {"192.0.2.1", "192.0.2.1:5353", "2001:db8::1", "[2001:db8::1]",
                           "[2001:db8::1]:5353", "::1"}) {
    EXPECT_NO_THROW(make(good)) << good;
  }
  for (const char* bad :
       {"", "dns.test", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2.1:5x", "[::1",
        "[::1]x", "[::1]:", "[192.0.2.1]:53", "192.0.2.1,192.0.2.2", "192.0.2.1:53:53", "[]:53"}) {
    EXPECT_THROW(make(bad), std::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace han::tests
