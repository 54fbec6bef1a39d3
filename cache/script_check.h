// The self-test of the scripts: runs each of them on the server as the user that is logged in.
//
// A user who may not run an inner command of a script finds out here, not in the middle of work.
// The keys that it uses are rate-limit keys of a caller of its own; they are deleted, and had they
// not been, they live a few seconds. It also is the readiness check: log-in, reading, writing,
// expiry.
//
// Threads: as the connection: one thread at a time.
// Blocks:  up to `deadline`.
// Fails:   by ScriptCheck; with no connection every script has failed.
#pragma once

#include <string>
#include <vector>

#include "cache/script_run.h"

namespace han::cache {

struct ScriptCheck {
  std::string name;
  bool is_good = false;
  // When it is not good: what the server answered, or what became of the connection; neither when
  // the answer was wrong.
  ErrorClass error = ErrorClass::kNone;
  Trouble trouble = Trouble::kNone;
};

// Round trips of a check in which nothing fails; one more when the server has lost the scripts.
inline constexpr int kScriptCheckTrips = 3;

// One a script, in the order of ScriptId.
std::vector<ScriptCheck> check_scripts(Pool::Lease& lease, safety::Deadline deadline);
std::vector<ScriptCheck> check_scripts(Connection& connection, safety::Deadline deadline);

// For example "delete_if_equal script_denied, self_test timeout"; empty when all are good.
std::string describe_bad(const std::vector<ScriptCheck>& checks);

}  // namespace han::cache
