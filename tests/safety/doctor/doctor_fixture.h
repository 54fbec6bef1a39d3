// What the doctor's tests share: looking for one check among the diagnoses, and a Redis that is as
// it should be.
//
// Threads: one thread at a time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "safety/doctor/diagnosis.h"
#include "tests/support/redis_server.h"

namespace han::tests {

inline safety::Diagnosis diagnosis(const safety::Diagnoses& diagnoses, const std::string& check) {
  const auto& all = diagnoses.all();
  const auto found = std::ranges::find(all, check, &safety::Diagnosis::check);
  if (found == all.end()) {
    ADD_FAILURE() << "no check is called " << check;
    return {};
  }
  return *found;
}

// "check: what was seen", a line each, of all that are no findings of `expected`.
inline std::string others(const safety::Diagnoses& diagnoses, const std::string& expected = "") {
  std::string text;
  for (const auto& one : diagnoses.all()) {
    if (one.state != safety::Diagnosis::State::kOk && one.check != expected) {
      text += one.check + ": " + one.seen + "\n";
    }
  }
  return text;
}

// The one check that is no good, and the only one.
inline void expect_only_finding(const safety::Diagnoses& diagnoses, const std::string& check,
                                const std::string& seen) {
  const auto found = diagnosis(diagnoses, check);
  EXPECT_EQ(found.state, safety::Diagnosis::State::kFinding) << found.seen;
  EXPECT_NE(found.seen.find(seen), std::string::npos) << found.seen;
  EXPECT_FALSE(found.fix.empty());
  EXPECT_EQ(others(diagnoses, check), "");
}

// Of settings as compose/vm2/redis.conf has them.
inline RedisServerOptions good_redis() {
  return {.arguments = {"--maxmemory", "64mb", "--maxmemory-policy", "volatile-lru", "--appendonly",
                        "yes"}};
}

}  // namespace han::tests
