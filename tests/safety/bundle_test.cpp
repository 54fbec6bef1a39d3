#include "safety/bundle.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "safety/base/hex.h"
#include "safety/link/list_file.h"
#include "safety/text/rules_file.h"
#include "safety/text/utf8.h"
#include "tests/safety/bundle_folder.h"

namespace han::tests {
namespace {

using safety::Bundle;
using safety::ConfigError;
using safety::RuleScope;

constexpr const char* kWordRule =
    "- {id: word, kind: word, pattern: bad, profile: fold, severity: 5, action: block, mode: "
    "enforce}\n";
constexpr const char* kHostRule =
    "- {id: rule.host, kind: url-host, pattern: Evil.test, severity: 50, action: block, mode: "
    "enforce, categories: [scam]}\n";
constexpr const char* kHostList =
    "- {id: list.hosts, file: hosts.txt, kind: host, action: monitor, severity: 7, mode: shadow}\n";

class BundleTest : public ::testing::Test {
 protected:
  std::string error() const {
    try {
      folder_.load();
      return "";
    } catch (const ConfigError& refused) {
      return refused.what();
    }
  }
  std::string version() const { return folder_.load()->rules_version(); }

  BundleFolder folder_;
};

std::string hits_of(const Bundle& bundle, std::string_view host) {
  std::string out;
  for (const safety::ListHit& hit : bundle.lists().match({host, {}, std::nullopt}).hits) {
    out.append(out.empty() ? "" : " ").append(hit.id);
  }
  return out;
}

TEST_F(BundleTest, ARulesFileAloneIsABundle) {
  const auto bundle = Bundle::load("examples/rules.yaml", kBundleDay);
  EXPECT_GE(bundle->text_engine()->live().size(), 200U);
  EXPECT_TRUE(safety::is_lower_hex(bundle->rules_version(), 32));
  EXPECT_EQ(bundle->rules_version(), bundle->rules().rules_version());
  const auto rules = safety::load_rules("examples/rules.yaml");
  EXPECT_EQ(bundle->rule_count(), rules.size());
  EXPECT_EQ(Bundle::of_rules("x", rules, kBundleDay)->rules_version(), bundle->rules_version());
}

TEST_F(BundleTest, TheShippedFolderLoads) {
  const auto bundle = Bundle::load("examples/bundle", kBundleDay);
  EXPECT_EQ(bundle->loaded_lists().size(), 6U);
  EXPECT_EQ(hits_of(*bundle, "de.fast-prizes.example"), "link_farm.fast_prizes");
  EXPECT_EQ(hits_of(*bundle, "login-bank.example"), "list.phishing_hosts");
  EXPECT_EQ(hits_of(*bundle, "x.stats.example"), "list.trackers");
  EXPECT_EQ(hits_of(*bundle, "localhost"), "");
  const std::vector<std::string_view> expressions = {"malware.example/"};
  EXPECT_EQ(bundle->lists().match({"malware.example", expressions, std::nullopt}).hits.at(0).id,
            "list.hashes");
}

TEST_F(BundleTest, RulesAndListsHaveOneTableAndOneVersion) {
  folder_.write_rules(std::string(kWordRule) + kHostRule);
  folder_.write_lists(kHostList);
  folder_.write("hosts.txt", "a.evil.test\n");
  const auto bundle = folder_.load();
  EXPECT_EQ(hits_of(*bundle, "a.evil.test"), "list.hosts rule.host");
  EXPECT_EQ(hits_of(*bundle, "b.evil.test"), "rule.host");
  EXPECT_EQ(bundle->rules().size(), 3U);
  EXPECT_EQ(bundle->rules().find("word")->scope, RuleScope::kText);
  const safety::RulePolicy* host = bundle->rules().find("rule.host");
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->scope, RuleScope::kLink);
  EXPECT_EQ(host->categories, std::vector<std::string>{"scam"});
  const safety::RulePolicy* list = bundle->rules().find("list.hosts");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->scope, RuleScope::kLink);
  EXPECT_EQ(list->severity, 7);
  EXPECT_EQ(list->mode, safety::RuleMode::kShadow);
  // No text is searched for hosts.
  safety::TextScratch scratch(*bundle->text_engine());
  const auto evidence = bundle->text_engine()->scan("bad http://evil.test", scratch);
  EXPECT_EQ(evidence.hits, std::vector<std::string>{"word"});
}

TEST_F(BundleTest, EitherPartMayBeEmptyButNotMissing) {
  folder_.write_lists(kHostList);
  folder_.write("hosts.txt", "evil.test\n");
  EXPECT_EQ(hits_of(*folder_.load(), "evil.test"), "list.hosts");
  std::filesystem::remove(folder_.file("rules.yaml"));
  EXPECT_EQ(error(), folder_.file("rules.yaml") +
                         ": no such file, and a bundle's folder has rules.yaml and lists.yaml; put "
                         "it back, or write `schema: 1` and `rules: []` into it to have none");
  folder_.write_rules(kWordRule);
  std::filesystem::remove(folder_.file("lists.yaml"));
  EXPECT_EQ(error().find(folder_.file("lists.yaml") + ": no such file"), 0U) << error();
  folder_.write_lists(" []\n");
  EXPECT_EQ(folder_.load()->rule_count(), 1U);
  std::filesystem::remove(folder_.file("rules.yaml"));
  std::filesystem::remove(folder_.file("lists.yaml"));
  EXPECT_NE(error().find("holds neither rules.yaml nor lists.yaml"), std::string::npos);
}

