#include "safety/worker/text_lookup.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "pgqueue/error.h"
#include "pgqueue/verdict_rows.h"
#include "safety/base/hex.h"
#include "safety/policy.h"

namespace han::safety {
namespace {

constexpr std::string_view kLabel = "text";
constexpr const char* kKind = "text";
// Nobody waits for a write.
constexpr std::chrono::milliseconds kWriteTimeout{1'000};

// Between the look-up and the write, at most.
constexpr std::chrono::hours kWriteDelayMax{1};

std::string raw(const Digest& hash) { return {as_text(hash).begin(), as_text(hash).end()}; }

}  // namespace

TextLookup::TextLookup(std::shared_ptr<const TextEngine> engine, const PepperSet& peppers,
                       cache::HotCache* hot_cache, pgqueue::Pool& pool, Metrics& metrics,
                       TextLookupOptions options)
    : engine_(std::move(engine)),
      peppers_(peppers),
      hot_cache_(hot_cache),
      pool_(pool),
      metrics_(metrics),
      options_(options),
      pepper_ids_(cache::pepper_ids(peppers)),
      local_(options.local_cache_bytes),
      budget_(options.redis_timeout) {
  if (hot_cache_ == nullptr) return;
  writer_ = std::make_unique<CacheWriter>(
      *hot_cache_,
      CacheWriterOptions{.timeout = std::max(options.redis_timeout, kWriteTimeout),
                         .ttl = options.redis_ttl},
      [this](std::chrono::nanoseconds took) { budget_.note_write(took); });
}

void TextLookup::start() {
  if (writer_) writer_->start();
}

void TextLookup::stop(Deadline deadline) {
  if (writer_) writer_->stop(deadline);
}

CacheWriterStats TextLookup::writer_stats() const {
  return writer_ ? writer_->stats() : CacheWriterStats{};
}

bool TextLookup::wait_written(Deadline deadline) {
  return writer_ == nullptr || writer_->wait_idle(deadline);
}

Digest TextLookup::analysis_hash(std::string_view repaired_text) const {
  return peppers_.current.key.mac(kLabel, repaired_text);
}

cache::TextKey TextLookup::key_of(const Digest& hash) const {
  return {hash, engine_->rules_version()};
}

std::string TextLookup::encode(const TextEvidence& evidence, const Digest& hash) const {
  cache::TextEntry entry{.subject = to_hex(hash),
                         .rules_version = engine_->rules_version(),
                         .hits = evidence.hits,
                         .monitor = evidence.monitor,
                         .has_links = evidence.has_links};
  return cache::seal_entry(entry, peppers_.current);
}

TextLookup::Found TextLookup::usable(const cache::TextEntry& entry, const Digest& hash,
                                     std::string_view layer) {
  TextEvidence evidence{entry.hits, entry.monitor, entry.has_links, ""};
  if (!cache::is_sealed(entry, peppers_) || !is_usable(evidence, engine_->rules())) {
    metrics_.count("evidence_refused_total", layer);
    return nullptr;
  }
  std::string bytes = cache::reseal_entry(entry, hash, peppers_);
  return std::make_shared<CachedText>(CachedText{std::move(evidence), std::move(bytes), ""});
}

void TextLookup::find(std::vector<TextSubject>& subjects, TextScratch& scratch) {
  Missing missing = find_local(subjects);
  missing = find_redis(std::move(missing));
  missing = find_database(std::move(missing));
  compute(missing, scratch);
}

TextLookup::Missing TextLookup::find_local(std::vector<TextSubject>& subjects) {
  Missing missing;
  for (TextSubject& subject : subjects) {
    subject.found = local_.get(key_of(subject.hash).str());
    if (subject.found) {
      subject.layer = Layer::kLocal;
      subject.is_in_redis = true;
    } else {
      missing.push_back(&subject);
    }
  }
  return missing;
}

TextLookup::RedisKeys TextLookup::redis_keys(const Missing& missing) const {
  RedisKeys keys;
  for (const TextSubject* subject : missing) {
    std::optional<cache::TextKey> previous;
    if (const auto hash = cache::previous_hash(peppers_, kLabel, subject->text)) {
      previous = key_of(*hash);
    }
    keys.add(key_of(subject->hash), std::move(previous));
  }
  return keys;
}

TextLookup::Missing TextLookup::find_redis(Missing missing) {
  if (hot_cache_ == nullptr || missing.empty()) return missing;
  const auto grant = budget_.ask(missing.size());
  if (!grant) return missing;  // Redis does not pay now
  const RedisKeys keys = redis_keys(missing);
  const auto lookups = hot_cache_->get_texts(keys.keys(), pepper_ids_, grant->deadline());
  if (std::ranges::all_of(lookups, [](const cache::Lookup& lookup) {
        return lookup.outcome == cache::Lookup::Outcome::kUnavailable;
      })) {
    budget_.settle(*grant, RedisBudget::Answer::kNone, 0);
    return missing;
  }
  const std::size_t asked = missing.size();
  Missing rest;
  for (std::size_t i = 0; i < asked; ++i) {
    TextSubject& subject = *missing[i];
    const auto answer = keys.answer(i, lookups, [&](const cache::Lookup& lookup) {
      if (lookup.entry) subject.found = usable(*lookup.entry, subject.hash, "redis");
      return subject.found != nullptr;
    });
    // An entry under the previous pepper is written anew under the current one.
    subject.is_in_redis = answer.is_current;
    subject.is_seen_there = answer.is_seen;
    if (subject.found) {
      subject.layer = Layer::kRedis;
    } else {
      rest.push_back(&subject);
    }
  }
  // Only what could be used has saved anything: a server that lies does not pay.
  budget_.settle(*grant, RedisBudget::Answer::kCame, asked - rest.size());
  return rest;
}

TextLookup::Missing TextLookup::find_database(Missing missing) {
  if (missing.empty()) return missing;
  const auto begin = system_clock().now();
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
  try {
    const Deadline deadline = Deadline::after(options_.database_timeout);
    const auto connection = pool_.acquire(deadline);
    for (const auto& [key, row] :
         pgqueue::find_verdicts(*connection, kKind, engine_->rules_version(), wanted, deadline)) {
      TextSubject& subject = *by_subject.at(key);
      if (subject.found) continue;
      const auto cached_under =
          cache::key_of_row({kKind, key.subject_hash, engine_->rules_version(), "", ""});
      const auto decoded = cache::decode_entry(
          row.evidence, std::get<cache::TextKey>(cached_under.value()), pepper_ids_);
      if (decoded.outcome != cache::DecodeOutcome::kEntry) {
        metrics_.count("evidence_refused_total", "postgres");
        continue;
      }
      subject.found = usable(decoded.entry, subject.hash, "postgres");
      if (!subject.found) continue;
      subject.layer = Layer::kPostgres;
      // What is in Redis must not outlive its row: replay would call it wrong.
      const auto ends = row.age + options_.redis_ttl + kWriteDelayMax;
      if (ends > pgqueue::kVerdictKeptLeast) subject.is_in_redis = true;
    }
  } catch (const pgqueue::Error& error) {
    metrics_.count("database_errors_total", "look-up");
    database_log_(error.what());
  }
  budget_.note_database(system_clock().now() - begin);
  std::erase_if(missing, [](const TextSubject* subject) { return subject->found != nullptr; });
  return missing;
}

TextLookup::Found TextLookup::computed(const TextSubject& subject, TextScratch& scratch) const {
  CachedText text{engine_->scan(subject.text, scratch), "", ""};
  if (text.evidence.is_complete()) text.bytes = encode(text.evidence, subject.hash);
  return std::make_shared<CachedText>(std::move(text));
}

void TextLookup::compute(const Missing& missing, TextScratch& scratch) {
  using Flights = cache::SingleFlight<CachedText>;
  // All own leads first, then the others' results: two batches cannot wait for each other in a
  // circle.
  std::vector<std::pair<TextSubject*, Flights::Lead>> leads;
  std::vector<std::pair<TextSubject*, Flights::Wait>> waits;
  for (TextSubject* subject : missing) {
    auto flight = flights_.begin(key_of(subject->hash).str());
    if (auto* lead = std::get_if<Flights::Lead>(&flight)) {
      leads.emplace_back(subject, std::move(*lead));
    } else {
      waits.emplace_back(subject, std::get<Flights::Wait>(flight));
    }
  }
  const auto begin = system_clock().now();
  for (auto& [subject, lead] : leads) {
    subject->found = computed(*subject, scratch);
    lead.finish(subject->found);
  }
  if (!leads.empty()) budget_.note_computed(leads.size(), system_clock().now() - begin);
  std::size_t shared = 0;
  for (auto& [subject, wait] : waits) {
    auto result = wait.wait(Deadline::after(options_.database_timeout));
    if (const auto* value = std::get_if<Found>(&result)) {
      subject->found = *value;
      ++shared;
      continue;
    }
    subject->found = computed(*subject, scratch);
    auto* lead = std::get_if<Flights::Lead>(&result);
    if (lead != nullptr) lead->finish(subject->found);
    metrics_.count("text_waits_failed_total", lead != nullptr ? "taken_over" : "timed_out");
  }
  metrics_.count("texts_computed_total", "", static_cast<double>(missing.size() - shared));
  if (shared > 0) metrics_.count("texts_shared_total", "", static_cast<double>(shared));
}

void TextLookup::remember(const std::vector<TextSubject*>& subjects,
                          const std::string& config_version) {
  std::vector<cache::TextWrite> writes;
  for (const TextSubject* subject : subjects) {
    const cache::TextKey key = key_of(subject->hash);
    if (subject->found->committed_config != config_version) {
      auto known = std::make_shared<CachedText>(*subject->found);
      known->committed_config = config_version;
      const std::size_t bytes = known->bytes.size() * 2 + sizeof(CachedText);
      local_.put(key.str(), std::move(known), bytes);
    }
    if (writer_ && !subject->is_in_redis) {
      // A value of a newer schema may be there unseen.
      writes.push_back({key, subject->found->bytes, !subject->is_seen_there});
    }
  }
  // Best effort: what is not stored is looked up in PostgreSQL next time.
  if (!writes.empty()) writer_->add(std::move(writes));
}

}  // namespace han::safety
