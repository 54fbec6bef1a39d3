// PepperTrial: whether PostgreSQL's verdict rows have proofs of a pepper file.
//
// With another secret under the right label every value looks forged, and a repair would delete all
// good ones. The rows tell: a worker sealed them, and nobody who can only write Redis made them.
//
// Threads:   a pure function over a connection, which is one thread's.
// Blocks:    up to a minute for each page.
// Fails:     throws pgqueue::Error.
// Limits:    looks at the first kTrialRows rows or few more of each kind, whatever their age.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pgqueue/verdict_pages.h"
#include "safety/replay/entry_reader.h"

namespace han::safety {

inline constexpr int kTrialRows = 1'000;

struct PepperTrial {
  // Rows that name a pepper of the set, and whether they are sealed by it.
  std::uint64_t proven = 0;
  std::uint64_t unproven = 0;
  // Labels that have rows, and no row with a proof.
  std::vector<std::string> doubted;
};

PepperTrial try_peppers(pgqueue::Connection& database, const EntryReader& reader);

}  // namespace han::safety
