#include "safety/bundle_holder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <new>
#include <thread>

#include "tests/safety/bundle_folder.h"

namespace han::tests {
namespace {

using safety::Bundle;
using safety::BundleHolder;
using Outcome = BundleHolder::Outcome;

constexpr auto kToday = kBundleDay;

class BundleHolderTest : public ::testing::Test {
 protected:
  BundleHolderTest() { write_rule("first"); }

  void write_rule(const std::string& word) {
    folder_.write_rules("- {id: r, kind: literal, pattern: " + word +
                        ", profile: raw, severity: 5, action: block, mode: enforce}\n");
  }
  static std::string pattern_of(const BundleHolder& holder) {
    return holder.current()->text_engine()->live().at(0).pattern;
  }

  BundleFolder folder_;
};

TEST_F(BundleHolderTest, AChangeIsTakenWhenTheFilesStandStill) {
  BundleHolder holder(folder_.path(), kToday);
  const auto before = holder.current();
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kUnchanged);
  write_rule("second");
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kUnchanged);
  write_rule("third");
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kUnchanged);
  EXPECT_EQ(pattern_of(holder), "first");
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kExchanged);
  EXPECT_EQ(pattern_of(holder), "third");
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kUnchanged);
  // Whoever took the old snapshot still has all of it.
  EXPECT_EQ(before->text_engine()->live().at(0).pattern, "first");
}

TEST_F(BundleHolderTest, ARefusedBundleLeavesTheOldOneAndIsToldOnce) {
  BundleHolder holder(folder_.path(), kToday);
  folder_.write("rules.yaml", "schema: 2\n");
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kUnchanged);
  const auto refused = holder.poll(kToday);
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_NE(refused.error.find("rules.yaml:1: schema"), std::string::npos) << refused.error;
  EXPECT_EQ(pattern_of(holder), "first");
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kUnchanged);
  write_rule("second");
  holder.poll(kToday);
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kExchanged);
}

TEST_F(BundleHolderTest, ReloadAsksNobody) {
  BundleHolder holder(folder_.path(), kToday);
  EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kUnchanged);
  write_rule("second");
  EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kExchanged);
  std::filesystem::remove(folder_.file("rules.yaml"));
  EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kRefused);
  EXPECT_EQ(pattern_of(holder), "second");
}

TEST_F(BundleHolderTest, WhatItsUserCannotMakeOfABundleRefusesIt) {
  BundleHolder holder(folder_.path(), kToday);
  write_rule("second");
  const auto refused = holder.reload(kToday, [](const auto&) { throw std::bad_alloc(); });
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_NE(refused.error.find("memory"), std::string::npos) << refused.error;
  EXPECT_EQ(holder.state().fault, refused.error);
  EXPECT_EQ(pattern_of(holder), "first");
  std::shared_ptr<const Bundle> adopted;
  EXPECT_EQ(holder.reload(kToday, [&](const auto& bundle) { adopted = bundle; }).outcome,
            Outcome::kExchanged);
  EXPECT_EQ(adopted, holder.current());
  // What counts already is not adopted again.
  EXPECT_EQ(holder.reload(kToday, [](const auto&) { throw std::bad_alloc(); }).outcome,
            Outcome::kUnchanged);
}

TEST_F(BundleHolderTest, AFaultThatIsTakenBackIsToldOnce) {
  BundleHolder holder(folder_.path(), kToday);
  folder_.write("rules.yaml", "schema: 2\n");
  EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kRefused);
  write_rule("first");
  EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kMended);
  EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kUnchanged);
  EXPECT_EQ(pattern_of(holder), "first");
}

TEST_F(BundleHolderTest, AChangedListIsAChange) {
  folder_.write_lists(
      "- {id: l, file: l.txt, kind: host, action: block, severity: 5, mode: enforce}\n");
  folder_.write("l.txt", "a.test\n");
  BundleHolder holder(folder_.path(), kToday);
  folder_.write("l.txt", "b.test\n");
  holder.poll(kToday);
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kExchanged);
  EXPECT_EQ(holder.current()->lists().match({"b.test", {}, std::nullopt}).hits.size(), 1U);
  EXPECT_EQ(holder.current()->lists().match({"a.test", {}, std::nullopt}).hits.size(), 0U);
  // A bad list leaves the old one; when it alone is mended, that is seen.
  folder_.write("l.txt", "c.test\n/\n");
  holder.poll(kToday);
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kRefused);
  EXPECT_EQ(holder.current()->lists().match({"b.test", {}, std::nullopt}).hits.size(), 1U);
  folder_.write("l.txt", "c.test\n");
  holder.poll(kToday);
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kExchanged);
}

