#include <gtest/gtest.h>

#include <array>

#include "safety/apps/ctl/failure.h"
#include "safety/apps/ctl/host_facts.h"
#include "safety/apps/ctl/pepper_file.h"
#include "tests/apps/ctl/small_zone.h"

namespace han::tests {
namespace {

using safety::DnsFacts;

class HostFacts : public ::testing::Test {
 protected:
  std::vector<safety::HostFacts> resolve(std::vector<std::string> hosts) {
    return source_.resolve(hosts);
  }

  SmallZone zone_;
  std::shared_ptr<const safety::PepperSet> peppers_ =
      std::make_shared<const safety::PepperSet>(safety::random_peppers());
  safety::HostFactsSource source_{{zone_.server().address()}, peppers_};
};

TEST_F(HostFacts, AsksBothTypesOfEachHost) {
  const auto facts = resolve({"broken.example.com", "gone.example.com", "plain.example.com"});
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[0].a.failure, "dns_servfail");
  EXPECT_EQ(facts[0].aaaa.kind, DnsFacts::Kind::kFailed);
  EXPECT_EQ(facts[1].a.kind, DnsFacts::Kind::kNoSuchName);
  EXPECT_EQ(facts[2].a.kind, DnsFacts::Kind::kAddresses);
  EXPECT_EQ(facts[2].aaaa.kind, DnsFacts::Kind::kNoData);
  ASSERT_EQ(facts[2].a.chain.size(), 1U);
  EXPECT_EQ(facts[2].a.chain[0], suffix_hashes(peppers_->current.key, "cdn.example.net"));
}

TEST_F(HostFacts, AnAnswerIsKeptForItsTimeAndAFailureIsNot) {
  for (int i = 0; i < 3; ++i) resolve({"broken.example.com", "plain.example.com"});
  EXPECT_EQ(zone_.server().query_count("plain.example.com"), 2U);
  EXPECT_GE(zone_.server().query_count("broken.example.com"), 6U);
  ASSERT_NE(source_.answers("plain.example.com"), nullptr);
  EXPECT_EQ(std::get<dns::Answer>(source_.answers("plain.example.com")->a).ttl,
            std::chrono::seconds(20));
  EXPECT_EQ(source_.answers("other.example.com"), nullptr);
}

TEST_F(HostFacts, MoreHostsThanAreAskedAboutAtOnceAreAllAnswered) {
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < 2 * safety::HostFactsSource::kHostsAsked + 1; ++i) {
    hosts.push_back("h" + std::to_string(1000 + i) + ".example.com");
  }
  const auto facts = resolve(hosts);
  ASSERT_EQ(facts.size(), hosts.size());
  for (const auto& one : facts) {
    EXPECT_EQ(one.a.kind, DnsFacts::Kind::kNoSuchName);
    EXPECT_EQ(one.aaaa.kind, DnsFacts::Kind::kNoSuchName);
  }
}

TEST_F(HostFacts, AServerThatIsNoneIsAUsageError) {
  EXPECT_THROW(safety::HostFactsSource({"no server"}, peppers_), safety::Failure);
}

}  // namespace
}  // namespace han::tests
