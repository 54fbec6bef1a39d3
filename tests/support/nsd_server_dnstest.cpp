#include <gtest/gtest.h>

#include <variant>

#include "dns/resolver.h"
#include "tests/support/deadlines.h"
#include "tests/support/nsd_server.h"

namespace han::tests {
namespace {

using dns::Answer;
using dns::RecordType;
using dns::Resolver;

dns::Resolution ask(const NsdServer& server, const std::string& host) {
  Resolver resolver({.servers = {server.address()}, .timeout = std::chrono::seconds(1)});
  auto resolution = resolver.resolve({host, RecordType::kA}, late());
  // How long an answer took is none of its content.
  if (auto* answer = std::get_if<Answer>(&resolution)) answer->age = {};
  return resolution;
}

TEST(NsdServer, AnswersFromItsZonesStopsAndStartsAgain) {
  NsdServer server({{"test", "a 20 IN A 192.0.2.1\n"}, {"other", "b 20 IN A 192.0.2.2\n"}});
  const auto answer = std::get<Answer>(ask(server, "a.test"));
  EXPECT_EQ(answer.addresses.front().str(), "192.0.2.1");
  EXPECT_EQ(std::get<Answer>(ask(server, "b.other")).addresses.size(), 1U);
  server.stop();
  EXPECT_EQ(ask(server, "a.test"), dns::Resolution(dns::Failure::kUnreachable));
  server.start();
  EXPECT_EQ(ask(server, "a.test"), dns::Resolution(answer));
  server.pause();
  EXPECT_EQ(ask(server, "a.test"), dns::Resolution(dns::Failure::kTimeout));
  server.resume();
  EXPECT_EQ(ask(server, "a.test"), dns::Resolution(answer));
}

}  // namespace
}  // namespace han::tests
