// This program has an hs_scan of its own in front of the library's: it reports one hit and fails.

#include <gtest/gtest.h>

#include "safety/config.h"
#include "safety/policy.h"
#include "tests/safety/text/text_rules.h"

extern "C" int hs_scan(const void*, const char*, unsigned, unsigned, void*,
                       int (*on_match)(unsigned, unsigned long long, unsigned long long, unsigned,
                                       void*),
                       void* context) {
  constexpr int kUnknownError = -13;
  on_match(0, 0, 3, 0, context);
  return kUnknownError;
}

namespace han::tests {
namespace {

TEST(EngineFailure, Row21_AFailedScanIsIndeterminateAndNeverNoHit) {
  for (const auto profile : {safety::RuleProfile::kRaw, safety::RuleProfile::kFold}) {
    const auto engine = make_engine({make_rule("r", safety::RuleKind::kLiteral, "bad", profile)});
    const auto evidence = scan_text(engine, "bad");
    EXPECT_EQ(evidence.failure, safety::kReasonEngine);
    EXPECT_TRUE(evidence.hits.empty());
    EXPECT_FALSE(is_usable(evidence, engine.rules()));
    const auto verdict = decide_text(evidence, engine.rules(), safety::default_config());
    EXPECT_EQ(verdict.decision, safety::Decision::kIndeterminate);
    EXPECT_EQ(verdict.reason, "engine");
  }
}

TEST(EngineFailure, TheScratchIsAsNewAfterAFailedScan) {
  const std::vector<safety::Rule> rules = {make_rule("r", safety::RuleKind::kLiteral, "bad")};
  const safety::RuleDatabase database("r.yaml", rules);
  safety::ScanScratch scratch(database);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(database.scan("bad", scratch), safety::ScanOutcome::kEngineError);
    EXPECT_TRUE(scratch.hits().empty());
  }
}

}  // namespace
}  // namespace han::tests
