// BatchLookup: what a batch is judged from, of all its subjects, from the nearest layer that has it
// (SPEC section 8).
//
// Order: the links of texts that have any and the URLs in links of tasks, local caches, one Redis
// round trip for all keys of all kinds that are missing, PostgreSQL's verdicts of the same
// versions, computing. A layer that fails, or answers what cannot be used, is a miss. What hosts
// resolve to and no cache has is asked for by resolve(), a step of its own: what does not wait for
// it need not wait.
//
// Redis is asked while it pays (RedisBudget): a slow one makes no batch slower than computing.
//
// Nothing of a verdict is written before it is committed: remember() is called with the subjects
// whose verdict was, and a thread of its own brings them to Redis. DNS answers are no part of any
// verdict and are written when they come.
//
// Threads:   safe to share; scratch memory is the caller's. start() and stop() from one thread.
// Owns:      the look-ups with their local caches, and the writer; borrows the rest.
// Blocks:    find() up to the Redis deadline, the database deadline, and another thread's
//            computation; resolve() up to dns_timeout; remember() never; stop() as CacheWriter.
// Fails:     never: a subject that cannot be judged has evidence or facts that say so.
// Limits:    cache::kBatchKeysMax keys in a round trip, 500 links and 1,000 questions among them;
//            what is beyond is not asked of Redis.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/hot_cache.h"
#include "pgqueue/pool.h"
#include "safety/base/pepper.h"
#include "safety/link/extract.h"
#include "safety/telemetry/log.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/batch_subjects.h"
#include "safety/worker/cache_writer.h"
#include "safety/worker/dns_lookup.h"
#include "safety/worker/link_lookup.h"
#include "safety/worker/redis_budget.h"
#include "safety/worker/snapshot.h"
#include "safety/worker/text_lookup.h"

namespace han::safety {

struct BatchLookupOptions {
  std::chrono::milliseconds redis_timeout{50};
  std::chrono::milliseconds database_timeout{5000};
  std::chrono::milliseconds dns_timeout{2000};  // all questions of a batch together
  std::size_t local_cache_bytes = 64 * 1024 * 1024;
  cache::HotTtls ttls;
};

class BatchLookup {
 public:
  // `hot_cache` may be null: no Redis is configured. `resolve` may be empty: every name fails.
  BatchLookup(const PepperSet& peppers, cache::HotCache* hot_cache, pgqueue::Pool& pool,
              DnsLookup::Resolve resolve, Metrics& metrics, BatchLookupOptions options);

  // Without it nothing is written to Redis.
  void start();
  void stop(Deadline deadline);

  // HMAC(pepper, "text" || repaired bytes) under the current pepper.
  Digest text_hash(std::string_view repaired_text) const { return texts_.hash(repaired_text); }
  LinkItem link_item(std::string url) const { return links_.item(std::move(url)); }
  // Adds the links of the texts and their hosts, fills `found` and `layer` of every text and link,
  // and the facts of hosts that a cache has.
  void find(BatchSubjects& subjects, const Snapshot& snapshot, TextScratch& scratch);
  // True: a link waits for resolve().
  static bool is_waiting(const BatchSubjects& subjects);
  // Fills the facts of the hosts that a link waits for.
  void resolve(BatchSubjects& subjects);

  // Subjects whose verdict was committed under the snapshot that they were found with.
  struct Committed {
    std::vector<TextSubject*> texts;
    std::vector<LinkItem*> links;  // of tasks, of the texts and those in links of tasks
    // Of `links` those whose own task was committed, with its verdict row. Both sorted.
    std::vector<LinkItem*> link_tasks;
  };
  void remember(const Committed& committed, const Snapshot& snapshot);

  cache::LocalCacheStats local_stats() const;
  ResolverHealthStats resolver_stats() const { return hosts_.health().stats(); }
  bool is_resolver_down() const { return hosts_.health().is_down(); }
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
    LinkLookup::Missing links;
    DnsLookup::Missing hosts;
    std::size_t size() const { return texts.size() + links.size() + hosts.size(); }
  };

  void add_links(BatchSubjects& subjects, const Snapshot& snapshot) const;
  BatchSubjects::LinkUses uses_of(Extraction extraction, BatchSubjects& subjects) const;
  void add_hosts(BatchSubjects& subjects, const Snapshot& snapshot) const;
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
  LinkLookup links_;
  DnsLookup hosts_;
  std::unique_ptr<CacheWriter> writer_;  // null: no Redis is configured
};

}  // namespace han::safety
