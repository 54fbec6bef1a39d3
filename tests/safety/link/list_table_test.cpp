#include "safety/link/list_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace han::tests {
namespace {

using safety::EntryTag;
using safety::ListTable;
using Owners = std::vector<std::uint32_t>;

Owners find(const ListTable& table, EntryTag tag, std::string_view name) {
  const auto owners = table.find(tag, name);
  return {owners.begin(), owners.end()};
}

TEST(ListTable, FindsWhatWasAddedUnderItsTagOnly) {
  ListTable table;
  EXPECT_EQ(find(table, EntryTag::kHost, "a"), Owners{});
  table.add(EntryTag::kHost, "a", 7);
  table.add(EntryTag::kHost, "", 8);
  EXPECT_EQ(find(table, EntryTag::kHost, "a"), Owners{7});
  EXPECT_EQ(find(table, EntryTag::kHost, ""), Owners{8});
  EXPECT_EQ(find(table, EntryTag::kSuffix, "a"), Owners{});
  EXPECT_EQ(find(table, EntryTag::kHost, "b"), Owners{});
  EXPECT_EQ(table.count(EntryTag::kHost), 2U);
  EXPECT_EQ(table.count(EntryTag::kSuffix), 0U);
}

TEST(ListTable, OwnersOfOneEntryAreMergedAndDuplicatesCounted) {
  ListTable table;
  for (const std::uint32_t owner : {5U, 2U, 5U, 9U, 2U}) table.add(EntryTag::kPath, "a/", owner);
  EXPECT_EQ(find(table, EntryTag::kPath, "a/"), (Owners{2, 5, 9}));
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.duplicates(), 2U);
}

TEST(ListTable, SetsOfOwnersHaveABoundTogether) {
  ListTable table;
  // Each owner more makes a set that is longer by one.
  const auto add_many = [&] {
    for (std::uint32_t owner = 0; owner < 6000; ++owner) table.add(EntryTag::kHost, "a", owner);
  };
  EXPECT_THROW(add_many(), safety::ListTableFull);
}

TEST(ListTable, BytesOfAnyKindAreNames) {
  ListTable table;
  const std::string zeros("\0\0", 2);
  const std::string longest(safety::kListNameBytesMax, '\xFF');
  table.add(EntryTag::kHash, zeros, 1);
  table.add(EntryTag::kHash, longest, 2);
  EXPECT_EQ(find(table, EntryTag::kHash, zeros), Owners{1});
  EXPECT_EQ(find(table, EntryTag::kHash, zeros.substr(1)), Owners{});
  EXPECT_EQ(find(table, EntryTag::kHash, longest), Owners{2});
  EXPECT_DEATH(table.add(EntryTag::kHash, longest + "x", 2), "");
}

TEST(ListTable, ManyEntriesGrowMoveAndStayFound) {
  constexpr std::uint32_t kEntries = 120'000;
  ListTable table;
  const auto name = [](std::uint32_t i) { return "host-" + std::to_string(i) + ".example.test"; };
  for (std::uint32_t i = 0; i < kEntries; ++i) {
    table.add(i % 2 == 0 ? EntryTag::kHost : EntryTag::kSuffix, name(i), i % 5);
  }
  const std::size_t grown = table.bytes();
  table.compact();
  EXPECT_LT(table.bytes(), grown);
  EXPECT_EQ(table.size(), kEntries);
  for (std::uint32_t i = 0; i < kEntries; ++i) {
    const EntryTag tag = i % 2 == 0 ? EntryTag::kHost : EntryTag::kSuffix;
    ASSERT_EQ(find(table, tag, name(i)), Owners{i % 5}) << i;
  }
  EXPECT_EQ(find(table, EntryTag::kHost, name(kEntries)), Owners{});

  std::uint32_t next = 0;
  table.for_each([&](EntryTag tag, std::string_view seen, std::uint32_t set) {
    ASSERT_EQ(seen, name(next));
    ASSERT_EQ(tag, next % 2 == 0 ? EntryTag::kHost : EntryTag::kSuffix);
    ASSERT_EQ(table.owners(set).front(), next % 5);
    ++next;
  });
  EXPECT_EQ(next, kEntries);
}

TEST(ListTable, AddingGoesOnAfterCompacting) {
  ListTable table;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 500; ++i) table.add(EntryTag::kHost, std::to_string(i + 300 * round), 1);
    table.compact();
  }
  EXPECT_EQ(table.size(), 1100U);
  EXPECT_EQ(table.duplicates(), 400U);
  for (int i = 0; i < 1100; ++i) {
    EXPECT_EQ(find(table, EntryTag::kHost, std::to_string(i)), Owners{1});
  }
}

}  // namespace
}  // namespace han::tests