TEST_F(BundleTest, AListWithoutEntriesIsRefusedUnlessItSaysSo) {
  const auto lists_with = [&](const std::string& more) {
    folder_.write_lists(std::string(kHostList).insert(std::string(kHostList).find('}'), more));
    return error();
  };
  for (const char* text : {"", "# only a comment\n"}) {
    folder_.write("hosts.txt", text);
    EXPECT_EQ(lists_with(""), folder_.file("hosts.txt") +
                                  ": list list.hosts: holds no entry; complete the file, or say "
                                  "entries_min: 0 in lists.yaml if it may be empty");
    EXPECT_EQ(lists_with(", entries_min: 0"), "");
  }
  folder_.write("hosts.txt", "a.test\nb.test\n");
  const std::string plain = (lists_with(""), version());
  EXPECT_EQ(lists_with(", entries_min: 2"), "");
  EXPECT_EQ(version(), plain);
  EXPECT_EQ(lists_with(", entries_min: 3"),
            folder_.file("hosts.txt") +
                ": list list.hosts: holds 2 entries, entries_min is 3; complete the file");
}

TEST_F(BundleTest, CountsWhatIsLive) {
  folder_.write_rules(std::string(kWordRule) + kHostRule);
  folder_.write_lists(
      std::string(kHostList) +
      "- {id: off, file: none, kind: host, action: block, severity: 7, mode: 'off'}\n");
  folder_.write("hosts.txt", "a.test\nA.test\nb.test\n");
  const auto bundle = folder_.load();
  EXPECT_EQ(bundle->counts().rules, 2U);
  EXPECT_EQ(bundle->counts().lists, 1U);
  EXPECT_EQ(bundle->counts().entries, 3U);
  EXPECT_EQ(bundle->resting_lists(), std::vector<std::string>{"off"});
}

TEST_F(BundleTest, AFileThatCannotBeReachedIsNotLeftOut) {
  folder_.write_rules(kWordRule);
  folder_.write_lists(kHostList);
  folder_.write("hosts.txt", "a.test\n");
  ASSERT_EQ(error(), "");
  for (const char* name : {"rules.yaml", "lists.yaml"}) {
    std::filesystem::rename(folder_.file(name), folder_.file("kept"));
    std::filesystem::create_symlink("nowhere", folder_.file(name));
    EXPECT_NE(error().find(name), std::string::npos) << error();
    std::filesystem::rename(folder_.file("kept"), folder_.file(name));
  }
  EXPECT_EQ(error(), "");
}

TEST_F(BundleTest, TheVersionCoversRulesListsAndTheirContents) {
  folder_.write_rules(kWordRule);
  std::set<std::string> versions = {version()};
  const auto is_new = [&] { return versions.insert(version()).second; };
  folder_.write_lists(kHostList);
  folder_.write("hosts.txt", "a.test\n");
  EXPECT_TRUE(is_new());
  folder_.write("hosts.txt", "b.test\n");
  EXPECT_TRUE(is_new());
  folder_.write_lists(
      std::string(kHostList).replace(std::string(kHostList).find("shadow"), 6, "enforce"));
  EXPECT_TRUE(is_new());
  folder_.write_rules(std::string(kWordRule) + kHostRule);
  EXPECT_TRUE(is_new());
  // The same bundle elsewhere is the same.
  BundleFolder other;
  for (const char* name : {"rules.yaml", "lists.yaml", "hosts.txt"}) {
    std::filesystem::copy_file(folder_.file(name), other.file(name),
                               std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_EQ(other.load()->rules_version(), version());
}

TEST_F(BundleTest, ListsThatAreOffOrExpiredAreNotReadAndDoNotCount) {
  folder_.write_rules(kWordRule);
  const std::string plain = version();
  folder_.write_lists(
      "- {id: off, file: none, kind: host, action: block, severity: 7, mode: 'off'}\n"
      "- {id: old, file: none, kind: host, action: block, severity: 7, mode: enforce, expires: "
      "2020-01-01}\n");
  EXPECT_EQ(version(), plain);
  folder_.write_lists(
      "- {id: last, file: none, kind: host, action: block, severity: 7, mode: enforce, expires: "
      "2024-10-04}\n");
  EXPECT_NE(error().find("none: list last: no such file"), std::string::npos) << error();
}

TEST_F(BundleTest, ABadHostOfARuleIsNamedWithItsPlace) {
  const auto error_with = [&](const std::string& pattern) {
    folder_.write_rules("- {id: r, kind: url-host, pattern: '" + pattern +
                        "', severity: 5, action: block, mode: 'off'}\n");
    return error();
  };
  const std::string place = folder_.file("rules.yaml") + ":3: rule r: pattern: ";
  EXPECT_EQ(error_with("*.evil.test"), "");
  EXPECT_EQ(error_with("*.co.uk").find(place + "is a public suffix"), 0U) << error();
  EXPECT_EQ(error_with("https://evil.test").find(place + "is no host"), 0U) << error();
  EXPECT_EQ(error_with("evil .test").find(place + "is no host that can exist"), 0U) << error();
}

TEST_F(BundleTest, NoListHasTheIdOfARule) {
  folder_.write_rules(std::string(kWordRule));
  folder_.write_lists(
      "- {id: word, file: f, kind: host, action: block, severity: 7, mode: 'off'}\n");
  EXPECT_EQ(error(), folder_.file("lists.yaml") +
                         ":3: list word: id: a rule has this id (line 3 "
                         "of " +
                         folder_.file("rules.yaml") + "); give one of them another id");
}

TEST_F(BundleTest, ABadLineRefusesTheBundle) {
  folder_.write_lists(kHostList);
  folder_.write("hosts.txt", "a.test\n*.b.test\n");
  EXPECT_THROW(folder_.load(), safety::ListFileError);
  EXPECT_EQ(error().find(folder_.file("hosts.txt") + ":2: list list.hosts: "), 0U) << error();
}

}  // namespace
}  // namespace han::tests
