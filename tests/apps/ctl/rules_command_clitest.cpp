#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "safety/apps/ctl/rules_command.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/apps/ctl/offline_files.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class RulesCommand : public ::testing::Test {
 protected:
  // A rule that its own example contradicts.
  static std::string contradicted() {
    return "schema: 1\nrules:\n"
           "- {id: a.b, kind: word, pattern: casino, profile: fold, severity: 1, action: block,\n"
           "   mode: enforce, match: [zebra], no_match: [casino]}\n";
  }

  OfflineFiles files_;
};

TEST_F(RulesCommand, LintAcceptsAGoodFile) {
  const auto result = run_ctl({"rules", "lint", files_.rules(), "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out), Json({{"file", files_.rules()},
                                           {"rules", 5},
                                           {"live", 5},
                                           {"lists", Json::array()},
                                           {"findings", Json::array()}}));
  EXPECT_THAT(run_ctl({"rules", "lint", files_.rules()}).out, HasSubstr("nothing found"));
  EXPECT_EQ(run_ctl({"rules", "lint", "examples/rules.yaml"}).code, 0);
}

TEST_F(RulesCommand, LintReadsStandardInput) {
  EXPECT_EQ(run_ctl({"rules", "lint", "-"}, {.input = OfflineFiles::kRules}).code, 0);
  EXPECT_EQ(run_ctl({"rules", "lint", "-"}, {.input = "\xff"}).code, 3);
}

TEST_F(RulesCommand, LintNamesThePlaceOfAFinding) {
  const std::string bad = files_.file("bad.yaml");
  for (const std::string& bytes : {std::string("schema: 1\nrulez: []\n"), std::string("[\n"),
                                   std::string("schema: 1\nrules: []\n# \xff\n"), std::string()}) {
    write_file(bad, bytes);
    const auto result = run_ctl({"rules", "lint", bad, "--json"});
    EXPECT_EQ(result.code, 3) << bytes;
    EXPECT_EQ(Json::parse(result.out)["findings"].size(), 1U);
    EXPECT_THAT(run_ctl({"rules", "lint", bad}).out, HasSubstr(bad));
  }
  write_file(bad,
             "schema: 1\nrules:\n- {id: a.b, kind: regex, pattern: '(?=x)', profile: raw, "
             "severity: 1, action: block, mode: enforce}\n");
  const Json finding = Json::parse(run_ctl({"rules", "lint", bad, "--json"}).out)["findings"][0];
  EXPECT_EQ(finding["line"], 3);
  EXPECT_THAT(finding["field"].get<std::string>(), HasSubstr("a.b"));
}

TEST_F(RulesCommand, AFolderOfRulesAndListsIsLinted) {
  write_file(files_.file("lists.yaml"),
             "schema: 1\nlists:\n- {id: l.hosts, file: hosts.txt, kind: suffix, action: block, "
             "severity: 80, mode: enforce}\n");
  write_file(files_.file("hosts.txt"), "# bad\nevil.test\nEvil.test.\n");
  const std::string folder = files_.file("");
  const auto good = run_ctl({"rules", "lint", folder, "--json"});
  EXPECT_EQ(good.code, 0) << good.out << good.err;
  EXPECT_EQ(Json::parse(good.out)["lists"],
            Json::array({{{"id", "l.hosts"}, {"lines", 3}, {"entries", 2}}}));
  EXPECT_THAT(run_ctl({"rules", "lint", folder}).out, HasSubstr("list l.hosts: 2 entries"));
  // What does no harm is a note.
  const Json notes = Json::parse(good.out)["findings"];
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0]["level"], "note");
  EXPECT_EQ(notes[0]["line"], 3);
  EXPECT_EQ(run_ctl({"rules", "test", folder}).code, 0);
  EXPECT_EQ(run_ctl({"rules", "lint", "examples/bundle"}).code, 0);
  EXPECT_EQ(run_ctl({"rules", "test", "examples/bundle"}).code, 0);

  write_file(files_.file("hosts.txt"), "evil.test\nco.uk\nzebra/path\n");
  const auto bad = run_ctl({"rules", "lint", folder, "--json"});
  EXPECT_EQ(bad.code, 3);
  const Json findings = Json::parse(bad.out)["findings"];
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0]["file"], folder + "hosts.txt");
  EXPECT_EQ(findings[0]["level"], "error");
  EXPECT_EQ(findings[0]["line"], 2);
  EXPECT_EQ(findings[0]["field"], "list l.hosts");
  EXPECT_EQ(findings[1]["line"], 3);
  const auto table = run_ctl({"rules", "lint", folder});
  EXPECT_EQ(table.code, 3);
  EXPECT_THAT(table.out, HasSubstr("hosts.txt:2: list l.hosts: is a public suffix"));
  EXPECT_FALSE(table.shows("zebra"));
}

