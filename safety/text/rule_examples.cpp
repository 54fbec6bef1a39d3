#include "safety/text/rule_examples.h"

#include <algorithm>

#include "safety/text/utf8.h"

namespace han::safety {
namespace {

bool has_hit(const TextEvidence& evidence, const std::string& id) {
  return std::binary_search(evidence.hits.begin(), evidence.hits.end(), id) ||
         std::binary_search(evidence.monitor.begin(), evidence.monitor.end(), id);
}

}  // namespace

std::vector<ExampleFailure> run_examples(const TextEngine& engine) {
  std::vector<ExampleFailure> failures;
  TextScratch scratch(engine);
  std::string buffer;
  const auto run = [&](const Rule& rule, const std::vector<RuleExample>& examples,
                       ExampleExpected expected) {
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const auto evidence = engine.scan(repair_utf8(examples[i].text, buffer), scratch);
      const bool is_hit = has_hit(evidence, rule.id);
      if (evidence.is_complete() && is_hit == (expected == ExampleExpected::kHit)) continue;
      failures.push_back({rule.id, examples[i].line, i, expected});
    }
  };
  for (const Rule& rule : engine.live()) {
    if (rule.kind == RuleKind::kUrlHost) continue;
    run(rule, rule.match, ExampleExpected::kHit);
    run(rule, rule.no_match, ExampleExpected::kNoHit);
  }
  return failures;
}

}  // namespace han::safety
