#include "safety/list_findings.h"

#include <gtest/gtest.h>

#include "tests/safety/bundle_folder.h"

namespace han::tests {
namespace {

using safety::ListFindings;

class ListFindingsTest : public ::testing::Test {
 protected:
  static std::string list(const std::string& name, const std::string& kind,
                          const std::string& action, const std::string& mode = "enforce") {
    return "- {id: " + name + ", file: " + name + ".txt, kind: " + kind + ", action: " + action +
           (action == "allow" ? "" : ", severity: 5") + ", mode: " + mode + "}\n";
  }
  // "file:line field: what" of each.
  std::string overruled() const { return joined(find().overruled); }
  std::string repeated() const { return joined(find().repeated); }
  ListFindings find() const { return find_in_lists(*folder_.load()); }

  BundleFolder folder_;

 private:
  std::string joined(const std::vector<safety::ListFinding>& findings) const {
    std::string out;
    for (const auto& one : findings) {
      const std::string file = one.file.substr(folder_.path().size() + 1);
      out += file + ":" + std::to_string(one.line) + " " + one.field + ": " +
             one.what_and_fix.substr(0, one.what_and_fix.find(" by the same")) + "\n";
    }
    return out;
  }
};

TEST_F(ListFindingsTest, AnAllowThatABlockOverrules) {
  folder_.write_lists(list("bad", "suffix", "block") + list("ads", "suffix", "monitor") +
                      list("good", "suffix", "allow"));
  folder_.write("bad.txt", "evil.test\nworse.test\n");
  folder_.write("ads.txt", "ads.test\n");
  folder_.write("good.txt", "# ours\nshop.evil.test\nADS.test\nWorse.test.\nother.test\n");
  EXPECT_EQ(overruled(),
            "good.txt:3 list good: allows what list ads monitors\n"
            "good.txt:4 list good: allows what list bad blocks\n");
  EXPECT_EQ(repeated(), "");
  // The fix works: the more specific entry decides.
  folder_.write("good.txt", "www.worse.test\n");
  EXPECT_EQ(overruled(), "");
}

TEST_F(ListFindingsTest, OfEveryKindRulesTooAndEqualOnesOfTwoKinds) {
  folder_.write_rules(
      "- {id: r, kind: url-host, pattern: ruled.test, severity: 5, action: block, mode: "
      "enforce}\n");
  folder_.write_lists(list("nets", "cidr", "block") + list("hosts", "host", "block") +
                      list("pages", "path", "block") + list("good", "suffix", "allow") +
                      list("goodhosts", "host", "allow") + list("goodnets", "cidr", "allow"));
  folder_.write("nets.txt", "192.0.2.0/24\n");
  folder_.write("hosts.txt", "a.test\n");
  folder_.write("pages.txt", "b.test/\nc.test/x\n10.0.0.1/\n");
  folder_.write("good.txt", "ruled.test\na.test\nb.test\nc.test\n");
  folder_.write("goodhosts.txt", "b.test\n0x0a.1\nA.test\n");
  folder_.write("goodnets.txt", "192.0.2.1\n192.0.2.0/24\n");
  // good: a.test is less specific than the host, which needs no finding to be known.
  EXPECT_EQ(overruled(),
            "good.txt:1 list good: allows what rule r blocks\n"
            "good.txt:3 list good: allows what list pages blocks\n"
            "goodhosts.txt:3 list goodhosts: allows what list hosts blocks\n"
            "goodnets.txt:2 list goodnets: allows what list nets blocks\n");
}

TEST_F(ListFindingsTest, ShadowListsDecideNothing) {
  folder_.write_lists(list("bad", "host", "block", "shadow") + list("good", "host", "allow") +
                      list("bad2", "host", "block") + list("good2", "host", "allow", "shadow"));
  for (const char* name : {"bad.txt", "good.txt"}) folder_.write(name, "a.test\n");
  for (const char* name : {"bad2.txt", "good2.txt"}) folder_.write(name, "b.test\n");
  EXPECT_EQ(overruled(), "");
}

TEST_F(ListFindingsTest, WhatStandsTwiceInItsList) {
  folder_.write_lists(list("one", "path", "block") + list("two", "path", "block"));
  folder_.write("one.txt", "a.test/x\nb.test/x\nhttps://A.test//x\n\nb.test/%78\n");
  folder_.write("two.txt", "a.test/x\n");
  EXPECT_EQ(repeated(),
            "one.txt:3 list one: stands in this list already; remove one\n"
            "one.txt:5 list one: stands in this list already; remove one\n");
  EXPECT_EQ(overruled(), "");
}

TEST_F(ListFindingsTest, TheFirstAreShownAndAllCounted) {
  folder_.write_lists(list("bad", "host", "block") + list("good", "host", "allow"));
  std::string text;
  for (int i = 0; i < 50; ++i) text += "h" + std::to_string(i) + ".test\n";
  folder_.write("bad.txt", text);
  folder_.write("good.txt", text + text);
  const ListFindings found = find();
  EXPECT_EQ(found.overruled.size(), safety::kListFindingsMax);
  EXPECT_EQ(found.overruled_count, 100U);
  EXPECT_EQ(found.repeated.size(), safety::kListFindingsMax);
  EXPECT_EQ(found.repeated_count, 50U);
  EXPECT_EQ(found.repeated.front().line, 51);
}

}  // namespace
}  // namespace han::tests
