#include "safety/replay/entry_reader.h"

#include <gtest/gtest.h>

#include "cache/entry_seal.h"
#include "tests/safety/replay/replay_fixture.h"

namespace han::tests {
namespace {

using safety::EntryFault;
using safety::EntryReader;

EntryFault fault(const cache::HotKey& key, const std::string& bytes) {
  return EntryReader(&replay_peppers()).read(key, bytes).fault;
}

TEST(EntryReader, TellsEveryFault) {
  const cache::HotKey key = text_key(1);
  EXPECT_EQ(fault(key, text_bytes(1)), EntryFault::kNone);
  EXPECT_EQ(fault(key, "{"), EntryFault::kUndecodable);
  EXPECT_EQ(fault(key, ""), EntryFault::kUndecodable);
  EXPECT_EQ(fault(key, R"({"schema_version":2,"x":1})"), EntryFault::kNewerSchema);
  EXPECT_EQ(fault(key, text_bytes(2)), EntryFault::kForeign);
  EXPECT_EQ(fault(key, std::string(cache::kValueBytesMax + 1, 'x')), EntryFault::kOversized);
  // Sealed by another, and not at all.
  auto entry = text_entry(1);
  entry.mac = std::string(64, '0');
  EXPECT_EQ(fault(key, cache::encode_entry(entry)), EntryFault::kUnproven);
  entry.mac.clear();
  EXPECT_EQ(fault(key, cache::encode_entry(entry)), EntryFault::kUnproven);
}

TEST(EntryReader, KnowsCurrentPreviousAndRetiredPeppers) {
  const auto& previous = *replay_peppers().previous;
  EXPECT_EQ(fault(text_key(1, previous), text_bytes(1, "a", previous)), EntryFault::kNone);
  const std::string retired = text_bytes(1, "a", retired_pepper());
  EXPECT_EQ(fault(text_key(1, retired_pepper()), retired), EntryFault::kRetiredPepper);
  // One of another subject is foreign, whatever its pepper.
  EXPECT_EQ(fault(text_key(2, retired_pepper()), retired), EntryFault::kForeign);
}

TEST(EntryReader, WithoutPeppersBelievesEachAndNoSealIsChecked) {
  const EntryReader reader(nullptr);
  auto entry = text_entry(1, "a", retired_pepper());
  entry.mac = std::string(64, '0');
  EXPECT_EQ(reader.read(text_key(1, retired_pepper()), cache::encode_entry(entry)).fault,
            EntryFault::kNone);
  EXPECT_EQ(reader.read(text_key(2), text_bytes(1)).fault, EntryFault::kForeign);
}

TEST(EntryReader, WhatIsSaidDoesNotDependOnTheSealing) {
  const EntryReader reader(&replay_peppers());
  auto entry = text_entry(1);
  const auto sealed = reader.read(text_key(1), cache::seal_entry(entry, replay_peppers().current));
  const auto again = reader.read(text_key(1), cache::seal_entry(entry, *replay_peppers().previous));
  EXPECT_EQ(sealed.fault, EntryFault::kNone);
  EXPECT_EQ(again.fault, EntryFault::kNone);
  EXPECT_TRUE(sealed.entry == again.entry);
  EXPECT_FALSE(sealed.entry == reader.read(text_key(1), text_bytes(1, "other")).entry);
}

TEST(EntryReader, ReadsEveryKind) {
  EXPECT_EQ(fault(file_key(1), file_row(1).evidence), EntryFault::kNone);
  EXPECT_EQ(fault(file_key(2), file_row(1).evidence), EntryFault::kForeign);
  EXPECT_EQ(fault(link_key(1), link_row(1).evidence), EntryFault::kNone);
  EXPECT_EQ(fault(link_key(1), file_row(1).evidence), EntryFault::kUndecodable);
}

}  // namespace
}  // namespace han::tests
