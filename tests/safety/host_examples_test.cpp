#include "safety/host_examples.h"

#include <gtest/gtest.h>

#include "tests/safety/bundle_folder.h"

namespace han::tests {
namespace {

// "match[0]" of each failed example.
std::string failures_of(const std::string& pattern, const std::string& examples) {
  BundleFolder folder;
  folder.write_rules("- {id: r, kind: url-host, pattern: '" + pattern +
                     "', severity: 5, action: block, mode: shadow, " + examples + "}\n");
  std::string out;
  for (const auto& failure : run_host_examples(*folder.load())) {
    EXPECT_EQ(failure.rule_id, "r");
    EXPECT_EQ(failure.line, 3);
    out += (failure.expected == safety::ExampleExpected::kHit ? "match[" : "no_match[") +
           std::to_string(failure.index) + "]";
  }
  return out;
}

TEST(HostExamples, ExamplesAreUrlsOrHosts) {
  EXPECT_EQ(failures_of("evil.test",
                        "match: [evil.test, 'https://u:p@x.EVIL.test.:8/a?b#c'], "
                        "no_match: [notevil.test, 'https://good.test/?u=evil.test', 10.0.0.1]"),
            "");
  EXPECT_EQ(failures_of("*.evil.test", "match: [a.evil.test], no_match: [evil.test]"), "");
}

TEST(HostExamples, AWrongOneIsNamedByItsPlace) {
  EXPECT_EQ(failures_of("evil.test", "match: [evil.test, good.test], no_match: [a.evil.test]"),
            "match[1]no_match[0]");
  // What has no host fails whatever it expects.
  EXPECT_EQ(failures_of("evil.test", "match: [''], no_match: ['']"), "match[0]no_match[0]");
}

TEST(HostExamples, TextsAreNotTheirs) {
  BundleFolder folder;
  folder.write_rules(
      "- {id: w, kind: word, pattern: bad, profile: raw, severity: 5, action: block, mode: "
      "enforce, match: [good]}\n");
  EXPECT_TRUE(run_host_examples(*folder.load()).empty());
  EXPECT_EQ(run_examples(*folder.load()->text_engine()).size(), 1U);
}

}  // namespace
}  // namespace han::tests
