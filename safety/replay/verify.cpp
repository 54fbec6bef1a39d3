#include "safety/replay/verify.h"

#include <algorithm>
#include <utility>

#include "cache/key_scan.h"
#include "cache/script_run.h"
#include "cache/ttl_cap.h"
#include "safety/base/check.h"
#include "safety/replay/verdict_stream.h"

namespace han::safety {
namespace {

constexpr std::int32_t kPageRows = 1'000;

// What ends in exit code 3.
bool is_finding(const CheckedKey& checked) {
  switch (checked.state) {
    case KeyState::kAbsent:
      return false;
    case KeyState::kWrong:
    case KeyState::kForeign:
    case KeyState::kNotString:
      return true;
    case KeyState::kRight:
    case KeyState::kUnbacked:
    case KeyState::kStale:
    case KeyState::kOversized:
    case KeyState::kNewerSchema:
      break;
  }
  return !checked.ttl;
}

// What no cache may hold, and a repair takes away.
bool is_fault(cache::KeyKind kind, const CheckedKey& checked) {
  if (checked.state == KeyState::kAbsent) return false;
  const bool is_above_cap = checked.ttl && *checked.ttl > cache::ttl_cap(kind);
  return is_finding(checked) || checked.state == KeyState::kOversized || is_above_cap;
}

cache::ScriptCall removal_of(const NamedKey& key, const CheckedKey& checked) {
  if (checked.state == KeyState::kOversized) {
    return cache::delete_if_longer(key.text, cache::kValueBytesMax);
  }
  if (checked.state == KeyState::kNotString) return cache::delete_if_no_string(key.text);
  return cache::delete_if_equal(key.text, checked.bytes);
}

// Of the whole server; 0 when it is not told.
std::uint64_t key_count(cache::Connection& connection, Deadline deadline) {
  cache::CommandBuffer commands;
  commands.add({"DBSIZE"});
  const auto result = connection.call(commands, deadline);
  if (result.replies.empty() || result.replies[0].is_error()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(result.replies[0].integer, 0));
}

cache::Connection& reader_of(const VerifyConnections& connections) {
  SAFETY_CHECK(connections.scan != nullptr || connections.worker != nullptr);
  return connections.scan != nullptr ? *connections.scan : *connections.worker;
}

}  // namespace

VerifyCounts& VerifyCounts::operator+=(const VerifyCounts& other) {
  for (const auto field :
       {&VerifyCounts::keys, &VerifyCounts::right, &VerifyCounts::missing, &VerifyCounts::stale,
        &VerifyCounts::wrong, &VerifyCounts::undecodable, &VerifyCounts::unbacked,
        &VerifyCounts::foreign, &VerifyCounts::oversized, &VerifyCounts::ttl_less,
        &VerifyCounts::newer_schema, &VerifyCounts::not_string, &VerifyCounts::repaired}) {
    this->*field += other.*field;
  }
  return *this;
}

VerifyCounts VerifyReport::total() const {
  VerifyCounts total;
  for (const VerifyCounts& counts : kinds) total += counts;
  return total;
}

Verify::Verify(VerifyConnections connections, const EntryReader& reader, const RowJudge& judge,
               VerifyOptions options, VerifyHooks hooks)
    : connections_(connections),
      judge_(judge),
      options_(options),
      hooks_(std::move(hooks)),
      check_(reader_of(connections), connections.lookups, reader, judge, options.call_timeout),
      due_(system_clock().now()) {
  SAFETY_CHECK(!options.is_repair || connections.worker != nullptr);
}

// The keys first: what they take out is missing then, and the report says it once.
VerifyEnd Verify::run() {
  report_.is_scanned = connections_.scan != nullptr;
  if (connections_.scan != nullptr && walk_keys() == Flow::kStop) return end_;
  walk_rows();
  return end_;
}

Verify::Flow Verify::walk_keys() {
  cache::KeyScan scan(*connections_.scan, {.page_keys = ValueCheck::kKeysMax});
  const std::uint64_t total = key_count(*connections_.scan, Deadline::after(options_.call_timeout));
  std::uint64_t done = 0;
  while (!scan.is_over()) {
    const auto page = scan.next(Deadline::after(options_.call_timeout));
    if (!page.is_ok()) return fail({page.trouble, page.error});
    std::vector<NamedKey> keys;
    for (const std::string& text : page.keys) {
      if (auto parts = cache::parse_key(text)) {
        keys.push_back({text, std::move(*parts)});
      } else {
        ++report_.alien;
        ++report_.findings;
      }
    }
    report_.alien += page.nameless;
    report_.findings += page.nameless;
    // A page may hold more keys than were asked for.
    for (std::span<const NamedKey> rest = keys; !rest.empty();) {
      const auto some = rest.first(std::min(rest.size(), ValueCheck::kKeysMax));
      rest = rest.subspan(some.size());
      std::vector<CheckedKey> checked;
      if (look_at(some, checked) == Flow::kStop) return Flow::kStop;
    }
    const auto names = page.keys.size() + page.nameless;
    done += names;
    const auto of = static_cast<double>(std::max({total, done, std::uint64_t{1}}));
    if (hooks_.progress) hooks_.progress("keys", static_cast<double>(done) / of, done);
    if (pause(names) == Flow::kStop) return Flow::kStop;
  }
  return Flow::kGoOn;
}

Verify::Flow Verify::walk_rows() {
  VerdictStream stream(connections_.database, stream_options(judge_, kPageRows));
  while (const auto lot = stream.next()) {
    std::vector<RowKey> keys;
    Flow flow = Flow::kGoOn;
    for_each_subject(*lot, [&](const pgqueue::VerdictView& row, int count) {
      report_.rows += static_cast<std::uint64_t>(count);
      if (flow == Flow::kStop) return;
      const JudgedRow judged = judge_.judge(lot->kind, row, system_clock().now() - lot->read_at);
      const bool is_cacheable = judged.outcome == RowOutcome::kCacheable;
      // With a scan every key has been looked at: only what should be there is asked for.
      if (!judged.key || (report_.is_scanned && !is_cacheable)) return;
      const std::string& text = cache::key_text(*judged.key);
      keys.push_back({{text, *cache::parse_key(text)}, is_cacheable});
      if (keys.size() == ValueCheck::kKeysMax) flow = look_for(keys);
    });
    if (flow == Flow::kGoOn) flow = look_for(keys);
    if (flow == Flow::kStop) return Flow::kStop;
    if (hooks_.progress) {
      const double share = share_of(lot->page.row(lot->size - 1).subject_hash);
      hooks_.progress("verdicts", share, report_.rows);
    }
  }
  return Flow::kGoOn;
}

Verify::Flow Verify::look_for(std::vector<RowKey>& keys) {
  if (keys.empty()) return Flow::kGoOn;
  Flow flow = Flow::kGoOn;
  if (report_.is_scanned) {
    flow = look_for_presence(keys);
  } else {
    std::vector<NamedKey> names;
    names.reserve(keys.size());
    for (const RowKey& row : keys) names.push_back(row.key);
    std::vector<CheckedKey> checked;
    flow = look_at(names, checked);
    for (std::size_t i = 0; flow == Flow::kGoOn && i < keys.size(); ++i) {
      const bool is_missing = keys[i].is_cacheable && checked[i].state == KeyState::kAbsent;
      if (is_missing) ++report_.of(keys[i].key.parts.kind).missing;
    }
  }
  const auto count = keys.size();
  keys.clear();
  return flow == Flow::kGoOn ? pause(count) : flow;
}

Verify::Flow Verify::look_for_presence(std::span<const RowKey> keys) {
  cache::CommandBuffer commands;
  for (const RowKey& row : keys) commands.add({"PTTL", row.key.text});
  const auto result = connections_.scan->call(commands, Deadline::after(options_.call_timeout));
  if (result.trouble != cache::Trouble::kNone) {
    return fail({result.trouble, cache::ErrorClass::kNone});
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const cache::Reply& reply = result.replies[i];
    if (reply.is_error()) return fail({cache::Trouble::kNone, reply.error});
    if (reply.integer == cache::kPttlNoKey) ++report_.of(keys[i].key.parts.kind).missing;
  }
  return Flow::kGoOn;
}

Verify::Flow Verify::look_at(std::span<const NamedKey> keys, std::vector<CheckedKey>& checked) {
  if (const CheckEnd end = check_.check(keys, checked); !end.is_ok()) return fail(end);
  for (std::size_t i = 0; i < keys.size(); ++i) count(keys[i], checked[i]);
  return options_.is_repair ? repair(keys, checked) : Flow::kGoOn;
}

void Verify::count(const NamedKey& key, const CheckedKey& checked) {
  if (checked.state == KeyState::kAbsent) return;
  VerifyCounts& counts = report_.of(key.parts.kind);
  ++counts.keys;
  if (!checked.ttl) ++counts.ttl_less;
  if (is_finding(checked)) ++report_.findings;
  switch (checked.state) {
    case KeyState::kRight:
      // One without a TTL is named once, as that.
      if (checked.ttl) ++counts.right;
      break;
    case KeyState::kUnbacked:
      ++counts.unbacked;
      break;
    case KeyState::kStale:
      ++counts.stale;
      break;
    case KeyState::kWrong:
      ++counts.wrong;
      if (checked.is_undecodable) ++counts.undecodable;
      break;
    case KeyState::kForeign:
      ++counts.foreign;
      break;
    case KeyState::kOversized:
      ++counts.oversized;
      break;
    case KeyState::kNewerSchema:
      ++counts.newer_schema;
      break;
    case KeyState::kNotString:
      ++counts.not_string;
      break;
    case KeyState::kAbsent:
      break;
  }
}

Verify::Flow Verify::repair(std::span<const NamedKey> keys, std::span<const CheckedKey> checked) {
  std::vector<cache::ScriptCall> calls;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!is_fault(keys[i].parts.kind, checked[i])) continue;
    calls.push_back(removal_of(keys[i], checked[i]));
    places.push_back(i);
  }
  if (calls.empty()) return Flow::kGoOn;
  const auto run =
      cache::run_scripts(*connections_.worker, calls, Deadline::after(options_.call_timeout));
  if (run.trouble != cache::Trouble::kNone) return fail({run.trouble, cache::ErrorClass::kNone});
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const cache::Reply& reply = run.replies[i];
    if (reply.is_error()) return fail({cache::Trouble::kNone, reply.error});
    // 0: it has changed meanwhile, and with it the fault that was seen is gone.
    if (reply.integer == 1) ++report_.of(keys[places[i]].parts.kind).repaired;
    if (is_finding(checked[places[i]])) --report_.findings;
  }
  return Flow::kGoOn;
}

Verify::Flow Verify::pause(std::uint64_t done) {
  const auto now = system_clock().now();
  due_ = now;
  if (options_.keys_per_second > 0) {
    due_ += std::chrono::nanoseconds(std::chrono::seconds(1)) * static_cast<std::int64_t>(done) /
            options_.keys_per_second;
  }
  if (!hooks_.wait || !hooks_.wait(Deadline(due_))) return Flow::kGoOn;
  end_.reason = VerifyEnd::Reason::kStopped;
  return Flow::kStop;
}

Verify::Flow Verify::fail(CheckEnd end) {
  end_ = {VerifyEnd::Reason::kRedis, end};
  return Flow::kStop;
}

}  // namespace han::safety
