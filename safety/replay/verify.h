// Verify: compares what Redis holds with PostgreSQL's verdict rows (SPEC section 11).
//
// From both sides: each verdict row that could be cached is looked for, and, with a connection that
// may SCAN, each key is looked at. Without one only keys that PostgreSQL names are looked at, and
// the report says so. A repair deletes what must not be there, key by key and only if it is still
// as it was seen; keys outside our formats are reported and left alone, since nobody here can know
// what they are.
//
// Threads:   one thread at a time; reading rows is a thread of its own.
// Owns:      nothing; the connections must outlive it and are not used by others.
// Blocks:    run() until the end; each call to a server up to `call_timeout`.
// Fails:     VerifyEnd says why Redis ended it; pgqueue::Error is thrown.
// Limits:    memory does not grow with either side.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cache/connection.h"
#include "pgqueue/verdict_pages.h"
#include "safety/replay/row_judge.h"
#include "safety/replay/value_check.h"

namespace han::safety {

struct VerifyOptions {
  bool is_repair = false;
  // Of each of the two walks; 0: as fast as it goes.
  std::uint32_t keys_per_second = 0;
  std::chrono::milliseconds call_timeout{10'000};
};

// Of one kind of key.
struct VerifyCounts {
  // Keys that were looked at.
  std::uint64_t keys = 0;
  std::uint64_t right = 0;
  // Verdict rows that could be cached and are not.
  std::uint64_t missing = 0;
  std::uint64_t stale = 0;
  std::uint64_t wrong = 0;
  // Those of `wrong` that cannot be decoded at all.
  std::uint64_t undecodable = 0;
  std::uint64_t unbacked = 0;
  std::uint64_t foreign = 0;
  std::uint64_t oversized = 0;
  // Whatever else they are.
  std::uint64_t ttl_less = 0;
  std::uint64_t newer_schema = 0;
  // Of our formats, and no string.
  std::uint64_t not_string = 0;
  std::uint64_t repaired = 0;

  VerifyCounts& operator+=(const VerifyCounts& other);
};

inline constexpr std::size_t kKeyKindCount = static_cast<std::size_t>(cache::KeyKind::kRate) + 1;

struct VerifyReport {
  bool is_scanned = false;
  // Verdict rows that were read.
  std::uint64_t rows = 0;
  // Keys outside our formats, whatever they hold: task or lease state, or anything else.
  std::uint64_t alien = 0;
  std::array<VerifyCounts, kKeyKindCount> kinds{};
  // Faults that end in exit code 3 and that a repair has not taken away.
  std::uint64_t findings = 0;

  VerifyCounts& of(cache::KeyKind kind) { return kinds[static_cast<std::size_t>(kind)]; }
  const VerifyCounts& of(cache::KeyKind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }
  VerifyCounts total() const;
  // Task or lease state: whatever is no cache entry.
  std::uint64_t state() const { return alien + total().not_string; }
};

struct VerifyEnd {
  enum class Reason { kDone, kStopped, kRedis };

  Reason reason = Reason::kDone;
  CheckEnd redis;
};

struct VerifyConnections {
  pgqueue::Connection& database;
  // A second one, for look-ups while the first one reads ahead.
  pgqueue::Connection& lookups;
  // Of a user that may SCAN and read every key; null: no scan.
  cache::Connection* scan;
  // Of the workers' user; may be null with a scan and without a repair.
  cache::Connection* worker;
};

struct VerifyHooks {
  // `step`: keys, then verdicts. `share`: of the keys, or of the rows of a kind, 0 to 1.
  std::function<void(const std::string& step, double share, std::uint64_t done)> progress;
  // Waits until the time, at most; true: stop.
  std::function<bool(Deadline until)> wait;
};

class Verify {
 public:
  // Requires: a connection to read Redis by, and `worker` for a repair.
  Verify(VerifyConnections connections, const EntryReader& reader, const RowJudge& judge,
         VerifyOptions options, VerifyHooks hooks);

  // Once.
  VerifyEnd run();
  const VerifyReport& report() const { return report_; }

 private:
  enum class Flow { kGoOn, kStop };
  // A key that a verdict row names.
  struct RowKey {
    NamedKey key;
    bool is_cacheable;
  };

  Flow walk_rows();
  Flow look_for(std::vector<RowKey>& keys);
  Flow look_for_presence(std::span<const RowKey> keys);
  Flow walk_keys();
  Flow look_at(std::span<const NamedKey> keys, std::vector<CheckedKey>& checked);
  void count(const NamedKey& key, const CheckedKey& checked);
  Flow repair(std::span<const NamedKey> keys, std::span<const CheckedKey> checked);
  Flow pause(std::uint64_t done);
  Flow fail(CheckEnd end);

  const VerifyConnections connections_;
  const RowJudge& judge_;
  const VerifyOptions options_;
  const VerifyHooks hooks_;
  ValueCheck check_;
  VerifyReport report_;
  VerifyEnd end_;
  Clock::SteadyTime due_;
};

}  // namespace han::safety
