#include "safety/bundle_loss.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/safety/bundle_folder.h"

namespace han::tests {
namespace {

using safety::Bundle;
using safety::find_loss;
using safety::kLossPercentMax;

// Makes bundles of so many rules and entries.
class BundleLossTest : public ::testing::Test {
 protected:
  static std::string rules(int count, const std::string& mode = "enforce") {
    std::string rows = count == 0 ? " []\n" : "";
    for (int i = 0; i < count; ++i) {
      rows += "- {id: r" + std::to_string(i) + ", kind: literal, pattern: word" +
              std::to_string(i) + ", profile: raw, severity: 5, action: block, mode: '" + mode +
              "'}\n";
    }
    return rows;
  }
  void write_entries(const std::string& name, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += name + std::to_string(i) + ".test\n";
    folder_.write(name + ".txt", text);
  }
  static std::string list(const std::string& name, const std::string& more = "mode: enforce") {
    return "- {id: " + name + ", file: " + name + ".txt, kind: host, action: block, severity: 5, " +
           more + "}\n";
  }
  // With lists a and b of so many entries.
  std::shared_ptr<const Bundle> load_lists(int a, int b) {
    folder_.write_lists(list("a") + list("b"));
    write_entries("a", a);
    write_entries("b", b);
    return folder_.load();
  }
  std::string loss(const Bundle& live, int percent_max = kLossPercentMax) const {
    const auto found = find_loss(live, *folder_.load(), percent_max);
    return found ? found->what() : "";
  }

  BundleFolder folder_;
};

TEST_F(BundleLossTest, ARulesFileThatEndsEarly) {
  folder_.write_rules(rules(40));
  const auto live = folder_.load();
  folder_.write_rules(rules(20));
  EXPECT_EQ(loss(*live), "");  // half is not more than half
  folder_.write_rules(rules(19));
  EXPECT_EQ(loss(*live), folder_.file("rules.yaml") +
                             ": rules: holds 19 rules, in the live bundle 40; complete the file, "
                             "or give those that are not wanted mode: 'off'");
  EXPECT_EQ(loss(*live, 60), "");
  folder_.write_rules(rules(0));
  EXPECT_NE(loss(*live), "");
  EXPECT_NE(loss(*live, 99), "");
  EXPECT_EQ(loss(*live, 100), "");
}

TEST_F(BundleLossTest, WhatIsTurnedOffIsNoLoss) {
  folder_.write_rules(rules(40));
  const auto live = load_lists(100, 20);
  folder_.write_rules(rules(40, "off"));
  folder_.write_lists(list("a", "mode: 'off'") + list("b", "mode: enforce, expires: 2020-01-01"));
  EXPECT_EQ(loss(*live), "");
  // What was off is not missed afterwards.
  const auto off = folder_.load();
  folder_.write_rules(rules(0));
  folder_.write_lists(" []\n");
  EXPECT_EQ(loss(*off), "");
}

TEST_F(BundleLossTest, AListThatEndsEarly) {
  const auto live = load_lists(1000, 30);
  write_entries("b", 14);
  EXPECT_EQ(loss(*live), folder_.file("b.txt") +
                             ": list b: holds 14 entries, in the live bundle 30; complete the "
                             "file, or say entries_min: 14 in lists.yaml if so few are meant");
  folder_.write_lists(list("a") + list("b", "mode: enforce, entries_min: 14"));
  EXPECT_EQ(loss(*live), "");
  write_entries("b", 15);
  folder_.write_lists(list("a") + list("b"));
  EXPECT_EQ(loss(*live), "");
}

TEST_F(BundleLossTest, AManifestThatEndsEarly) {
  const auto live = load_lists(40, 60);
  folder_.write_lists(list("a"));
  EXPECT_EQ(loss(*live), folder_.file("lists.yaml") +
                             ": lists: lists with 60 of the live bundle's 100 entries are no "
                             "longer in it; complete the file, or give those that are not wanted "
                             "mode: 'off'");
  folder_.write_lists(list("b"));
  EXPECT_EQ(loss(*live), "");
  // Under another id, and in another file.
  write_entries("c", 50);
  folder_.write_lists(list("a") + list("c"));
  EXPECT_EQ(loss(*live), "");
}

TEST_F(BundleLossTest, FewAreNoLossAndMoreNever) {
  folder_.write_rules(rules(9));
  folder_.write_lists(list("a"));
  write_entries("a", 10);
  const auto live = folder_.load();
  folder_.write_rules(rules(0));
  write_entries("a", 1);
  EXPECT_EQ(loss(*live, 0), "");
  const auto small = folder_.load();
  folder_.write_rules(rules(100));
  write_entries("a", 100);
  EXPECT_EQ(loss(*small, 0), "");
  EXPECT_NE(find_loss(*folder_.load(), *small, 0), std::nullopt);
}

}  // namespace
}  // namespace han::tests
