// Rule examples: `rules test` runs each live rule's own `match` and `no_match` texts. Those of
// url-host rules are URLs and are run by safety/host_examples.h.
//
// Threads: pure function. Blocks: for the scans. Fails: std::bad_alloc only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "safety/text/text_engine.h"

namespace han::safety {

enum class ExampleExpected { kHit, kNoHit };

// Names the place of the example, never its text.
struct ExampleFailure {
  std::string rule_id;
  int line = 0;           // of the example in the rules file
  std::size_t index = 0;  // in `match` or `no_match`, from 0
  ExampleExpected expected = ExampleExpected::kHit;
};

// Examples whose rule did not do what they expect, in the order of rule ids. An example that the
// engine failed to scan counts as failed.
std::vector<ExampleFailure> run_examples(const TextEngine& engine);

}  // namespace han::safety
