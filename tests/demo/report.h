// Report: the demo's outcome for a person and for a machine, and its progress bar.
//
// Threads: one thread at a time. Blocks: for the write.
#pragma once

#include <string>

#include "tests/demo/tally.h"

namespace han::tests {

std::string table_of(const DemoTally& tally);
// One line, with the keys that ./run demo --json promises.
std::string json_of(const DemoTally& tally);

// A bar on standard error, drawn only on a terminal; cleared by done().
class ProgressBar {
 public:
  explicit ProgressBar(std::string name);
  void show(std::int64_t finished, std::int64_t total);
  void done();

 private:
  const std::string name_;
  const bool is_terminal_;
};

}  // namespace han::tests
