// Snapshot: what one batch is judged by: rules and config, immutable.
//
// A batch takes it once, at its start, so that a change of the rules comes between two batches and
// never inside one.
//
// Threads:   Snapshot is immutable and SnapshotHolder safe to share.
// Owns:      shares of its parts.
// Blocks:    for the holder's mutex only. Fails: never.
#pragma once

#include <memory>
#include <string>

#include "safety/base/mutex.h"
#include "safety/config.h"
#include "safety/rule_table.h"
#include "safety/text/text_engine.h"
#include "safety/verdict.h"

namespace han::safety {

struct Snapshot {
  std::shared_ptr<const TextEngine> engine;
  std::shared_ptr<const Config> config;

  const RuleTable& rules() const { return engine->rules(); }
  const std::string& rules_version() const { return engine->rules_version(); }
  const std::string& config_version() const { return config->version; }
  Versions versions() const { return {rules_version(), config_version(), ""}; }
};

class SnapshotHolder {
 public:
  // Requires: a snapshot with all its parts (checked).
  explicit SnapshotHolder(std::shared_ptr<const Snapshot> first);
  std::shared_ptr<const Snapshot> get() const;
  void set(std::shared_ptr<const Snapshot> next);

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const Snapshot> current_ GUARDED_BY(mutex_);
};

}  // namespace han::safety
