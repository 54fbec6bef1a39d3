// TextJudge: from a raw text to its verdict, without any server.
//
// The one place that puts the steps in order: limit on the raw bytes, UTF-8 repair, scan, policy.
// What is judged offline (checks of an operator, the comparison at the end of the demo) goes
// through it; the worker puts its caches between the same steps.
#pragma once

#include <memory>
#include <string_view>

#include "safety/config.h"
#include "safety/evidence.h"
#include "safety/text/text_engine.h"
#include "safety/verdict.h"

namespace han::safety {

// Threads: immutable after construction; safe to share, with one scratch a thread.
// Owns:    a share of the engine.
// Blocks:  never.
// Fails:   std::bad_alloc only; what cannot be judged is indeterminate.
// Limits:  the config's text_bytes_max; a longer text is not looked at.
class TextJudge {
 public:
  struct Judged {
    TextEvidence evidence;
    Verdict verdict;
    Layer layer = Layer::kComputed;
  };

  // Requires: an engine (checked).
  TextJudge(std::shared_ptr<const TextEngine> engine, Config config);

  // Any bytes have a verdict. Requires: a scratch made for the engine (checked).
  Judged judge(std::string_view raw_text, TextScratch& scratch) const;

  const TextEngine& engine() const { return *engine_; }
  const Config& config() const { return config_; }

 private:
  std::shared_ptr<const TextEngine> engine_;
  Config config_;
};

}  // namespace han::safety