TEST_F(BundleHolderTest, ASwitchedLinkIsAChange) {
  TempDir other;
  for (const char* name : {"rules.yaml", "lists.yaml"}) {
    std::filesystem::copy_file(folder_.file(name), other.file(name));
  }
  TempDir links;
  const std::string link = links.file("bundle");
  std::filesystem::create_directory_symlink(other.path(), link);
  BundleHolder holder(link, kToday);
  write_rule("second");
  std::filesystem::create_directory_symlink(folder_.path(), link + ".new");
  std::filesystem::rename(link + ".new", link);
  holder.poll(kToday);
  EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kExchanged);
  EXPECT_EQ(pattern_of(holder), "second");
}

TEST_F(BundleHolderTest, ReadersSeeOneBundleOrTheOther) {
  BundleHolder holder(folder_.path(), kToday);
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto bundle = holder.current();
      EXPECT_EQ(bundle->text_engine()->rules_version(), bundle->rules_version());
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 8; ++i) {
    write_rule("word" + std::to_string(i));
    EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kExchanged);
  }
}

TEST_F(BundleHolderTest, APartThatVanishesLeavesTheOldOne) {
  folder_.write_lists(
      "- {id: l, file: l.txt, kind: host, action: block, severity: 5, mode: enforce}\n");
  folder_.write("l.txt", "a.test\n");
  BundleHolder holder(folder_.path(), kToday);
  const std::string version = holder.current()->rules_version();
  for (const char* name : {"rules.yaml", "lists.yaml", "l.txt"}) {
    std::filesystem::rename(folder_.file(name), folder_.file("kept"));
    holder.poll(kToday);
    const auto refused = holder.poll(kToday);
    EXPECT_EQ(refused.outcome, Outcome::kRefused) << name;
    EXPECT_NE(refused.error.find(folder_.file(name) + ": "), std::string::npos) << refused.error;
    EXPECT_EQ(holder.state().fault, refused.error);
    EXPECT_EQ(holder.current()->rules_version(), version);
    std::filesystem::rename(folder_.file("kept"), folder_.file(name));
    holder.poll(kToday);
    EXPECT_EQ(holder.poll(kToday).outcome, Outcome::kMended) << name;
    EXPECT_EQ(holder.state().fault, "");
  }
  // Emptied files, as a download that broke off leaves them; and the whole folder.
  for (const char* name : {"rules.yaml", "lists.yaml", "l.txt"}) {
    std::filesystem::rename(folder_.file(name), folder_.file("kept"));
    folder_.write(name, "");
    EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kRefused) << name;
    std::filesystem::rename(folder_.file("kept"), folder_.file(name));
  }
  std::filesystem::rename(folder_.path(), folder_.path() + ".gone");
  EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kRefused);
  std::filesystem::create_directory(folder_.path());
  EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kRefused);
  std::filesystem::remove(folder_.path());
  std::filesystem::rename(folder_.path() + ".gone", folder_.path());
  EXPECT_EQ(holder.current()->rules_version(), version);
  EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kMended);
}

TEST_F(BundleHolderTest, AShrunkListIsRefusedAsTheSettingSays) {
  const auto write_entries = [&](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "h" + std::to_string(i) + ".test\n";
    folder_.write("l.txt", text);
  };
  folder_.write_lists(
      "- {id: l, file: l.txt, kind: host, action: block, severity: 5, mode: enforce}\n");
  write_entries(100);
  BundleHolder holder(folder_.path(), kToday);
  BundleHolder lenient(folder_.path(), kToday, 100);
  write_entries(3);
  const auto refused = holder.reload(kToday);
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.error, folder_.file("l.txt") +
                               ": list l: holds 3 entries, in the live bundle 100; complete the "
                               "file, or say entries_min: 3 in lists.yaml if so few are meant");
  EXPECT_EQ(lenient.reload(kToday).outcome, Outcome::kExchanged);
  // A process that starts has nothing to compare with.
  EXPECT_NO_THROW(BundleHolder(folder_.path(), kToday));
  write_entries(60);
  EXPECT_EQ(holder.reload(kToday).outcome, Outcome::kExchanged);
}

TEST_F(BundleHolderTest, TheFirstBundleMustLoad) {
  EXPECT_THROW(BundleHolder("/nonexistent", kToday), safety::ConfigError);
}

}  // namespace
}  // namespace han::tests
