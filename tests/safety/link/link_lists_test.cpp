#include "safety/link/link_lists.h"

#include <gtest/gtest.h>

#include "safety/base/digest.h"
#include "tests/safety/link/list_entries.h"

namespace han::tests {
namespace {

using safety::EntryTag;
using safety::IpAddress;
using safety::LinkLists;
using safety::LinkNames;
using safety::ListMatch;
using safety::RuleAction;
using safety::RuleMode;

constexpr RuleAction kBlock = RuleAction::kBlock;
constexpr RuleAction kMonitor = RuleAction::kMonitor;
constexpr RuleAction kLift = RuleAction::kLift;

// "id" of each hit, most specific first; those that decide with a '!'.
std::string hits_of(const ListMatch& match) {
  std::string out;
  for (const safety::ListHit& hit : match.hits) {
    out.append(out.empty() ? "" : " ").append(hit.id).append(hit.decides ? "!" : "");
  }
  return out;
}

std::string host_hits(const LinkLists& lists, std::string_view host,
                      const std::vector<std::string_view>& expressions = {}) {
  return hits_of(lists.match({host, expressions, std::nullopt}));
}

std::string address_hits(const LinkLists& lists, std::string_view address) {
  return hits_of(lists.match_address(*IpAddress::parse(address)));
}

std::string hash_of(std::string_view expression, std::size_t bytes) {
  const safety::Digest digest = safety::sha256(expression);
  return std::string(digest.begin(), digest.begin() + static_cast<long>(bytes));
}

TEST(LinkLists, NothingHitsEmptyLists) {
  const LinkLists lists;
  EXPECT_EQ(host_hits(lists, "a.test", {"a.test/"}), "");
  EXPECT_EQ(host_hits(lists, ""), "");
  EXPECT_EQ(address_hits(lists, "10.0.0.1"), "");
}

TEST(LinkLists, AHostIsOneHostAndASuffixIsAllBelow) {
  ListEntries entries;
  entries.list("host", kBlock).add(EntryTag::kHost, "a.test");
  entries.list("suffix", kBlock).add(EntryTag::kSuffix, "b.test");
  entries.list("below", kBlock).add(EntryTag::kBelow, "c.test");
  const LinkLists lists = entries.finish();
  EXPECT_EQ(host_hits(lists, "a.test"), "host!");
  EXPECT_EQ(host_hits(lists, "x.a.test"), "");
  EXPECT_EQ(host_hits(lists, "b.test"), "suffix!");
  EXPECT_EQ(host_hits(lists, "x.y.b.test"), "suffix!");
  EXPECT_EQ(host_hits(lists, "xb.test"), "");
  EXPECT_EQ(host_hits(lists, "c.test"), "");
  EXPECT_EQ(host_hits(lists, "x.c.test"), "below!");
  EXPECT_EQ(host_hits(lists, "test"), "");
}

TEST(LinkLists, PathsAndHashesAreTheKeysExpressions) {
  ListEntries entries;
  entries.list("path", kBlock).add(EntryTag::kPath, "a.test/x/");
  entries.list("hash4", kMonitor).add(EntryTag::kHash, hash_of("a.test/x/", 4));
  entries.list("hash32", kBlock).add(EntryTag::kHash, hash_of("b.test/", 32));
  const LinkLists lists = entries.finish();
  EXPECT_EQ(host_hits(lists, "a.test", {"a.test/x/y", "a.test/x/", "a.test/"}), "path! hash4!");
  EXPECT_EQ(host_hits(lists, "b.test", {"b.test/"}), "hash32!");
  EXPECT_EQ(host_hits(lists, "c.test", {"c.test/"}), "");
  // No more expressions than a key has are looked at.
  const std::vector<std::string_view> many(31, "c.test/");
  std::vector<std::string_view> late = many;
  late[30] = "b.test/";
  EXPECT_EQ(host_hits(lists, "c.test", late), "");
  late[29] = "b.test/";
  EXPECT_EQ(host_hits(lists, "c.test", late), "hash32!");
}

TEST(LinkLists, TheLongestNetworkDecidesForAnAddress) {
  ListEntries entries;
  entries.list("wide", kBlock).network("10.0.0.0/8");
  entries.list("narrow", kLift).network("10.1.0.0/16");
  entries.list("odd", kMonitor).network("10.1.2.128/25");
  entries.list("six", kBlock).network("2001:db8::/33");
  entries.list("one", kBlock).network("2001:db8::1");
  const LinkLists lists = entries.finish();
  EXPECT_EQ(address_hits(lists, "10.200.0.1"), "wide!");
  EXPECT_EQ(address_hits(lists, "10.1.2.3"), "narrow! wide");
  EXPECT_EQ(address_hits(lists, "10.1.2.129"), "odd! narrow wide");
  EXPECT_EQ(address_hits(lists, "11.0.0.1"), "");
  EXPECT_EQ(address_hits(lists, "2001:db8::1"), "one! six");
  EXPECT_EQ(address_hits(lists, "2001:db8:8000::1"), "");
  // A host that is an address is asked about in both ways, and has no suffixes.
  ListEntries hosts;
  hosts.list("host", kMonitor).add(EntryTag::kHost, "10.0.0.1");
  hosts.list("suffix", kBlock).add(EntryTag::kSuffix, "0.0.1");
  hosts.list("wide", kBlock).network("10.0.0.0/8");
  const LinkLists both = hosts.finish();
  EXPECT_EQ(hits_of(both.match({"10.0.0.1", {}, IpAddress::parse("10.0.0.1")})), "host! wide");
}

struct Level {
  const char* id;
  EntryTag tag;
  const char* name;
};

// The written precedence: each level beats all those after it, whatever both of them say.
TEST(LinkLists, TheMostSpecificEntryDecides) {
  const std::vector<Level> levels = {
      {"page", EntryTag::kPath, "a.b.test/x/y?q"}, {"folder", EntryTag::kPath, "a.b.test/x/"},
      {"above", EntryTag::kPath, "b.test/x/"},     {"host", EntryTag::kHost, "a.b.test"},
      {"sub", EntryTag::kSuffix, "a.b.test"},      {"site", EntryTag::kSuffix, "b.test"}};
  const std::vector<std::string_view> expressions = {"a.b.test/x/y?q", "a.b.test/x/", "a.b.test/",
                                                     "b.test/x/", "b.test/"};
  for (std::size_t strong = 0; strong < levels.size(); ++strong) {
    for (std::size_t weak = strong + 1; weak < levels.size(); ++weak) {
      for (const auto& [first, second] :
           {std::pair(kLift, kBlock), std::pair(kBlock, kLift), std::pair(kMonitor, kBlock)}) {
        ListEntries entries;
        // Made in the wrong order and with ids that sort the wrong way round.
        entries.list("a", second).add(levels[weak].tag, levels[weak].name);
        entries.list("b", first).add(levels[strong].tag, levels[strong].name);
        const LinkLists lists = entries.finish();
        const ListMatch match = lists.match({"a.b.test", expressions, std::nullopt});
        EXPECT_EQ(hits_of(match), "b! a") << levels[strong].id << " over " << levels[weak].id;
        EXPECT_EQ(match.is_lifted(), first == kLift);
      }
    }
  }
}

TEST(LinkLists, AnExpressionOfAWholeHostCountsAsItsSuffix) {
  ListEntries entries;
  entries.list("whole", kBlock).add(EntryTag::kPath, "b.test/");
  entries.list("hash", kBlock).add(EntryTag::kHash, hash_of("b.test/", 32));
  entries.list("host", kLift).add(EntryTag::kHost, "a.b.test");
  EXPECT_EQ(host_hits(entries.finish(), "a.b.test", {"a.b.test/", "b.test/"}), "host! hash whole");
}

TEST(LinkLists, AtEqualSpecificityBlockBeatsMonitorBeatsAllow) {
  const auto decided = [](std::vector<RuleAction> actions) {
    ListEntries entries;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      entries.list(std::string(1, static_cast<char>('a' + i)), actions[i])
          .add(EntryTag::kHost, "a.test");
    }
    const LinkLists lists = entries.finish();
    const ListMatch match = lists.match({"a.test", {}, std::nullopt});
    return hits_of(match) + (match.is_lifted() ? " lifted" : "");
  };
  EXPECT_EQ(decided({kLift, kMonitor, kBlock}), "c! b! a");
  EXPECT_EQ(decided({kLift, kMonitor}), "b! a");
  EXPECT_EQ(decided({kLift, kLift}), "a! b! lifted");
}

TEST(LinkLists, ShadowDecidesNothing) {
  ListEntries entries;
  entries.list("shadow.allow", kLift, RuleMode::kShadow).add(EntryTag::kPath, "a.test/x");
  entries.list("shadow.block", kBlock, RuleMode::kShadow).add(EntryTag::kHost, "a.test");
  entries.list("site", kMonitor).add(EntryTag::kSuffix, "a.test");
  const LinkLists lists = entries.finish();
  const std::vector<std::string_view> expressions = {"a.test/x"};
  const ListMatch match = lists.match({"a.test", expressions, std::nullopt});
  EXPECT_EQ(hits_of(match), "shadow.allow shadow.block site!");
  EXPECT_FALSE(match.is_lifted());
}

TEST(LinkLists, AnIdIsReportedOnceWithItsMostSpecificEntry) {
  ListEntries entries;
  entries.list("l", kBlock)
      .add(EntryTag::kSuffix, "test.test")
      .add(EntryTag::kSuffix, "a.test.test")
      .add(EntryTag::kHost, "a.test.test");
  const LinkLists lists = entries.finish();
  const ListMatch match = lists.match({"a.test.test", {}, std::nullopt});
  ASSERT_EQ(match.hits.size(), 1U);
  EXPECT_EQ(match.hits[0].tag, EntryTag::kHost);
}

TEST(LinkLists, ManyOwnersOfOneEntryAreSortedNotCompared) {
  ListEntries entries;
  for (int i = 0; i < 2000; ++i) {
    entries.list("l" + std::to_string(i), kBlock).add(EntryTag::kSuffix, "a.test");
  }
  const LinkLists lists = entries.finish();
  EXPECT_EQ(lists.match({"x.a.test", {}, std::nullopt}).hits.size(), 2000U);
}

TEST(LinkLists, HostsOfAnyLengthAreAskedAboutInBoundedSteps) {
  ListEntries entries;
  entries.list("site", kBlock).add(EntryTag::kSuffix, "a.test");
  const LinkLists lists = entries.finish();
  std::string host;
  for (int i = 0; i < 100'000; ++i) host += "x.";
  EXPECT_EQ(host_hits(lists, host + "a.test"), "site!");
  for (const std::string odd : {".", "..", ".a.test", "a.test.", "a..test"}) {
    host_hits(lists, odd);  // whatever it says, it ends
  }
}

}  // namespace
}  // namespace han::tests
