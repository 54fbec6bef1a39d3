// Snapshot: what one batch is judged by: the bundle of rules and lists, the config, and the judge
// of links that is made of them; immutable.
//
// A batch takes it once, at its start, so that a change of the bundle comes between two batches and
// never inside one.
//
// Threads:   Snapshot is immutable and SnapshotHolder safe to share.
// Owns:      shares of its parts.
// Blocks:    making one as LinkJudge; the holder for its mutex only. Fails: never.
#pragma once

#include <memory>
#include <string>

#include "safety/base/mutex.h"
#include "safety/base/pepper.h"
#include "safety/bundle.h"
#include "safety/config.h"
#include "safety/link_judge.h"
#include "safety/rule_table.h"
#include "safety/text/text_engine.h"
#include "safety/verdict.h"

namespace han::safety {

class Snapshot {
 public:
  // Requires: a bundle (checked); the peppers outlive it.
  Snapshot(std::shared_ptr<const Bundle> bundle, const Config& config, const PepperSet& peppers);

  const TextEngine& engine() const { return *judge_.bundle().text_engine(); }
  const LinkJudge& judge() const { return judge_; }
  const Config& config() const { return judge_.config(); }
  const RuleTable& rules() const { return judge_.bundle().rules(); }
  const std::string& rules_version() const { return judge_.bundle().rules_version(); }
  const std::string& config_version() const { return config().version; }
  Versions versions() const { return {rules_version(), config_version(), ""}; }

 private:
  LinkJudge judge_;
};

class SnapshotHolder {
 public:
  // Requires: no null (checked); so does set().
  explicit SnapshotHolder(std::shared_ptr<const Snapshot> first);
  std::shared_ptr<const Snapshot> get() const;
  void set(std::shared_ptr<const Snapshot> next);

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const Snapshot> current_ GUARDED_BY(mutex_);
};

}  // namespace han::safety
