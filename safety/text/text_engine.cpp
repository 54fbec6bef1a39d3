#include "safety/text/text_engine.h"

#include <algorithm>
#include <utility>

#include "safety/base/digest.h"
#include "safety/config.h"
#include "safety/link/extract.h"
#include "safety/text/fold.h"

namespace han::safety {
namespace {

std::string rules_version_of(const std::vector<Rule>& live, const std::string& link_version) {
  Sha256 digest;
  const auto add = [&digest](std::string_view part) {
    digest.update(std::to_string(part.size())).update(":").update(part);
  };
  add("han.rules.1");
  for (const Rule& rule : live) add(canonical_form(rule));
  add("live");
  for (const Rule& rule : live) add(rule.id);
  add(RuleDatabase::engine_version());
  add(fold_version());
  add(std::to_string(kTextCodeEpoch));
  add(link_version);
  return version_string(digest.finish());
}

RuleTable table_of(const std::vector<Rule>& live, LinkPart links) {
  RuleTable::Entries entries = std::move(links.lists);
  for (const Rule& rule : live) {
    const RuleScope scope = rule.kind == RuleKind::kUrlHost ? RuleScope::kLink : RuleScope::kText;
    entries[rule.id] = RulePolicy{rule.severity, rule.action, rule.mode, rule.categories, scope};
  }
  return RuleTable(rules_version_of(live, links.version), std::move(entries));
}

}  // namespace

TextScratch::TextScratch(const TextEngine& engine) : scratch_(engine.database_) {}

bool TextScratch::fits(const TextEngine& engine) const { return scratch_.fits(engine.database_); }

TextEngine::TextEngine(const std::string& file, std::vector<Rule> rules,
                       std::chrono::sys_days activation_date, LinkPart links)
    : live_(live_rules(std::move(rules), activation_date)),
      table_(table_of(live_, std::move(links))),
      database_(file, live_) {}

TextEvidence TextEngine::scan(std::string_view repaired_text, TextScratch& scratch) const {
  TextEvidence evidence;
  if (repaired_text.size() > kTextBytesMax) {
    evidence.failure = kReasonLimit;
    return evidence;
  }
  switch (database_.scan(repaired_text, scratch.scratch_)) {
    case ScanOutcome::kScanned:
      break;
    case ScanOutcome::kEngineError:
      evidence.failure = kReasonEngine;
      return evidence;
  }
  for (const std::uint32_t index : scratch.scratch_.hits()) {
    const Rule& rule = live_[index];
    auto& ids = rule.mode == RuleMode::kEnforce ? evidence.hits : evidence.monitor;
    ids.push_back(rule.id);
  }
  evidence.has_links = safety::has_links(repaired_text);
  return evidence;
}

const Rule* TextEngine::find_rule(std::string_view id) const {
  const auto at =
      std::lower_bound(live_.begin(), live_.end(), id,
                       [](const Rule& rule, std::string_view key) { return rule.id < key; });
  return at == live_.end() || at->id != id ? nullptr : &*at;
}

}  // namespace han::safety
