// BatchLookup: what a batch is judged from, of all its subjects, from the nearest layer that has it
// (SPEC section 8).
//
// Order: local cache, one Redis round trip for all keys of all kinds that are missing, PostgreSQL's
// verdicts of the same versions, computing. A layer that fails, or answers what cannot be used, is
// a miss.
//
// Redis is asked while it pays (RedisBudget): a slow one makes no batch slower than computing.
//
// Nothing of a verdict is written before it is committed: remember() is called with the subjects
// whose verdict was, and a thread of its own brings them to Redis.
//
// Threads:   safe to share; scratch memory is the caller's. start() and stop() from one thread.
// Owns:      the look-ups with their local caches, and the writer; borrows the rest.
// Blocks:    find() up to the Redis deadline, the database deadline, and another thread's
//            computation; remember() never; stop() as CacheWriter.
// Fails:     never: a subject that cannot be judged has evidence that says so.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cache/hot_cache.h"
#include "pgqueue/pool.h"
#include "safety/base/pepper.h"
#include "safety/telemetry/log.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/cache_writer.h"
#include "safety/worker/redis_budget.h"
#include "safety/worker/snapshot.h"
#include "safety/worker/text_lookup.h"

namespace han::safety {

struct BatchSubjects {
  std::vector<TextSubject> texts;
};

struct BatchLookupOptions {
  std::chrono::milliseconds redis_timeout{50};
  std::chrono::milliseconds database_timeout{5000};
  std::size_t local_cache_bytes = 64 * 1024 * 1024;
  cache::HotTtls ttls;
};

class BatchLookup {
 public:
  // `hot_cache` may be null: no Redis is configured.
  BatchLookup(const PepperSet& peppers, cache::HotCache* hot_cache, pgqueue::Pool& pool,
              Metrics& metrics, BatchLookupOptions options);

  // Without it nothing is written to Redis.
  void start();
  void stop(Deadline deadline);

  // HMAC(pepper, "text" || repaired bytes) under the current pepper.
  Digest text_hash(std::string_view repaired_text) const { return texts_.hash(repaired_text); }
  // Fills `found` and `layer` of every subject.
  void find(BatchSubjects& subjects, const Snapshot& snapshot, TextScratch& scratch);

  // Subjects whose verdict was committed under the snapshot that they were found with.
  struct Committed {
    std::vector<TextSubject*> texts;
  };
  void remember(const Committed& committed, const Snapshot& snapshot);

  cache::LocalCacheStats local_stats() const { return texts_.local_stats(); }
  // What a round trip of Redis's self-test took, which passed.
  void note_self_test(std::chrono::nanoseconds round_trip) { budget_.note_self_test(round_trip); }
  RedisBudgetStats budget_stats() const { return budget_.stats(); }
  CacheWriterStats writer_stats() const;
  // Waits until Redis has what was remembered; for tests.
  bool wait_written(Deadline deadline);

 private:
  // What no layer had so far.
  struct Missing {
    TextLookup::Missing texts;
    std::size_t size() const { return texts.size(); }
  };

  void find_redis(Missing& missing, const Snapshot& snapshot);
  void find_database(Missing& missing, const Snapshot& snapshot);

  cache::HotCache* const hot_cache_;
  pgqueue::Pool& pool_;
  Metrics& metrics_;
  const BatchLookupOptions options_;
  const std::vector<std::string> pepper_ids_;
  RepeatedLog database_log_{LogLevel::kWarning, "verdict look-up failed"};
  RedisBudget budget_;
  TextLookup texts_;
  std::unique_ptr<CacheWriter> writer_;  // null: no Redis is configured
};

}  // namespace han::safety
