#include "safety/worker/link_lookup.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/safety/worker/lookup_fixture.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using safety::Decision;
using safety::LinkItem;
using Lookup = cache::LookupOf<cache::LinkEntry>;

class LinkLookupTest : public LookupFixture {
 protected:
  std::vector<LinkItem> items(const std::vector<std::string>& urls) const {
    std::vector<LinkItem> made;
    for (const std::string& url : urls) made.push_back(lookup_.item(url));
    return made;
  }

  safety::LinkLookup lookup_{peppers_, metrics_, {}};
};

TEST_F(LinkLookupTest, OneFetchIdentityIsOneSubject) {
  const auto same = items({"http://EXAMPLE.com/a#x", "http://example.com:80/a#y"});
  EXPECT_EQ(same[0].hash, same[1].hash);
  const auto other = items({"http://user@example.com/a", "http://example.com/b"});
  EXPECT_NE(other[0].hash, same[0].hash);
  EXPECT_NE(other[1].hash, same[0].hash);
}

TEST_F(LinkLookupTest, TheStablePartIsKeptOnceItIsCommittedAndNotBefore) {
  auto links = items({"http://example.com/", "http://127.0.0.1/", "http://a b/"});
  auto missing = lookup_.find_local(links, snapshot_);
  ASSERT_EQ(missing.size(), 3U);
  lookup_.compute(missing, snapshot_);
  EXPECT_TRUE(links[0].found->evidence.needs_dns);
  EXPECT_EQ(links[1].found->evidence.decision, Decision::kBlock);
  EXPECT_FALSE(links[1].found->evidence.needs_dns);
  EXPECT_EQ(links[2].found->evidence.decision, Decision::kBlock);
  EXPECT_EQ(links[2].found->evidence.hits, (std::vector<std::string>{"link.invalid"}));
  auto again = items({"http://example.com/"});
  EXPECT_EQ(lookup_.find_local(again, snapshot_).size(), 1U);
  std::vector<cache::WriteOf<cache::LinkEntry>> writes;
  lookup_.remember(std::vector<LinkItem*>{&links[0], &links[1]}, std::vector<LinkItem*>{&links[1]},
                   snapshot_, &writes);
  EXPECT_EQ(writes.size(), 2U);
  auto third = items({"http://example.com/", "http://127.0.0.1/"});
  EXPECT_TRUE(lookup_.find_local(third, snapshot_).empty());
  EXPECT_FALSE(third[0].found->is_committed);
  EXPECT_TRUE(third[1].found->is_committed);
  EXPECT_TRUE(third[0].is_in_redis);
}

// What was found in a text has no row; once it is a task of its own it gets one.
TEST_F(LinkLookupTest, ALinkOfATextIsNotCommitted) {
  auto found = items({"http://example.com/"});
  lookup_.compute(lookup_.find_local(found, snapshot_), snapshot_);
  lookup_.remember(std::vector<LinkItem*>{&found[0]}, {}, snapshot_, nullptr);
  auto task = items({"http://example.com/"});
  task[0].is_task = true;
  EXPECT_TRUE(lookup_.find_local(task, snapshot_).empty());
  EXPECT_FALSE(task[0].found->is_committed);
  // Committed with a text, and not as a task.
  lookup_.remember(std::vector<LinkItem*>{&task[0]}, {}, snapshot_, nullptr);
  EXPECT_TRUE(lookup_.find_local(task, snapshot_).empty());
  EXPECT_FALSE(task[0].found->is_committed);
  lookup_.remember(std::vector<LinkItem*>{&task[0]}, std::vector<LinkItem*>{&task[0]}, snapshot_,
                   nullptr);
  auto later = items({"http://example.com/"});
  EXPECT_TRUE(lookup_.find_local(later, snapshot_).empty());
  EXPECT_TRUE(later[0].found->is_committed);
}

TEST_F(LinkLookupTest, RedisIsBelievedUnderEitherPepperAndOnlyWithItsSeal) {
  auto links = items({"http://a.test/", "http://b.test/", "http://c.test/"});
  auto missing = lookup_.find_local(links, snapshot_);
  const auto keys = lookup_.keys(missing, snapshot_);
  ASSERT_EQ(keys.keys().size(), 6U);
  std::vector<Lookup> lookups(6);
  const auto put = [&](std::size_t at, const safety::Pepper& pepper, bool is_sealed) {
    cache::LinkEntry entry{.subject = keys.keys()[at].url_hash(),
                           .rules_version = snapshot_.rules_version(),
                           .config_version = snapshot_.config_version(),
                           .decision = cache::CachedDecision::kMonitor,
                           .reason = "rule",
                           .hits = {"link.userinfo"}};
    lookups[at].bytes = cache::seal_entry(entry, pepper);
    if (!is_sealed) entry.mac = std::string(64, 'f');
    lookups[at].outcome = Lookup::Outcome::kHit;
    lookups[at].entry = entry;
  };
  put(0, peppers_.current, true);
  put(3, *peppers_.previous, true);
  put(4, peppers_.current, false);
  lookup_.take(keys, lookups, missing, snapshot_);
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0], &links[2]);
  EXPECT_EQ(links[0].found->evidence.decision, Decision::kMonitor);
  EXPECT_TRUE(links[0].is_in_redis);
  EXPECT_EQ(links[1].layer, safety::Layer::kRedis);
  EXPECT_FALSE(links[1].is_in_redis);  // written anew under the current pepper
  const std::vector<std::string> ids = {"p1"};
  EXPECT_EQ(cache::decode_entry(links[1].found->bytes, keys.keys()[2], ids).outcome,
            cache::DecodeOutcome::kEntry);
}

}  // namespace
}  // namespace han::tests
