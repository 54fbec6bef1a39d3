// ValueCheck: what stands in Redis under some keys, compared with PostgreSQL's verdict rows.
//
// Redis is read first and PostgreSQL afterwards: workers write Redis only after the commit, so what
// is in Redis has its row by then. A key is looked at in one go; what changes meanwhile is seen as
// it was then, and a repair deletes a value only if it is still the one that was seen.
//
// Threads:   one thread at a time.
// Owns:      nothing; the connections and the judge must outlive it.
// Blocks:    check() up to `timeout` for each of the two servers.
// Fails:     check() by CheckEnd for Redis; throws pgqueue::Error.
// Limits:    kKeysMax keys a call.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/connection.h"
#include "cache/key.h"
#include "pgqueue/verdict_pages.h"
#include "safety/replay/entry_reader.h"
#include "safety/replay/row_judge.h"

namespace han::safety {

enum class KeyState {
  // It says what the newest verdict row says.
  kRight,
  // PostgreSQL cannot tell: of a kind that only the cache holds (SPEC section 5), a link that was
  // found in a text, or a subject whose rows cannot be read.
  kUnbacked,
  // It says what an older row says, is of a retired pepper, or lives longer than its kind may.
  kStale,
  // Undecodable, not sealed, or not what the rows say; a text or file without any row, too, since
  // Redis knows no verdict that was not committed.
  kWrong,
  // It names another subject or version than its key.
  kForeign,
  kOversized,
  // A newer process wrote it; it stays.
  kNewerSchema,
  // No string: nothing of a cache.
  kNotString,
  // Nothing is there (any more).
  kAbsent,
};

struct CheckedKey {
  KeyState state = KeyState::kAbsent;
  bool is_undecodable = false;  // only of kWrong
  // Nullopt: it never expires.
  std::optional<std::chrono::milliseconds> ttl = std::chrono::milliseconds(0);
  // The value that was seen; empty for kOversized and kNotString.
  std::string bytes;
};

struct NamedKey {
  std::string text;
  cache::ParsedKey parts;
};

struct CheckEnd {
  bool is_ok() const {
    return trouble == cache::Trouble::kNone && error == cache::ErrorClass::kNone;
  }
  cache::Trouble trouble = cache::Trouble::kNone;
  cache::ErrorClass error = cache::ErrorClass::kNone;
};

class ValueCheck {
 public:
  static constexpr std::size_t kKeysMax = 128;

  ValueCheck(cache::Connection& redis, pgqueue::Connection& database, const EntryReader& reader,
             const RowJudge& judge, std::chrono::milliseconds timeout)
      : redis_(redis), database_(database), reader_(reader), judge_(judge), timeout_(timeout) {}

  // One answer a key, in order.
  CheckEnd check(std::span<const NamedKey> keys, std::vector<CheckedKey>& checked);

 private:
  CheckEnd read(std::span<const NamedKey> keys, std::vector<CheckedKey>& checked);
  void compare(std::span<const NamedKey> keys, cache::KeyKind kind,
               std::vector<CheckedKey>& checked);
  void judge(const NamedKey& key, std::span<const pgqueue::StoredEvidence> rows,
             CheckedKey& checked) const;
  KeyState compare_entry(const cache::HotKey& key, const AnyEntry& entry,
                         std::span<const pgqueue::StoredEvidence> rows) const;

  cache::Connection& redis_;
  pgqueue::Connection& database_;
  const EntryReader& reader_;
  const RowJudge& judge_;
  const std::chrono::milliseconds timeout_;
};

// The typed key of what was parsed; nullopt for kRate, which holds no entry.
std::optional<cache::HotKey> hot_key(const cache::ParsedKey& parts);

}  // namespace han::safety
