#include "cache/script_run.h"

#include <algorithm>
#include <utility>

#include "safety/base/check.h"

namespace han::cache {
namespace {

void add_call(CommandBuffer& commands, const ScriptCall& call) {
  const std::string key_count = std::to_string(call.keys.size());
  std::vector<std::string_view> arguments{"EVALSHA", call.script->sha1(), key_count};
  arguments.insert(arguments.end(), call.keys.begin(), call.keys.end());
  arguments.insert(arguments.end(), call.arguments.begin(), call.arguments.end());
  commands.add(arguments);
}

// Sends again what was answered NOSCRIPT.
template <typename Line>
void retry_lost(Line& line, std::span<const ScriptCall> calls, safety::Deadline deadline,
                ScriptRun& run) {
  std::vector<std::size_t> lost;
  std::vector<const Script*> missing;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (run.replies[i].error != ErrorClass::kNoscript) continue;
    lost.push_back(i);
    if (std::ranges::find(missing, calls[i].script) == missing.end()) {
      missing.push_back(calls[i].script);
    }
  }
  if (lost.empty()) return;
  CommandBuffer commands;
  for (const Script* script : missing) commands.add({"SCRIPT", "LOAD", script->text()});
  for (const std::size_t i : lost) add_call(commands, calls[i]);
  CallResult result = line.call(commands, deadline);
  run.trouble = result.trouble;
  if (result.trouble != Trouble::kNone) return run.replies.clear();
  const auto loaded = result.replies.begin() + static_cast<std::ptrdiff_t>(missing.size());
  run.reloads = static_cast<std::size_t>(std::count_if(
      result.replies.begin(), loaded, [](const Reply& reply) { return !reply.is_error(); }));
  for (std::size_t i = 0; i < lost.size(); ++i) {
    run.replies[lost[i]] = std::move(result.replies[missing.size() + i]);
  }
}

template <typename Line>
ScriptRun run_on(Line& line, std::span<const ScriptCall> calls, safety::Deadline deadline) {
  SAFETY_CHECK(calls.size() <= kScriptCallsMax);
  ScriptRun run;
  if (calls.empty()) return run;
  CommandBuffer commands;
  for (const ScriptCall& call : calls) add_call(commands, call);
  CallResult result = line.call(commands, deadline);
  run.trouble = result.trouble;
  run.replies = std::move(result.replies);
  if (run.trouble == Trouble::kNone) retry_lost(line, calls, deadline, run);
  return run;
}

ScriptCall delete_call(std::string_view key, std::string_view found, std::string_view what) {
  return {&script(ScriptId::kDeleteIfEqual),
          {std::string(key)},
          {std::string(found), std::string(what)}};
}

}  // namespace

ScriptRun run_scripts(Pool::Lease& lease, std::span<const ScriptCall> calls,
                      safety::Deadline deadline) {
  return run_on(lease, calls, deadline);
}

ScriptRun run_scripts(Connection& connection, std::span<const ScriptCall> calls,
                      safety::Deadline deadline) {
  return run_on(connection, calls, deadline);
}

ScriptCall delete_if_equal(std::string_view key, std::string_view bytes) {
  return delete_call(key, "equal", bytes);
}

ScriptCall delete_if_longer(std::string_view key, std::size_t bytes_max) {
  return delete_call(key, "longer", std::to_string(bytes_max));
}

ScriptCall delete_if_no_string(std::string_view key) { return delete_call(key, "no_string", ""); }

}  // namespace han::cache
