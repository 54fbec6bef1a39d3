#include "cache/script_check.h"

#include <array>
#include <functional>
#include <string_view>

#include "cache/key.h"
#include "cache/rate_limiter.h"
#include "safety/base/digest.h"

namespace han::cache {
namespace {

// Long enough for the slowest check, short enough to leave nothing behind.
constexpr std::string_view kTestTtlMs = "5000";

constexpr std::chrono::milliseconds kTestWindow{2'000};

std::string random_key() {
  std::array<std::uint8_t, 8> random{};
  safety::fill_random(random.data(), random.size());
  std::uint64_t window = 0;
  for (const auto byte : random) window = window << 8 | byte;
  return RateKey("self-test", window).str();
}

// A script's calls, and what shows that they did what they should.
struct Trial {
  ScriptId id;
  ScriptCall call;
  std::function<bool(const Reply&)> is_right;
};

bool answers(const Reply& reply, std::int64_t integer) {
  return reply.kind == Reply::Kind::kInteger && reply.integer == integer;
}

std::vector<Trial> trials_of(const std::array<std::string, 4>& keys) {
  const auto one = [](const Reply& reply) { return answers(reply, 1); };
  const auto zero = [](const Reply& reply) { return answers(reply, 0); };
  // The second call, which is denied, runs the other half of the script.
  const auto four_numbers = [](const Reply& reply) { return reply.elements.size() == 4; };
  ScriptCall limit = rate_limit_call({"self-test", 1, kTestWindow});
  limit.keys = {keys[3]};
  return {
      {ScriptId::kRateLimit, limit, four_numbers},
      {ScriptId::kRateLimit, limit, four_numbers},
      {ScriptId::kDeleteIfEqual, delete_if_equal(keys[0], "bad"), one},
      {ScriptId::kDeleteIfEqual, delete_if_equal(keys[1], "other"), zero},
      {ScriptId::kSelfTest, {&script(ScriptId::kSelfTest), {keys[2]}, {}}, one},
  };
}

template <typename Line>
std::vector<ScriptCheck> check_on(Line& line, safety::Deadline deadline) {
  const std::array<std::string, 4> keys{random_key(), random_key(), random_key(), random_key()};
  CommandBuffer begin;
  begin.add({"SET", keys[0], "bad", "PX", kTestTtlMs});
  begin.add({"SET", keys[1], "good", "PX", kTestTtlMs});
  CallResult begun = line.call(begin, deadline);
  ScriptRun run{begun.trouble, {}, 0};
  const auto trials = trials_of(keys);
  if (run.trouble == Trouble::kNone) {
    std::vector<ScriptCall> calls;
    calls.reserve(trials.size());
    for (const Trial& trial : trials) calls.push_back(trial.call);
    run = run_scripts(line, calls, deadline);
  }
  if (run.trouble == Trouble::kNone) {
    CommandBuffer end;
    end.add({"DEL", keys[0], keys[1], keys[2], keys[3]});
    run.trouble = line.call(end, deadline).trouble;
  }
  std::vector<ScriptCheck> checks;
  for (const Script& each : all_scripts()) {
    checks.push_back({each.name(), run.trouble == Trouble::kNone, ErrorClass::kNone, run.trouble});
  }
  for (std::size_t i = 0; run.trouble == Trouble::kNone && i < trials.size(); ++i) {
    ScriptCheck& check = checks[static_cast<std::size_t>(trials[i].id)];
    const Reply& reply = run.replies[i];
    check.is_good = check.is_good && trials[i].is_right(reply);
    if (reply.is_error()) check.error = reply.error;
  }
  return checks;
}

}  // namespace

std::vector<ScriptCheck> check_scripts(Pool::Lease& lease, safety::Deadline deadline) {
  return check_on(lease, deadline);
}

std::vector<ScriptCheck> check_scripts(Connection& connection, safety::Deadline deadline) {
  return check_on(connection, deadline);
}

std::string describe_bad(const std::vector<ScriptCheck>& checks) {
  std::string out;
  for (const ScriptCheck& check : checks) {
    if (check.is_good) continue;
    if (!out.empty()) out += ", ";
    out += check.name + ' ';
    if (check.error != ErrorClass::kNone) {
      out += error_name(check.error);
    } else {
      out += check.trouble == Trouble::kNone ? "wrong answer" : trouble_name(check.trouble);
    }
  }
  return out;
}

}  // namespace han::cache
