#include "safety/worker/text_lookup.h"

#include <map>
#include <utility>
#include <variant>

#include "pgqueue/verdict_rows.h"
#include "safety/base/hex.h"
#include "safety/policy.h"

namespace han::safety {
namespace {

constexpr std::string_view kLabel = "text";
constexpr const char* kKind = "text";

// Between the look-up and the write, at most.
constexpr std::chrono::hours kWriteDelayMax{1};

std::string raw(const Digest& hash) { return {as_text(hash).begin(), as_text(hash).end()}; }

cache::TextKey key_of(const Digest& hash, const Snapshot& snapshot) {
  return {hash, snapshot.rules_version()};
}

void forget_found(TextLookup::Missing& missing) {
  std::erase_if(missing, [](const TextSubject* subject) { return subject->found != nullptr; });
}

}  // namespace

TextLookup::TextLookup(const PepperSet& peppers, Metrics& metrics, TextLookupOptions options)
    : peppers_(peppers),
      metrics_(metrics),
      options_(options),
      pepper_ids_(cache::pepper_ids(peppers)),
      local_(options.local_cache_bytes) {}

Digest TextLookup::hash(std::string_view repaired_text) const {
  return peppers_.current.key.mac(kLabel, repaired_text);
}

TextLookup::Found TextLookup::usable(const cache::TextEntry& entry, const Digest& hash,
                                     const Snapshot& snapshot, std::string_view layer) {
  TextEvidence evidence{entry.hits, entry.monitor, entry.has_links, ""};
  if (!cache::is_sealed(entry, peppers_) || !is_usable(evidence, snapshot.rules())) {
    metrics_.count("evidence_refused_total", layer);
    return nullptr;
  }
  std::string bytes = cache::reseal_entry(entry, hash, peppers_);
  return std::make_shared<CachedText>(CachedText{std::move(evidence), std::move(bytes), ""});
}

TextLookup::Missing TextLookup::find_local(std::span<TextSubject> subjects,
                                           const Snapshot& snapshot) {
  Missing missing;
  for (TextSubject& subject : subjects) {
    subject.found = local_.get(key_of(subject.hash, snapshot).str());
    if (subject.found) {
      subject.layer = Layer::kLocal;
      subject.is_in_redis = true;
    } else {
      missing.push_back(&subject);
    }
  }
  return missing;
}

TextLookup::Keys TextLookup::keys(std::span<TextSubject* const> missing,
                                  const Snapshot& snapshot) const {
  Keys keys;
  for (const TextSubject* subject : missing) {
    std::optional<cache::TextKey> previous;
    if (const auto hash = cache::previous_hash(peppers_, kLabel, subject->text)) {
      previous = key_of(*hash, snapshot);
    }
    keys.add(key_of(subject->hash, snapshot), std::move(previous));
  }
  return keys;
}

void TextLookup::take(const Keys& keys, std::span<const cache::Lookup> lookups, Missing& missing,
                      const Snapshot& snapshot) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    TextSubject& subject = *missing[i];
    const auto answer = keys.answer(i, lookups, [&](const cache::Lookup& lookup) {
      if (lookup.entry) subject.found = usable(*lookup.entry, subject.hash, snapshot, "redis");
      return subject.found != nullptr;
    });
    // An entry under the previous pepper is written anew under the current one.
    subject.is_in_redis = answer.is_current;
    subject.is_seen_there = answer.is_seen;
    if (subject.found) subject.layer = Layer::kRedis;
  }
  forget_found(missing);
}

