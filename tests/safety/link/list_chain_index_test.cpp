#include "safety/link/list_chain_index.h"

#include <gtest/gtest.h>

#include "tests/safety/link/list_entries.h"

namespace han::tests {
namespace {

using safety::Digest;
using safety::EntryTag;
using safety::HmacKey;
using safety::ListChainIndex;
using safety::RuleAction;

HmacKey key_of(std::string_view text) { return HmacKey(safety::as_bytes(text)); }

// HMACs of each suffix, the whole name first.
std::vector<Digest> suffixes_of(const HmacKey& key, std::string_view name) {
  std::vector<Digest> out;
  for (;;) {
    out.push_back(key.mac(safety::kDnsHashLabel, name));
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return out;
    name.remove_prefix(dot + 1);
  }
}

std::string hits_of(const ListChainIndex& index, const HmacKey& key, std::string_view name) {
  std::string out;
  for (const safety::ListHit& hit : index.match(suffixes_of(key, name)).hits) {
    out.append(out.empty() ? "" : " ").append(hit.id).append(hit.decides ? "!" : "");
  }
  return out;
}

TEST(ListChainIndex, HostsAndSuffixesHitByTheirHmacsAlone) {
  ListEntries entries;
  entries.list("host", RuleAction::kBlock).add(EntryTag::kHost, "a.test");
  entries.list("site", RuleAction::kMonitor).add(EntryTag::kSuffix, "b.test");
  entries.list("sub", RuleAction::kBlock).add(EntryTag::kSuffix, "c.b.test");
  entries.list("below", RuleAction::kBlock).add(EntryTag::kBelow, "d.test");
  entries.list("path", RuleAction::kBlock).add(EntryTag::kPath, "a.test/");
  const safety::LinkLists lists = entries.finish();
  const HmacKey key = key_of("one");
  for (const std::size_t threads : {1U, 3U, 16U}) {
    const ListChainIndex index(lists, key, threads);
    EXPECT_EQ(index.size(), 4U);
    EXPECT_EQ(hits_of(index, key, "a.test"), "host!");
    EXPECT_EQ(hits_of(index, key, "x.a.test"), "");
    EXPECT_EQ(hits_of(index, key, "b.test"), "site!");
    EXPECT_EQ(hits_of(index, key, "x.c.b.test"), "sub! site");
    EXPECT_EQ(hits_of(index, key, "d.test"), "");
    EXPECT_EQ(hits_of(index, key, "x.d.test"), "below!");
    EXPECT_EQ(hits_of(index, key, "test"), "");
    EXPECT_EQ(hits_of(index, key_of("two"), "a.test"), "");
  }
}

TEST(ListChainIndex, AnAllowEntryLiftsNothingOfAChain) {
  ListEntries entries;
  entries.list("ours", RuleAction::kLift).add(EntryTag::kHost, "a.b.test");
  entries.list("bad", RuleAction::kBlock).add(EntryTag::kSuffix, "b.test");
  const safety::LinkLists lists = entries.finish();
  const HmacKey key = key_of("one");
  EXPECT_EQ(hits_of(ListChainIndex(lists, key), key, "a.b.test"), "bad!");
}

TEST(ListChainIndex, ANameInSeveralListsHitsThemAll) {
  ListEntries entries;
  entries.list("one", RuleAction::kBlock).add(EntryTag::kHost, "a.test");
  entries.list("two", RuleAction::kBlock).add(EntryTag::kHost, "a.test");
  entries.list("three", RuleAction::kBlock).add(EntryTag::kSuffix, "a.test");
  const safety::LinkLists lists = entries.finish();
  const HmacKey key = key_of("one");
  const ListChainIndex index(lists, key);
  EXPECT_EQ(index.size(), 2U);
  EXPECT_EQ(index.bytes(), 24U);
  EXPECT_EQ(hits_of(index, key, "a.test"), "one! two! three");
}

TEST(ListChainIndex, NothingIsFoundInEmptyLists) {
  const safety::LinkLists lists;
  const HmacKey key = key_of("one");
  EXPECT_EQ(hits_of(ListChainIndex(lists, key, 4), key, "a.test"), "");
}

}  // namespace
}  // namespace han::tests
