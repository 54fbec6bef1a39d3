// snapshot_of: what a test's batches are judged by, of a bundle's folder or rules file, and the
// text of a config.
//
// Threads: pure. Owns: nothing. Blocks: reads the files.
#pragma once

#include <memory>
#include <string>

#include "safety/bundle.h"
#include "safety/config.h"
#include "safety/worker/snapshot.h"

namespace han::tests {

inline std::chrono::sys_days test_day() { return std::chrono::year{2026} / 1 / 1; }

// Requires: the peppers outlive it.
inline std::shared_ptr<const safety::Snapshot> snapshot_of(
    const std::string& bundle_path, const safety::PepperSet& peppers,
    const std::string& config = "schema: 1\n") {
  return std::make_shared<const safety::Snapshot>(safety::Bundle::load(bundle_path, test_day()),
                                                  safety::parse_config("config.yaml", config),
                                                  peppers);
}

// Without any rule or list.
inline std::shared_ptr<const safety::Snapshot> empty_snapshot(
    const safety::PepperSet& peppers, const std::string& config = "schema: 1\n") {
  return std::make_shared<const safety::Snapshot>(
      safety::Bundle::of_rules("rules.yaml", {}, test_day()),
      safety::parse_config("config.yaml", config), peppers);
}

}  // namespace han::tests