void TextLookup::find_database(pgqueue::Connection& connection, Missing& missing,
                               const Snapshot& snapshot, Deadline deadline) {
  if (missing.empty()) return;
  const std::string& version = snapshot.rules_version();
  std::map<pgqueue::VerdictSubject, TextSubject*> by_subject;
  for (TextSubject* subject : missing) {
    by_subject[{raw(subject->hash), peppers_.current.id}] = subject;
    if (const auto old = cache::previous_hash(peppers_, kLabel, subject->text)) {
      by_subject[{raw(*old), peppers_.previous->id}] = subject;
    }
  }
  std::vector<pgqueue::VerdictSubject> wanted;
  wanted.reserve(by_subject.size());
  for (const auto& [key, subject] : by_subject) wanted.push_back(key);
  for (const auto& [key, row] :
       pgqueue::find_verdicts(connection, kKind, version, "", wanted, deadline)) {
    TextSubject& subject = *by_subject.at(key);
    if (subject.found) continue;
    const auto cached_under = cache::key_of_row({kKind, key.subject_hash, version, "", ""});
    const auto decoded = cache::decode_entry(
        row.evidence, std::get<cache::TextKey>(cached_under.value()), pepper_ids_);
    if (decoded.outcome != cache::DecodeOutcome::kEntry) {
      metrics_.count("evidence_refused_total", "postgres");
      continue;
    }
    subject.found = usable(decoded.entry, subject.hash, snapshot, "postgres");
    if (!subject.found) continue;
    subject.layer = Layer::kPostgres;
    // What is in Redis must not outlive its row: replay would call it wrong.
    const auto ends = row.age + options_.redis_ttl + kWriteDelayMax;
    if (ends > pgqueue::kVerdictKeptLeast) subject.is_in_redis = true;
  }
  forget_found(missing);
}

TextLookup::Found TextLookup::computed(const TextSubject& subject, const Snapshot& snapshot,
                                       TextScratch& scratch) const {
  CachedText text{snapshot.engine().scan(subject.text, scratch), "", ""};
  if (text.evidence.is_complete()) {
    cache::TextEntry entry{.subject = to_hex(subject.hash),
                           .rules_version = snapshot.rules_version(),
                           .hits = text.evidence.hits,
                           .monitor = text.evidence.monitor,
                           .has_links = text.evidence.has_links};
    text.bytes = cache::seal_entry(entry, peppers_.current);
  }
  return std::make_shared<CachedText>(std::move(text));
}

TextLookup::Computed TextLookup::compute(const Missing& missing, const Snapshot& snapshot,
                                         TextScratch& scratch) {
  using Flights = cache::SingleFlight<CachedText>;
  // All own leads first, then the others' results: two batches cannot wait for each other in a
  // circle.
  std::vector<std::pair<TextSubject*, Flights::Lead>> leads;
  std::vector<std::pair<TextSubject*, Flights::Wait>> waits;
  for (TextSubject* subject : missing) {
    auto flight = flights_.begin(key_of(subject->hash, snapshot).str());
    if (auto* lead = std::get_if<Flights::Lead>(&flight)) {
      leads.emplace_back(subject, std::move(*lead));
    } else {
      waits.emplace_back(subject, std::get<Flights::Wait>(flight));
    }
  }
  const auto begin = system_clock().now();
  for (auto& [subject, lead] : leads) {
    subject->found = computed(*subject, snapshot, scratch);
    lead.finish(subject->found);
  }
  const Computed own{leads.size(), system_clock().now() - begin};
  std::size_t shared = 0;
  for (auto& [subject, wait] : waits) {
    auto result = wait.wait(Deadline::after(options_.wait));
    if (const auto* value = std::get_if<Found>(&result)) {
      subject->found = *value;
      ++shared;
      continue;
    }
    subject->found = computed(*subject, snapshot, scratch);
    auto* lead = std::get_if<Flights::Lead>(&result);
    if (lead != nullptr) lead->finish(subject->found);
    metrics_.count("text_waits_failed_total", lead != nullptr ? "taken_over" : "timed_out");
  }
  metrics_.count("texts_computed_total", "", static_cast<double>(missing.size() - shared));
  if (shared > 0) metrics_.count("texts_shared_total", "", static_cast<double>(shared));
  return own;
}

void TextLookup::remember(std::span<TextSubject* const> subjects, const Snapshot& snapshot,
                          std::vector<cache::TextWrite>* writes) {
  for (const TextSubject* subject : subjects) {
    // A text that its engine could not judge, beside a link that decides.
    if (subject->found->bytes.empty()) continue;
    const cache::TextKey key = key_of(subject->hash, snapshot);
    if (subject->found->committed_config != snapshot.config_version()) {
      auto known = std::make_shared<CachedText>(*subject->found);
      known->committed_config = snapshot.config_version();
      const std::size_t bytes = known->bytes.size() * 2 + sizeof(CachedText);
      local_.put(key.str(), std::move(known), bytes);
    }
    if (writes != nullptr && !subject->is_in_redis) {
      // A value of a newer schema may be there unseen.
      writes->push_back({key, subject->found->bytes, !subject->is_seen_there});
    }
  }
}

}  // namespace han::safety
