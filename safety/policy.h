// Policy: one pure function from evidence to verdict.
//
// An enforced rule that hits blocks when its action is block and its severity reaches
// `block_severity_min`; otherwise it only monitors. A config may override the action per category;
// a rule with several categories takes the strictest of them, so that softening one category never
// softens a rule that is also in another. Shadow rules are recorded and decide nothing. A failure
// is indeterminate, joined to the hits by block > indeterminate > monitor > allow.
//
// Threads: pure functions. Blocks: never. Fails: never; what cannot be judged is indeterminate.
#pragma once

#include <cstddef>
#include <string_view>

#include "safety/config.h"
#include "safety/evidence.h"
#include "safety/rule_table.h"
#include "safety/verdict.h"

namespace han::safety {

Verdict decide_text(const TextEvidence& evidence, const RuleTable& rules, const Config& config);

// False when the evidence names a rule that is not live, in the wrong list, unsorted or twice, or
// reports a failure: a cache that lies or is out of date. The caller computes it again then.
// decide_text gives indeterminate(evidence) for ids that it does not know.
bool is_usable(const TextEvidence& evidence, const RuleTable& rules);

// A verdict for a subject that could not be judged; `reason` is a word of a fixed set.
Verdict indeterminate_verdict(std::string_view reason, Versions versions, const Config& config);

bool is_over_limit(std::size_t text_bytes, const Config& config);
// indeterminate(limit): a text that is longer than the limit is not scanned in part.
Verdict over_limit_verdict(const RuleTable& rules, const Config& config);

}  // namespace han::safety
