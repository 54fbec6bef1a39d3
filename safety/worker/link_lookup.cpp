#include "safety/worker/link_lookup.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "pgqueue/verdict_rows.h"
#include "safety/base/hex.h"

namespace han::safety {
namespace {

constexpr const char* kKind = "link";

// Between the look-up and the write, at most.
constexpr std::chrono::hours kWriteDelayMax{1};

cache::LinkKey key_of(const Digest& hash, const Snapshot& snapshot) {
  return {hash, snapshot.rules_version(), snapshot.config_version()};
}

Digest hash_of(const HmacKey& pepper, const LinkItem& item) {
  return item.subject ? url_hash(pepper, *item.subject) : url_hash(pepper, item.url);
}

void forget_found(LinkLookup::Missing& missing) {
  std::erase_if(missing, [](const LinkItem* item) { return item->found != nullptr; });
}

LinkEvidence evidence_of(const cache::LinkEntry& entry) {
  LinkEvidence evidence;
  // The names are the same words; what is none stays indeterminate, which no cache may say.
  if (const auto decision = parse_decision(cache::decision_name(entry.decision))) {
    evidence.decision = *decision;
  }
  evidence.reason = entry.reason;
  evidence.hits = entry.hits;
  evidence.monitor = entry.monitor;
  evidence.categories = entry.categories;
  evidence.needs_dns = entry.needs_dns;
  return evidence;
}

// Empty: not to be cached.
std::string encoded(const LinkEvidence& evidence, const Digest& hash, const Snapshot& snapshot,
                    const Pepper& pepper) {
  const auto decision = cache::parse_decision_name(to_string(evidence.decision));
  if (!decision) return "";
  cache::LinkEntry entry{.subject = to_hex(hash),
                         .rules_version = snapshot.rules_version(),
                         .config_version = snapshot.config_version(),
                         .decision = *decision,
                         .reason = evidence.reason,
                         .hits = evidence.hits,
                         .monitor = evidence.monitor,
                         .categories = evidence.categories,
                         .needs_dns = evidence.needs_dns};
  return cache::seal_entry(entry, pepper);
}

}  // namespace

LinkLookup::LinkLookup(const PepperSet& peppers, Metrics& metrics, LinkLookupOptions options)
    : peppers_(peppers),
      metrics_(metrics),
      options_(options),
      pepper_ids_(cache::pepper_ids(peppers)),
      local_(options.local_cache_bytes) {}

LinkItem LinkLookup::item(std::string url) const {
  LinkItem item;
  item.subject = link_subject(url);
  item.url = std::move(url);
  item.hash = hash_of(peppers_.current.key, item);
  return item;
}

std::optional<Digest> LinkLookup::previous_hash(const LinkItem& item) const {
  if (!peppers_.previous) return std::nullopt;
  return hash_of(peppers_.previous->key, item);
}

LinkLookup::Found LinkLookup::usable(const cache::LinkEntry& entry, const Digest& hash,
                                     const Snapshot& snapshot, std::string_view layer) {
  LinkEvidence evidence = evidence_of(entry);
  if (!cache::is_sealed(entry, peppers_) || !snapshot.judge().is_usable(evidence)) {
    metrics_.count("evidence_refused_total", layer);
    return nullptr;
  }
  std::string bytes = cache::reseal_entry(entry, hash, peppers_);
  return std::make_shared<CachedLink>(CachedLink{std::move(evidence), std::move(bytes), false});
}

LinkLookup::Missing LinkLookup::find_local(std::span<LinkItem> items, const Snapshot& snapshot) {
  Missing missing;
  for (LinkItem& item : items) {
    item.found = local_.get(key_of(item.hash, snapshot).str());
    if (item.found) {
      item.layer = Layer::kLocal;
      item.is_in_redis = true;
    } else {
      missing.push_back(&item);
    }
  }
  return missing;
}

LinkLookup::Keys LinkLookup::keys(std::span<LinkItem* const> missing,
                                  const Snapshot& snapshot) const {
  Keys keys;
  for (const LinkItem* item : missing) {
    std::optional<cache::LinkKey> previous;
    if (const auto hash = previous_hash(*item)) previous = key_of(*hash, snapshot);
    keys.add(key_of(item->hash, snapshot), std::move(previous));
  }
  return keys;
}

void LinkLookup::take(const Keys& keys, std::span<const cache::LookupOf<cache::LinkEntry>> lookups,
                      Missing& missing, const Snapshot& snapshot) {
  using Lookup = cache::LookupOf<cache::LinkEntry>;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    LinkItem& item = *missing[i];
    const auto answer = keys.answer(i, lookups, [&](const Lookup& lookup) {
      if (lookup.entry) item.found = usable(*lookup.entry, item.hash, snapshot, "redis");
      return item.found != nullptr;
    });
    item.is_in_redis = answer.is_current;
    item.is_seen_there = answer.is_seen;
    if (item.found) item.layer = Layer::kRedis;
  }
  forget_found(missing);
}

