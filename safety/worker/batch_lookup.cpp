#include "safety/worker/batch_lookup.h"

#include <algorithm>
#include <utility>

#include "pgqueue/error.h"

namespace han::safety {
namespace {

// Nobody waits for a write.
constexpr std::chrono::milliseconds kWriteTimeout{1'000};

template <typename Lookups>
bool is_any_available(const Lookups& lookups) {
  return std::ranges::any_of(lookups, [](const auto& lookup) {
    return lookup.outcome != std::decay_t<decltype(lookup)>::Outcome::kUnavailable;
  });
}

}  // namespace

BatchLookup::BatchLookup(const PepperSet& peppers, cache::HotCache* hot_cache, pgqueue::Pool& pool,
                         Metrics& metrics, BatchLookupOptions options)
    : hot_cache_(hot_cache),
      pool_(pool),
      metrics_(metrics),
      options_(options),
      pepper_ids_(cache::pepper_ids(peppers)),
      budget_(options.redis_timeout),
      texts_(peppers, metrics,
             {.local_cache_bytes = options.local_cache_bytes,
              .wait = options.database_timeout,
              .redis_ttl = options.ttls.text}) {
  if (hot_cache_ == nullptr) return;
  writer_ = std::make_unique<CacheWriter>(
      *hot_cache_,
      CacheWriterOptions{.timeout = std::max(options.redis_timeout, kWriteTimeout),
                         .ttls = options.ttls},
      [this](std::chrono::nanoseconds took) { budget_.note_write(took); });
}

void BatchLookup::start() {
  if (writer_) writer_->start();
}

void BatchLookup::stop(Deadline deadline) {
  if (writer_) writer_->stop(deadline);
}

CacheWriterStats BatchLookup::writer_stats() const {
  return writer_ ? writer_->stats() : CacheWriterStats{};
}

bool BatchLookup::wait_written(Deadline deadline) {
  return writer_ == nullptr || writer_->wait_idle(deadline);
}

void BatchLookup::find(BatchSubjects& subjects, const Snapshot& snapshot, TextScratch& scratch) {
  Missing missing{texts_.find_local(subjects.texts, snapshot)};
  find_redis(missing, snapshot);
  find_database(missing, snapshot);
  const auto computed = texts_.compute(missing.texts, snapshot, scratch);
  if (computed.subjects > 0) budget_.note_computed(computed.subjects, computed.took);
}

void BatchLookup::find_redis(Missing& missing, const Snapshot& snapshot) {
  const std::size_t asked = missing.size();
  if (hot_cache_ == nullptr || asked == 0) return;
  const auto grant = budget_.ask(asked);
  if (!grant) return;  // Redis does not pay now
  const auto text_keys = texts_.keys(missing.texts, snapshot);
  const auto found =
      hot_cache_->get({.texts = text_keys.keys(), .files = {}, .links = {}, .hosts = {}},
                      pepper_ids_, grant->deadline());
  if (!is_any_available(found.texts)) {
    budget_.settle(*grant, RedisBudget::Answer::kNone, 0);
    return;
  }
  texts_.take(text_keys, found.texts, missing.texts, snapshot);
  // Only what could be used has saved anything: a server that lies does not pay.
  budget_.settle(*grant, RedisBudget::Answer::kCame, asked - missing.size());
}

void BatchLookup::find_database(Missing& missing, const Snapshot& snapshot) {
  if (missing.size() == 0) return;
  const auto begin = system_clock().now();
  try {
    const Deadline deadline = Deadline::after(options_.database_timeout);
    const auto connection = pool_.acquire(deadline);
    texts_.find_database(*connection, missing.texts, snapshot, deadline);
  } catch (const pgqueue::Error& error) {
    metrics_.count("database_errors_total", "look-up");
    database_log_(error.what());
  }
  budget_.note_database(system_clock().now() - begin);
}

void BatchLookup::remember(const Committed& committed, const Snapshot& snapshot) {
  CacheWrites writes;
  texts_.remember(committed.texts, snapshot, writer_ ? &writes.texts : nullptr);
  // Best effort: what is not stored is looked up in PostgreSQL next time.
  if (writer_) writer_->add(std::move(writes));
}

}  // namespace han::safety
