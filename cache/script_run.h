// Running scripts: a pipeline of EVALSHA calls over one connection.
//
// The pool loads all scripts into each new connection's server. If a server has lost them since
// (SCRIPT FLUSH), exactly the calls that were answered NOSCRIPT, which did nothing, are sent once
// more behind a SCRIPT LOAD of what is missing; what is then still NOSCRIPT stays so. So the calls
// of one run must not rely on their order, and a run costs two round trips at most.
//
// Threads: as the connection: one thread at a time.
// Blocks:  up to `deadline`.
// Fails:   by Trouble for the run (its outcome is unknown), by an error reply for each call.
// Limits:  kScriptCallsMax calls; a broken caller aborts.
//
// Example:
//   const ScriptCall call = delete_if_equal(key, bytes);
//   const auto run = run_scripts(lease, {&call, 1}, deadline);
//   if (run.trouble == Trouble::kNone && run.replies[0].integer == 1) ++deleted;
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/pool.h"
#include "cache/script.h"

namespace han::cache {

inline constexpr std::size_t kScriptCallsMax = 10'000;

struct ScriptCall {
  const Script* script = nullptr;
  std::vector<std::string> keys;
  std::vector<std::string> arguments;
};

struct ScriptRun {
  Trouble trouble = Trouble::kNone;
  // One a call, in order; empty when there was trouble.
  std::vector<Reply> replies;
  // Scripts that the server had lost and that were loaded again.
  std::size_t reloads = 0;
};

ScriptRun run_scripts(Pool::Lease& lease, std::span<const ScriptCall> calls,
                      safety::Deadline deadline);
ScriptRun run_scripts(Connection& connection, std::span<const ScriptCall> calls,
                      safety::Deadline deadline);

// Each answers 1 when it deleted the key, 0 when the key is gone or holds something else by now:
// the string `bytes`; a string of more than `bytes_max` bytes; a value that is no string.
ScriptCall delete_if_equal(std::string_view key, std::string_view bytes);
ScriptCall delete_if_longer(std::string_view key, std::size_t bytes_max);
ScriptCall delete_if_no_string(std::string_view key);

}  // namespace han::cache
