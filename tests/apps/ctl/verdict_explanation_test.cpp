#include "safety/apps/ctl/verdict_explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "safety/apps/ctl/pepper_file.h"
#include "tests/safety/link_bundle.h"

namespace han::tests {
namespace {

using safety::Json;
using ::testing::HasSubstr;

class VerdictExplanation : public ::testing::Test {
 protected:
  VerdictExplanation() {
    verdict_.rules = {"bad.hosts", "good.suffixes", "link.userinfo", "scam.gift"};
    verdict_.monitor_rules = {"shadowed", "watched"};
  }

  LinkBundle files_;
  safety::SubjectJudge judge_{files_.load(), safety::default_config(),
                              std::make_shared<const safety::PepperSet>(safety::random_peppers()),
                              nullptr};
  safety::Verdict verdict_;
};

TEST_F(VerdictExplanation, SaysWhatEachIdIsAndDecides) {
  const Json all = explained_json(verdict_, judge_);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0]["kind"], "list");
  EXPECT_EQ(all[0]["entries"], "host");
  EXPECT_EQ(all[0]["decision"], "block");
  EXPECT_EQ(all[0]["categories"], Json({"phishing"}));
  EXPECT_EQ(all[1]["action"], "allow");
  EXPECT_EQ(all[1]["decision"], "allow");
  EXPECT_EQ(all[2], Json({{"id", "link.userinfo"},
                          {"kind", "finding"},
                          {"action", "monitor"},
                          {"decision", "monitor"},
                          {"why", "links.actions.userinfo is monitor"}}));
  EXPECT_EQ(all[3]["kind"], "phrase");
  EXPECT_EQ(all[3]["decision"], "block");
  EXPECT_EQ(all[4]["why"], "mode shadow: recorded only");
  EXPECT_EQ(all[4]["decision"], nullptr);
  EXPECT_EQ(all[5]["why"], "a more specific entry decides");
  EXPECT_EQ(all[5]["decision"], nullptr);
}

TEST_F(VerdictExplanation, PrintsATableForEach) {
  std::ostringstream out;
  print_explained(verdict_, judge_, out);
  EXPECT_THAT(out.str(), HasSubstr("list          bad.hosts\n"));
  EXPECT_THAT(out.str(), HasSubstr("rule          scam.gift\n"));
  EXPECT_THAT(out.str(), HasSubstr("finding    link.userinfo\n"));
}

}  // namespace
}  // namespace han::tests
