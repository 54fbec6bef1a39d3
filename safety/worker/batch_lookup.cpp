#include "safety/worker/batch_lookup.h"

#include <algorithm>
#include <span>
#include <utility>

#include "pgqueue/error.h"

namespace han::safety {
namespace {

// Nobody waits for a write.
constexpr std::chrono::milliseconds kWriteTimeout{1'000};
// Of the room of the local caches: a link's entry and an answer are as large as a text's, and most
// texts have none.
constexpr std::size_t kLinkShare = 4;
// In one round trip. Texts full of links must not make it long: computing a link costs about as
// much as reading it.
constexpr std::size_t kLinksAsked = 500;
constexpr std::size_t kHostsAsked = 1'000;

template <typename Lookups>
bool is_any_available(const Lookups& lookups) {
  return std::ranges::any_of(lookups, [](const auto& lookup) {
    return lookup.outcome != std::decay_t<decltype(lookup)>::Outcome::kUnavailable;
  });
}

}  // namespace

BatchLookup::BatchLookup(const PepperSet& peppers, cache::HotCache* hot_cache, pgqueue::Pool& pool,
                         DnsLookup::Resolve resolve, Metrics& metrics, BatchLookupOptions options)
    : hot_cache_(hot_cache),
      pool_(pool),
      metrics_(metrics),
      options_(options),
      pepper_ids_(cache::pepper_ids(peppers)),
      budget_(options.redis_timeout),
      texts_(peppers, metrics,
             {.local_cache_bytes = options.local_cache_bytes,
              .wait = options.database_timeout,
              .redis_ttl = options.ttls.text}),
      links_(peppers, metrics,
             {.local_cache_bytes = options.local_cache_bytes / kLinkShare,
              .redis_ttl = options.ttls.link}),
      hosts_(peppers, std::move(resolve), metrics,
             {.local_cache_bytes = options.local_cache_bytes / kLinkShare,
              .ttl_max = options.ttls.dns}) {
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

cache::LocalCacheStats BatchLookup::local_stats() const {
  cache::LocalCacheStats sum = texts_.local_stats();
  for (const auto& stats : {links_.local_stats(), hosts_.local_stats()}) {
    sum.hits += stats.hits;
    sum.misses += stats.misses;
    sum.expired += stats.expired;
    sum.evicted += stats.evicted;
    sum.refused += stats.refused;
    sum.entries += stats.entries;
    sum.bytes += stats.bytes;
  }
  return sum;
}

void BatchLookup::find(BatchSubjects& subjects, const Snapshot& snapshot, TextScratch& scratch) {
  Missing missing;
  missing.texts = texts_.find_local(subjects.texts, snapshot);
  add_links(subjects, snapshot);
  missing.links = links_.find_local(subjects.links, snapshot);
  add_hosts(subjects, snapshot);
  missing.hosts = hosts_.find_local(subjects.hosts);
  find_redis(missing, snapshot);
  find_database(missing, snapshot);
  const auto computed = texts_.compute(missing.texts, snapshot, scratch);
  if (computed.subjects > 0) budget_.note_computed(computed.subjects, computed.took);
  links_.compute(missing.links, snapshot);
  for (const LinkItem& link : subjects.links) {
    if (link.host == LinkItem::kNoHost || !link.found->evidence.needs_dns) continue;
    for (const std::size_t half : {link.host, link.host + 1}) {
      subjects.hosts[half].is_needed = true;
    }
  }
}

// A text that is known to have none is not read again. What stands in a task's link is found anew
// each time: a part of it may be behind the '#', and so no part of what the caches know it by.
void BatchLookup::add_links(BatchSubjects& subjects, const Snapshot& snapshot) const {
  const ExtractLimits limits{.links_max = snapshot.config().links.links_max};
  for (std::size_t i = 0; i < subjects.texts.size(); ++i) {
    const TextSubject& text = subjects.texts[i];
    if (text.found && !text.found->evidence.has_links) continue;
    if (text.text.size() > kTextBytesMax) continue;  // indeterminate(limit), and not read in part
    subjects.links_of[i] = uses_of(extract_links(text.text, limits), subjects);
  }
  for (BatchSubjects::LinkTask& task : subjects.link_tasks) {
    task.nested = uses_of(extract_nested_links(task.url, limits), subjects);
  }
}

BatchSubjects::LinkUses BatchLookup::uses_of(Extraction extraction, BatchSubjects& subjects) const {
  BatchSubjects::LinkUses found{{}, extraction.is_over_budget};
  for (ExtractedLink& link : extraction.links) {
    if (link.reading == Reading::kNowhere) continue;
    found.uses.push_back({subjects.add_link(links_.item(std::move(link.url))), link.obfuscated,
                          link.reading == Reading::kAlternate, link.is_bare_address});
  }
  return found;
}

void BatchLookup::add_hosts(BatchSubjects& subjects, const Snapshot& snapshot) const {
  if (snapshot.config().links.dns != DnsUse::kRequired) return;
  for (LinkItem& link : subjects.links) {
    if (!link.subject || link.subject->host.empty()) continue;
    if (link.found && !link.found->evidence.needs_dns) continue;
    link.host = subjects.add_host(hosts_.item(link.subject->host, dns::RecordType::kA),
                                  hosts_.item(link.subject->host, dns::RecordType::kAaaa));
  }
}

bool BatchLookup::is_waiting(const BatchSubjects& subjects) {
  return std::ranges::any_of(
      subjects.hosts, [](const HostItem& host) { return host.is_needed && host.facts == nullptr; });
}

void BatchLookup::resolve(BatchSubjects& subjects) {
  DnsLookup::Missing missing;
  for (HostItem& host : subjects.hosts) {
    if (host.is_needed && host.facts == nullptr) missing.push_back(&host);
  }
  if (missing.empty()) return;
  CacheWrites writes;
  hosts_.resolve(missing, Deadline::after(options_.dns_timeout), writer_ ? &writes.hosts : nullptr);
  if (writer_) writer_->add(std::move(writes));
}

void BatchLookup::find_redis(Missing& missing, const Snapshot& snapshot) {
  if (hot_cache_ == nullptr || missing.size() == 0) return;
  // Texts are fewer than a round trip may have: the claim bounds them.
  std::size_t room = cache::kBatchKeysMax / pepper_ids_.size();
  const auto first = [&](auto& items, std::size_t most) {
    const std::span asked(items.data(), std::min({items.size(), room, most}));
    room -= asked.size();
    return asked;
  };
  const auto texts = first(missing.texts, room);
  const auto links = first(missing.links, kLinksAsked);
  const auto hosts = first(missing.hosts, kHostsAsked);
  const std::size_t asked = texts.size() + links.size() + hosts.size();
  const auto grant = budget_.ask(asked);
  if (!grant) return;  // Redis does not pay now
  const auto text_keys = texts_.keys(texts, snapshot);
  const auto link_keys = links_.keys(links, snapshot);
  const auto host_keys = hosts_.keys(hosts);
  const auto found = hot_cache_->get({.texts = text_keys.keys(),
                                      .files = {},
                                      .links = link_keys.keys(),
                                      .hosts = host_keys.keys()},
                                     pepper_ids_, grant->deadline());
  if (!is_any_available(found.texts) && !is_any_available(found.links) &&
      !is_any_available(found.hosts)) {
    budget_.settle(*grant, RedisBudget::Answer::kNone, 0);
    return;
  }
  const std::size_t before = missing.size();
  texts_.take(text_keys, found.texts, missing.texts, snapshot);
  links_.take(link_keys, found.links, missing.links, snapshot);
  hosts_.take(host_keys, found.hosts, missing.hosts);
  // Only what could be used has saved anything: a server that lies does not pay.
  budget_.settle(*grant, RedisBudget::Answer::kCame, before - missing.size());
}

void BatchLookup::find_database(Missing& missing, const Snapshot& snapshot) {
  const bool is_any_task = std::ranges::any_of(missing.links, &LinkItem::is_task);
  if (missing.texts.empty() && !is_any_task) return;
  const auto begin = system_clock().now();
  try {
    const Deadline deadline = Deadline::after(options_.database_timeout);
    const auto connection = pool_.acquire(deadline);
    texts_.find_database(*connection, missing.texts, snapshot, deadline);
    links_.find_database(*connection, missing.links, snapshot, deadline);
  } catch (const pgqueue::Error& error) {
    metrics_.count("database_errors_total", "look-up");
    database_log_(error.what());
  }
  budget_.note_database(system_clock().now() - begin);
}

void BatchLookup::remember(const Committed& committed, const Snapshot& snapshot) {
  CacheWrites writes;
  texts_.remember(committed.texts, snapshot, writer_ ? &writes.texts : nullptr);
  links_.remember(committed.links, committed.link_tasks, snapshot,
                  writer_ ? &writes.links : nullptr);
  // Best effort: what is not stored is looked up in PostgreSQL next time.
  if (writer_) writer_->add(std::move(writes));
}

}  // namespace han::safety