void LinkLookup::find_database(pgqueue::Connection& connection, Missing& missing,
                               const Snapshot& snapshot, Deadline deadline) {
  std::map<pgqueue::VerdictSubject, LinkItem*> by_subject;
  for (LinkItem* item : missing) {
    if (!item->is_task) continue;
    by_subject[{std::string(as_text(item->hash)), peppers_.current.id}] = item;
    if (const auto old = previous_hash(*item)) {
      by_subject[{std::string(as_text(*old)), peppers_.previous->id}] = item;
    }
  }
  if (by_subject.empty()) return;
  std::vector<pgqueue::VerdictSubject> wanted;
  wanted.reserve(by_subject.size());
  for (const auto& [key, item] : by_subject) wanted.push_back(key);
  for (const auto& [key, row] :
       pgqueue::find_verdicts(connection, kKind, snapshot.rules_version(),
                              snapshot.config_version(), wanted, deadline)) {
    LinkItem& item = *by_subject.at(key);
    if (item.found) continue;
    const auto cached_under = cache::key_of_row(
        {kKind, key.subject_hash, snapshot.rules_version(), snapshot.config_version(), ""});
    const auto decoded = cache::decode_entry(
        row.evidence, std::get<cache::LinkKey>(cached_under.value()), pepper_ids_);
    if (decoded.outcome != cache::DecodeOutcome::kEntry) {
      metrics_.count("evidence_refused_total", "postgres");
      continue;
    }
    item.found = usable(decoded.entry, item.hash, snapshot, "postgres");
    if (!item.found) continue;
    item.layer = Layer::kPostgres;
    // What is in Redis must not outlive its row: replay would call it unbacked.
    const auto ends = row.age + options_.redis_ttl + kWriteDelayMax;
    if (ends > pgqueue::kVerdictKeptLeast) item.is_in_redis = true;
  }
  forget_found(missing);
}

void LinkLookup::compute(const Missing& missing, const Snapshot& snapshot) const {
  for (LinkItem* item : missing) {
    CachedLink link;
    link.evidence = item->subject ? snapshot.judge().judge_stable(*item->subject)
                                  : snapshot.judge().judge_invalid(item->url);
    link.bytes = encoded(link.evidence, item->hash, snapshot, peppers_.current);
    item->found = std::make_shared<CachedLink>(std::move(link));
  }
  if (!missing.empty()) {
    metrics_.count("links_computed_total", "", static_cast<double>(missing.size()));
  }
}

void LinkLookup::remember(std::span<LinkItem* const> items, std::span<LinkItem* const> tasks,
                          const Snapshot& snapshot,
                          std::vector<cache::WriteOf<cache::LinkEntry>>* writes) {
  for (LinkItem* item : items) {
    if (item->found->bytes.empty()) continue;
    const cache::LinkKey key = key_of(item->hash, snapshot);
    const bool has_row = std::binary_search(tasks.begin(), tasks.end(), item);
    if (item->layer != Layer::kLocal || (has_row && !item->found->is_committed)) {
      auto known = std::make_shared<CachedLink>(*item->found);
      known->is_committed = known->is_committed || has_row;
      const std::size_t bytes = known->bytes.size() * 2 + sizeof(CachedLink);
      local_.put(key.str(), std::move(known), bytes);
    }
    if (writes != nullptr && !item->is_in_redis) {
      writes->push_back({key, item->found->bytes, !item->is_seen_there});
    }
  }
}

}  // namespace han::safety