TEST_F(RulesCommand, LintNamesEntriesThatDoNothing) {
  write_file(files_.file("lists.yaml"),
             "schema: 1\nlists:\n- {id: l.bad, file: bad.txt, kind: host, action: block, "
             "severity: 80, mode: enforce}\n"
             "- {id: l.good, file: good.txt, kind: host, action: allow, mode: enforce}\n"
             "- {id: l.off, file: none, kind: host, action: allow, mode: 'off'}\n");
  write_file(files_.file("bad.txt"), "zebra.test\n");
  write_file(files_.file("good.txt"), "# ours\nzebra.test\n");
  const std::string folder = files_.file("");
  const auto table = run_ctl({"rules", "lint", folder});
  EXPECT_EQ(table.code, 3);
  EXPECT_THAT(table.out, HasSubstr("good.txt:2: list l.good: warning: allows what list l.bad "
                                   "blocks by the same entry"));
  EXPECT_THAT(table.out, HasSubstr("off or expired, not read: 1"));
  EXPECT_THAT(table.out, HasSubstr("1 found"));
  EXPECT_FALSE(table.shows("zebra"));
  const auto json = run_ctl({"rules", "lint", folder, "--json"});
  EXPECT_EQ(json.code, 3);
  const Json findings = Json::parse(json.out)["findings"];
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0]["level"], "warning");
  EXPECT_EQ(findings[0]["file"], folder + "good.txt");
  EXPECT_EQ(findings[0]["line"], 2);
  // It is no reason to refuse the bundle.
  EXPECT_EQ(run_ctl({"rules", "test", folder}).code, 0);
}

TEST_F(RulesCommand, LintFindsThatAPartOfAFolderIsMissing) {
  const std::string folder = files_.file("");
  const auto result = run_ctl({"rules", "lint", folder});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.out, HasSubstr("lists.yaml: no such file"));
  EXPECT_THAT(result.out, HasSubstr("`lists: []`"));
}

TEST_F(RulesCommand, TestRunsTheExamplesOfHosts) {
  write_file(files_.file("bad.yaml"),
             "schema: 1\nrules:\n- {id: a.b, kind: url-host, pattern: evil.test, severity: 1, "
             "action: block, mode: enforce,\n   match: ['https://x.evil.test/a', evil.test],\n"
             "   no_match: [notevil.test, evil.test]}\n");
  const auto result = run_ctl({"rules", "test", files_.file("bad.yaml"), "--json"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(Json::parse(result.out)["examples"], 4);
  EXPECT_EQ(Json::parse(result.out)["failures"],
            Json::array({{{"rule", "a.b"}, {"line", 5}, {"list", "no_match"}, {"index", 1}}}));
}

TEST_F(RulesCommand, AFileThatCannotBeReadIsNoFinding) {
  for (const std::string& path : {files_.file("none"), std::string("/tmp")}) {
    for (const std::string command : {"lint", "test"}) {
      const auto result = run_ctl({"rules", command, path});
      EXPECT_EQ(result.code, 1);
      EXPECT_TRUE(is_one_line_error(result));
    }
  }
}

TEST_F(RulesCommand, TestRunsTheExamplesOfTheRules) {
  const auto result = run_ctl({"rules", "test", files_.rules(), "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["examples"], 2);
  EXPECT_EQ(run_ctl({"rules", "test", "examples/rules.yaml"}).code, 0);
}

TEST_F(RulesCommand, TestNamesAFailedExampleButNotItsText) {
  write_file(files_.file("bad.yaml"), contradicted());
  const auto result = run_ctl({"rules", "test", files_.file("bad.yaml"), "--json"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(Json::parse(result.out)["failures"],
            Json({{{"rule", "a.b"}, {"line", 4}, {"list", "match"}, {"index", 0}},
                  {{"rule", "a.b"}, {"line", 4}, {"list", "no_match"}, {"index", 0}}}));
  const auto table = run_ctl({"rules", "test", files_.file("bad.yaml")});
  EXPECT_EQ(table.code, 3);
  EXPECT_THAT(table.out, HasSubstr("match[0]: the rule does not hit it"));
  EXPECT_FALSE(table.shows("zebra"));
}

TEST_F(RulesCommand, TestOfARefusedFileIsAFinding) {
  write_file(files_.file("bad.yaml"), "schema: 2\n");
  EXPECT_EQ(run_ctl({"rules", "test", files_.file("bad.yaml")}).code, 3);
}

TEST_F(RulesCommand, RefusesWrongUsage) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"rules"},
                                                    {"rules", "lint"},
                                                    {"rules", "zebra"},
                                                    {"rules", "lint", "a", "b"}}) {
    const auto result = run_ctl(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(is_one_line_error(result));
  }
}

}  // namespace
}  // namespace han::tests
