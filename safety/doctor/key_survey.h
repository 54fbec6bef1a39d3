// KeySurvey: looks at every key of Redis Safety: that it is one of ours, of its type, with a time
// to live within its cap, and a value within its bounds.
//
// It proves I1 (no task or lease state, no key of the legacy stub) and I8. Names are compared and
// counted, never shown: one outside han:safety: may hold anything.
//
// Threads: one thread at a time.
// Owns:    nothing; the connection must outlive it.
// Blocks:  survey() for the whole scan, at the options' pace.
// Fails:   by KeyFigures::cut_short.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cache/connection.h"
#include "safety/doctor/diagnosis.h"
#include "safety/doctor/options.h"

namespace han::safety {

enum class KeySort {
  kOurs,
  kState,      // its name speaks of tasks, leases, locks or queues
  kMalformed,  // below han:safety:, but no name that we make
  kForeign,    // outside han:safety:
};

KeySort sort_of_key(std::string_view key);

struct KeyFigures {
  std::uint64_t keys = 0;
  std::uint64_t state = 0;
  std::uint64_t malformed = 0;
  std::uint64_t foreign = 0;
  std::uint64_t no_string = 0;  // of ours: a list, a hash, ...
  std::uint64_t without_ttl = 0;
  std::uint64_t above_ttl_cap = 0;
  std::uint64_t above_target = 0;
  std::uint64_t above_limit = 0;
  std::int64_t longest_value = 0;
  // Why not all keys were seen; empty: all were.
  std::string cut_short;
};

// `connection` is a user's that may SCAN, TYPE, PTTL and STRLEN every key.
KeyFigures survey_keys(cache::Connection& connection, const DoctorOptions& options);

void judge_keys(const KeyFigures& figures, const DoctorOptions& options, Diagnoses& diagnoses);
// Says of each of these checks that it was not made.
void skip_keys(const std::string& reason, Diagnoses& diagnoses);

}  // namespace han::safety
