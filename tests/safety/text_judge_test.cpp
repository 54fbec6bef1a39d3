#include "safety/text_judge.h"

#include <gtest/gtest.h>

#include "safety/policy.h"
#include "tests/safety/text/text_rules.h"

namespace han::tests {
namespace {

using safety::Decision;
using safety::RuleKind;

class TextJudge : public ::testing::Test {
 protected:
  TextJudge()
      : engine_(std::make_shared<const safety::TextEngine>(
            make_engine({make_rule("scam.gift", RuleKind::kPhrase, "gift card code")}))),
        scratch_(*engine_) {
    config_.limits.text_bytes_max = 100;
  }

  safety::TextJudge::Judged judge(std::string_view text) {
    return safety::TextJudge(engine_, config_).judge(text, scratch_);
  }

  std::shared_ptr<const safety::TextEngine> engine_;
  safety::TextScratch scratch_;
  safety::Config config_ = safety::default_config();
};

TEST_F(TextJudge, FindsAndDecides) {
  const auto judged = judge("the GIFT card code");
  EXPECT_EQ(judged.verdict.decision, Decision::kBlock);
  EXPECT_EQ(judged.evidence.hits, std::vector<std::string>{"scam.gift"});
  EXPECT_EQ(judged.layer, safety::Layer::kComputed);
  EXPECT_EQ(judged.verdict.versions,
            (safety::Versions{engine_->rules_version(), config_.version, ""}));
  EXPECT_EQ(judge("hello").verdict.decision, Decision::kAllow);
}

TEST_F(TextJudge, EmptyBrokenAndNulTextsHaveAVerdict) {
  EXPECT_EQ(judge("").verdict.decision, Decision::kAllow);
  EXPECT_EQ(judge(std::string_view("\0", 1)).verdict.decision, Decision::kAllow);
  EXPECT_EQ(judge("\xff\xf0 gift card code \x80").verdict.decision, Decision::kBlock);
}

TEST_F(TextJudge, TheLimitCountsRawBytes) {
  EXPECT_EQ(judge(std::string(100, 'a')).verdict.decision, Decision::kAllow);
  // Repaired, it has 300 bytes.
  EXPECT_EQ(judge(std::string(100, '\xff')).verdict.decision, Decision::kAllow);
  const auto judged = judge("gift card code " + std::string(100, 'a'));
  EXPECT_EQ(judged.verdict, safety::over_limit_verdict(engine_->rules(), config_));
  EXPECT_EQ(judged.verdict.reason, "limit");
  EXPECT_EQ(judged.evidence.failure, "limit");
  EXPECT_TRUE(judged.evidence.hits.empty());
}

TEST_F(TextJudge, GivesTheVerdictOfItsParts) {
  for (const std::string text : {"gift card code www.example", "plain", "\xff"}) {
    const auto evidence = scan_text(*engine_, text);
    EXPECT_EQ(judge(text).evidence, evidence);
    EXPECT_EQ(judge(text).verdict, safety::decide_text(evidence, engine_->rules(), config_));
  }
}

}  // namespace
}  // namespace han::tests
