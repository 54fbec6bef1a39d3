// Rebuild: warms Redis from PostgreSQL's verdict rows (SPEC section 11).
//
// Each row that may still be cached is written by SET NX EX with the time that its verdict has left
// by the database's clock. NX: what a worker has written meanwhile, or a newer process, stays, so a
// rebuild is safe while workers run, and a second one changes nothing.
//
// Rows are read in the order of their key, and a batch counts once the server has answered all of
// it. The place behind the last such batch is told as it goes on, and one that was stopped or
// killed goes on there; from an earlier place it only does some again. What lies before a place may
// be lost meanwhile with the server's memory: then it begins anew, if it is asked to look.
//
// Threads:   one thread at a time; reading is a thread of its own.
// Owns:      nothing; both connections must outlive it and are not used by others.
// Blocks:    run() until the end, a stop or a failure; each call to Redis up to `call_timeout`.
// Fails:     RebuildEnd says why Redis ended it; pgqueue::Error is thrown. place() holds then, too.
// Limits:    `rows_per_second`; memory does not grow with the table.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cache/connection.h"
#include "pgqueue/verdict_pages.h"
#include "safety/replay/place_token.h"
#include "safety/replay/row_judge.h"
#include "safety/replay/verdict_stream.h"

namespace han::safety {

struct RebuildOptions {
  // Nothing is written: what would be is counted.
  bool is_dry_run = false;
  // 0: as fast as it goes.
  std::uint64_t rows_per_second = 50'000;
  std::optional<PlaceToken> from;
  // Some of the first rows are looked for; without half of them `from` does not count.
  bool is_from_checked = false;
  std::chrono::milliseconds call_timeout{10'000};
  std::size_t batch_keys = 256;
  std::size_t batch_bytes = std::size_t{1} << 20;
};

struct RebuildCounts {
  std::uint64_t rows = 0;
  // What the server took, and what it had already.
  std::uint64_t written = 0;
  std::uint64_t present = 0;
  // Rows beside the newest one of the same cached value.
  std::uint64_t duplicate = 0;
  // By RowOutcome; those of kCacheable are written or present.
  std::array<std::uint64_t, kRowOutcomeCount> outcomes{};

  std::uint64_t of(RowOutcome outcome) const { return outcomes[static_cast<std::size_t>(outcome)]; }
  RebuildCounts& operator+=(const RebuildCounts& other);
};

struct RebuildEnd {
  enum class Reason { kDone, kStopped, kRedis };

  Reason reason = Reason::kDone;
  // For kRedis: what happened to the connection, or else what the server answered.
  cache::Trouble trouble = cache::Trouble::kNone;
  cache::ErrorClass error = cache::ErrorClass::kNone;
};

// What the caller sees and says while it runs; called on its thread.
struct RebuildHooks {
  // `from` does not count: Redis has not what lies before it.
  std::function<void()> begin_anew;
  // After each batch. `share`: of the kind's rows, 0 to 1.
  std::function<void(const std::string& kind, double share, std::uint64_t rows)> progress;
  // Waits until the time, at most; true: stop. Called after each batch, also when no wait is due.
  std::function<bool(Deadline until)> wait;
};

class Rebuild {
 public:
  Rebuild(pgqueue::Connection& database, cache::Connection& redis, const RowJudge& judge,
          RebuildOptions options, RebuildHooks hooks);

  // Once.
  RebuildEnd run();
  // By the kind of row.
  const std::map<std::string, RebuildCounts>& counts() const { return counts_; }
  RebuildCounts total() const;
  // Where this run began; nullopt: at the beginning.
  const std::optional<PlaceToken>& began_at() const { return began_at_; }
  // Where to go on; nullopt: at the beginning.
  const std::optional<PlaceToken>& place() const { return place_; }

 private:
  enum class Flow { kGoOn, kStop };

  // Forgets the place when Redis has lost what lies before it.
  Flow check_place();
  Flow take_lot(const VerdictLot& lot);
  Flow send();
  Flow fail(cache::Trouble trouble, cache::ErrorClass error);

  pgqueue::Connection& database_;
  cache::Connection& redis_;
  const RowJudge& judge_;
  const RebuildOptions options_;
  const RebuildHooks hooks_;
  std::map<std::string, RebuildCounts> counts_;
  std::optional<PlaceToken> began_at_;
  std::optional<PlaceToken> place_;
  RebuildEnd end_;
  std::uint64_t rows_ = 0;
  Clock::SteadyTime due_;
  // The batch that fills up: its commands, the rows that it stands for and the last one's place.
  cache::CommandBuffer commands_;
  std::uint64_t batch_rows_ = 0;
  std::string batch_kind_;
  std::string batch_hash_;
};

}  // namespace han::safety
