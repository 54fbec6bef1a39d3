// RowJudge: whether a verdict row is to be in the cache, under which key and for how long.
//
// Its time is what is left of the longest time that a process of the same config may trust it: the
// time to live of its kind less the local cache's, counted from the decision by the database's
// clock.
//
// Threads: immutable; safe to share. Owns: nothing; the peppers must outlive it.
// Blocks:  never. Fails: by RowOutcome.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "cache/key.h"
#include "cache/lookup.h"
#include "pgqueue/verdict_pages.h"
#include "safety/replay/entry_reader.h"

namespace han::safety {

enum class RowOutcome {
  kCacheable,
  // Its time is over.
  kExpired,
  kRetiredPepper,
  // Written by a newer process.
  kNewerSchema,
  kUndecodable,
  // Its evidence names another subject, version or pepper than the row.
  kForeign,
  kUnproven,
  kOversized,
  // Of a kind that has no key, or with a part that no key can have.
  kKeyless,
};
inline constexpr std::size_t kRowOutcomeCount = static_cast<std::size_t>(RowOutcome::kKeyless) + 1;

// As it stands in the answers of safetyctl: "written" rows are told apart by the caller.
std::string_view outcome_name(RowOutcome outcome);

struct JudgedRow {
  RowOutcome outcome = RowOutcome::kKeyless;
  // Set but for kKeyless.
  std::optional<cache::HotKey> key;
  // For kCacheable: at least one second.
  std::chrono::seconds left{0};
};

class RowJudge {
 public:
  RowJudge(EntryReader reader, cache::HotTtls ttls) : reader_(reader), ttls_(ttls.capped()) {}

  // `waited`: time since the page with the row was read.
  JudgedRow judge(std::string_view kind, const pgqueue::VerdictView& row,
                  std::chrono::nanoseconds waited) const;
  // The longest that a value of this kind lives in Redis; zero for kRate, which the limiter sets.
  std::chrono::seconds ttl_of(cache::KeyKind kind) const;

 private:
  EntryReader reader_;
  cache::HotTtls ttls_;
};

// Of a row's kind; nullopt: it has no keys.
std::optional<cache::KeyKind> key_kind_of(std::string_view row_kind);

}  // namespace han::safety
