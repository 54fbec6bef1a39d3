// What a look-up needs beside itself: two peppers, and a snapshot without rules.
//
// Threads: one thread. Blocks: never.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "safety/telemetry/metrics.h"
#include "tests/safety/worker/snapshot_of.h"

namespace han::tests {

class LookupFixture : public ::testing::Test {
 protected:
  const safety::PepperSet peppers_ =
      safety::parse_peppers("p1 " + std::string(64, 'a') + "\np0 " + std::string(64, 'b'));
  const std::shared_ptr<const safety::Snapshot> held_ = empty_snapshot(peppers_);
  const safety::Snapshot& snapshot_ = *held_;
  safety::Metrics metrics_;
};

}  // namespace han::tests
