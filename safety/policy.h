// Policy: one pure function from evidence to verdict.
//
// An enforced rule that hits blocks when its action is block and its severity reaches
// `block_severity_min`; otherwise it only monitors. A config may override the action per category;
// a rule with several categories takes the strictest of them, so that softening one category never
// softens a rule that is also in another. Shadow rules are recorded and decide nothing. A failure
// is indeterminate, joined to the hits by block > indeterminate > monitor > allow.
//
// A finding about a link (link_config.h) does what the config says of it; it has no severity and no
// category.
//
// Threads: pure functions. Blocks: never. Fails: never; what cannot be judged is indeterminate.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "safety/config.h"
#include "safety/evidence.h"
#include "safety/link_evidence.h"
#include "safety/rule_table.h"
#include "safety/verdict.h"

namespace han::safety {

Verdict decide_text(const TextEvidence& evidence, const RuleTable& rules, const Config& config);

// False when the evidence names a rule that is not live or not of texts, in the wrong list,
// unsorted or twice, or reports a failure: a cache that lies or is out of date. The caller computes
// it again then. decide_text gives indeterminate(evidence) for ids that it does not know.
bool is_usable(const TextEvidence& evidence, const RuleTable& rules);

// A verdict for a subject that could not be judged; `reason` is a word of a fixed set.
Verdict indeterminate_verdict(std::string_view reason, Versions versions, const Config& config);

bool is_over_limit(std::size_t text_bytes, const Config& config);
// indeterminate(limit): a text that is longer than the limit is not scanned in part.
Verdict over_limit_verdict(const RuleTable& rules, const Config& config);

// The stable part of a link's verdict. What blocks needs no DNS any more. A failure makes it
// indeterminate; such evidence is never cached.
LinkEvidence decide_link(const LinkFindings& findings, bool needs_dns, const RuleTable& rules,
                         const Config& config);

// True when cached evidence may be judged by: final, in order, and of live rules and known
// findings.
bool is_usable_link(const LinkEvidence& evidence, const RuleTable& rules);

// The verdict of a link. `resolved`: what was found about what its host resolves to; nothing when
// the evidence does not need it.
Verdict decide_link_verdict(const LinkEvidence& evidence, const LinkFindings& resolved,
                            const RuleTable& rules, const Config& config);

// The verdict of a text with its links: the strongest of all decisions, with the rules of all.
// Links with one hash are one link; an alternate reading whose host does not exist, and of which
// nothing else is known, is none. `is_over_budget`: the text holds more links than are judged.
Verdict join_links(Verdict text, std::span<const TextLink> links, bool is_over_budget,
                   const Config& config);

}  // namespace han::safety
