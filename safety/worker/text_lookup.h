// TextLookup: evidence of a batch's texts, from the nearest layer that has it (SPEC section 8).
//
// Order: local cache, one Redis round trip for all that is missing, PostgreSQL's verdicts of the
// same rules version, computing. A layer that fails, or answers what cannot be used, is a miss.
// Equal texts of a batch are one subject, and concurrent batches compute a subject once.
//
// Redis is asked while it pays (RedisBudget): a slow one makes no batch slower than computing.
//
// What comes from Redis or from a verdict row carries a proof that a holder of the pepper wrote it,
// and is not believed without: a store that lies costs a computation, never a verdict (SPEC I5).
//
// Nothing is written before it is committed: remember() is called with the subjects whose verdict
// was, and a thread of its own brings them to Redis.
//
// Threads:   safe to share; scratch memory is the caller's. start() and stop() from one thread.
// Owns:      the local cache, the flights and the writer; borrows the rest.
// Blocks:    find() up to the Redis deadline, the database deadline, and another thread's
//            computation; remember() never; stop() as CacheWriter.
// Fails:     never: a subject whose text cannot be judged has evidence that says so.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry_seal.h"
#include "cache/hot_cache.h"
#include "cache/local_cache.h"
#include "cache/single_flight.h"
#include "pgqueue/pool.h"
#include "safety/base/pepper.h"
#include "safety/evidence.h"
#include "safety/telemetry/log.h"
#include "safety/telemetry/metrics.h"
#include "safety/text/text_engine.h"
#include "safety/verdict.h"
#include "safety/worker/cache_writer.h"
#include "safety/worker/redis_budget.h"

namespace han::safety {

// Evidence as the caches keep it.
struct CachedText {
  TextEvidence evidence;
  // The encoded entry under the current pepper: the value in Redis and the evidence of the verdict
  // row.
  std::string bytes;
  // The config version under which this process has seen the verdict row committed; empty: not
  // seen.
  std::string committed_config;
};

struct TextSubject {
  std::string_view text;  // repaired; must outlive the subject
  Digest hash{};          // under the current pepper
  std::shared_ptr<const CachedText> found;
  Layer layer = Layer::kComputed;
  bool is_in_redis = false;    // nothing is to be written there
  bool is_seen_there = false;  // Redis has said what is there
};

struct TextLookupOptions {
  std::chrono::milliseconds redis_timeout{50};
  std::chrono::milliseconds database_timeout{5000};
  std::size_t local_cache_bytes = 64 * 1024 * 1024;
  std::chrono::seconds redis_ttl = cache::kTextTtlMax;
};

class TextLookup {
 public:
  // `hot_cache` may be null: no Redis is configured.
  TextLookup(std::shared_ptr<const TextEngine> engine, const PepperSet& peppers,
             cache::HotCache* hot_cache, pgqueue::Pool& pool, Metrics& metrics,
             TextLookupOptions options);

  // Without it nothing is written to Redis.
  void start();
  void stop(Deadline deadline);

  // HMAC(pepper, "text" || repaired bytes) under the current pepper.
  Digest analysis_hash(std::string_view repaired_text) const;
  // Fills `found` and `layer` of every subject.
  void find(std::vector<TextSubject>& subjects, TextScratch& scratch);
  // Keeps the evidence of subjects whose verdict was committed under `config_version`.
  void remember(const std::vector<TextSubject*>& subjects, const std::string& config_version);

  cache::LocalCacheStats local_stats() const { return local_.stats(); }
  // What a round trip of Redis's self-test took, which passed.
  void note_self_test(std::chrono::nanoseconds round_trip) { budget_.note_self_test(round_trip); }
  RedisBudgetStats budget_stats() const { return budget_.stats(); }
  CacheWriterStats writer_stats() const;
  // Waits until Redis has what was remembered; for tests.
  bool wait_written(Deadline deadline);

 private:
  using Found = std::shared_ptr<const CachedText>;
  using Missing = std::vector<TextSubject*>;

  cache::TextKey key_of(const Digest& hash) const;
  Missing find_local(std::vector<TextSubject>& subjects);
  Missing find_redis(Missing missing);
  using RedisKeys = cache::PepperedKeys<cache::TextEntry>;
  RedisKeys redis_keys(const Missing& missing) const;
  Missing find_database(Missing missing);
  void compute(const Missing& missing, TextScratch& scratch);
  // Evidence from outside, or null when it cannot be used.
  Found usable(const cache::TextEntry& entry, const Digest& hash, std::string_view layer);
  Found computed(const TextSubject& subject, TextScratch& scratch) const;
  std::string encode(const TextEvidence& evidence, const Digest& hash) const;

  const std::shared_ptr<const TextEngine> engine_;
  const PepperSet& peppers_;
  cache::HotCache* const hot_cache_;
  pgqueue::Pool& pool_;
  Metrics& metrics_;
  const TextLookupOptions options_;
  const std::vector<std::string> pepper_ids_;
  RepeatedLog database_log_{LogLevel::kWarning, "verdict look-up failed"};
  cache::LocalCache<CachedText> local_;
  cache::SingleFlight<CachedText> flights_;
  RedisBudget budget_;
  std::unique_ptr<CacheWriter> writer_;  // null: no Redis is configured
};

}  // namespace han::safety
