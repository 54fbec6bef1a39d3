#include "safety/text_judge.h"

#include <string>
#include <utility>

#include "safety/base/check.h"
#include "safety/policy.h"
#include "safety/text/utf8.h"

namespace han::safety {

TextJudge::TextJudge(std::shared_ptr<const TextEngine> engine, Config config)
    : engine_(std::move(engine)), config_(std::move(config)) {
  SAFETY_CHECK(engine_ != nullptr);
}

TextJudge::Judged TextJudge::judge(std::string_view raw_text, TextScratch& scratch) const {
  Judged judged;
  if (is_over_limit(raw_text.size(), config_)) {
    judged.evidence.failure = kReasonLimit;
    judged.verdict = over_limit_verdict(engine_->rules(), config_);
    return judged;
  }
  std::string buffer;
  judged.evidence = engine_->scan(repair_utf8(raw_text, buffer), scratch);
  judged.verdict = decide_text(judged.evidence, engine_->rules(), config_);
  return judged;
}

}  // namespace han::safety
