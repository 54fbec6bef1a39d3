// TextEngine: an immutable snapshot of rules, compiled and versioned, that turns texts into
// evidence.
//
//     const auto bundle = Bundle::load(path, today);   // safety/bundle.h
//     const TextEngine& engine = *bundle->text_engine();
//     TextScratch scratch(engine);                     // one per thread and snapshot
//     const auto evidence = engine.scan(repair_utf8(text, buffer), scratch);
//     const auto verdict = decide_text(evidence, engine.rules(), config);
//
// rules_version is the digest of the live rules (expiry judged at activation), their ids, the
// versions of Vectorscan, ICU and Unicode, kTextCodeEpoch, and what the bundle adds for links.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "safety/evidence.h"
#include "safety/rule_table.h"
#include "safety/text/rule.h"
#include "safety/text/rule_database.h"
#include "safety/yaml_file.h"

namespace han::safety {

// Raised by hand whenever this code's evidence for the same rules and text changes.
inline constexpr int kTextCodeEpoch = 2;

// What a bundle adds to the rules of texts.
struct LinkPart {
  RuleTable::Entries lists;
  std::string version;  // of whatever judges links; part of rules_version
};

class TextEngine;

// The memory that a thread scans with. Threads: one at a time; made for one snapshot.
class TextScratch {
 public:
  explicit TextScratch(const TextEngine& engine);
  // False after the engine was replaced by another snapshot: make a new scratch then.
  bool fits(const TextEngine& engine) const;

 private:
  friend class TextEngine;
  ScanScratch scratch_;
};

// Threads: immutable after construction; safe to share. Blocks: never.
// Fails:   the constructor throws ConfigError; scan() reports in the evidence.
class TextEngine {
 public:
  // `file` is named in errors; `rules` are all rules of the file. Requires: no id is both a rule's
  // and a list's.
  TextEngine(const std::string& file, std::vector<Rule> rules,
             std::chrono::sys_days activation_date, LinkPart links = {});

  // Evidence about a repaired text (safety/text/utf8.h). Equal texts give equal evidence. A failure
  // of the engine, or a text over kTextBytesMax, gives a failure and no hits.
  // Requires: a scratch that fits (checked).
  TextEvidence scan(std::string_view repaired_text, TextScratch& scratch) const;

  const RuleTable& rules() const { return table_; }  // of the whole bundle, lists included
  const std::string& rules_version() const { return table_.rules_version(); }
  const std::vector<Rule>& live() const { return live_; }  // sorted by id
  const Rule* find_rule(std::string_view id) const;        // nullptr when no live rule has the id

 private:
  friend class TextScratch;
  std::vector<Rule> live_;
  RuleTable table_;
  RuleDatabase database_;
};

}  // namespace han::safety
