// EntrySeal: the proof in a cached value that a holder of the pepper wrote it, and the two peppers.
//
// mac = HMAC(pepper, label of the kind || the entry's bytes without it). Whoever can write to Redis
// or to a verdict row, and has no pepper, can make the engine compute again and nothing else.
//
// A pepper set is {current, previous}: both are read, only the current one is written. What was
// found under the previous one is written anew under the current one, but for DNS, whose entries
// hold HMACs that cannot be made again and which live for minutes.
//
// Threads: pure functions; PepperedKeys is one thread's.
// Owns:    nothing beyond the keys.
// Blocks:  never. Fails: is_sealed is false. seal_entry aborts as encode_entry does.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/lookup.h"
#include "safety/base/digest.h"
#include "safety/base/hex.h"
#include "safety/base/pepper.h"

namespace han::cache {

// Sets `pepper_id` and `mac`, and gives the bytes to be cached.
template <typename Entry>
std::string seal_entry(Entry& entry, const safety::Pepper& pepper) {
  entry.pepper_id = pepper.id;
  entry.mac.clear();
  entry.mac = safety::to_hex(pepper.key.mac(Entry::kSealLabel, encode_entry(entry)));
  return encode_entry(entry);
}

// The pepper that `id` names; null: neither of the two.
inline const safety::Pepper* find_pepper(const safety::PepperSet& peppers, std::string_view id) {
  if (id == peppers.current.id) return &peppers.current;
  return peppers.previous && id == peppers.previous->id ? &*peppers.previous : nullptr;
}

template <typename Entry>
bool is_sealed(const Entry& entry, const safety::PepperSet& peppers) {
  const safety::Pepper* pepper = find_pepper(peppers, entry.pepper_id);
  if (pepper == nullptr) return false;
  Entry unsealed = entry;
  unsealed.mac.clear();
  return entry.mac == safety::to_hex(pepper->key.mac(Entry::kSealLabel, encode_entry(unsealed)));
}

// The entry as it is to be written under the current pepper, where its subject is `subject`.
template <typename Entry>
std::string reseal_entry(Entry entry, const safety::Digest& subject,
                         const safety::PepperSet& peppers) {
  entry.subject = safety::to_hex(subject);
  return seal_entry(entry, peppers.current);
}

// The ids that may be believed, the current one first.
inline std::vector<std::string> pepper_ids(const safety::PepperSet& peppers) {
  std::vector<std::string> ids = {peppers.current.id};
  if (peppers.previous) ids.push_back(peppers.previous->id);
  return ids;
}

// A subject's hash under the previous pepper, if there is one.
inline std::optional<safety::Digest> previous_hash(const safety::PepperSet& peppers,
                                                   std::string_view label, std::string_view bytes) {
  if (!peppers.previous) return std::nullopt;
  return peppers.previous->key.mac(label, bytes);
}

// The keys of a batch of subjects under both peppers, for one call of the hot cache, and which of
// its answers is a subject's.
template <typename Entry>
class PepperedKeys {
 public:
  using Key = typename Entry::Key;

  // Subjects are numbered from 0.
  void add(Key current, std::optional<Key> previous) {
    Places places{keys_.size(), std::nullopt};
    keys_.push_back(std::move(current));
    if (previous) {
      places.previous = keys_.size();
      keys_.push_back(std::move(*previous));
    }
    places_.push_back(places);
  }

  std::span<const Key> keys() const { return keys_; }
  // Of subjects.
  std::size_t size() const { return places_.size(); }

  struct Answer {
    // Null: none that is good.
    const LookupOf<Entry>* hit = nullptr;
    // The hit, or a value of a newer schema, stands under the current key: do not write over it.
    bool is_current = false;
    // Redis said what stands under the current key.
    bool is_seen = false;
  };

  // `lookups`: the answers to keys(). `is_good(lookup)` is asked for the current key's, then for
  // the previous one's, until it is true; it checks the seal.
  template <typename IsGood>
  Answer answer(std::size_t subject, std::span<const LookupOf<Entry>> lookups,
                IsGood&& is_good) const {
    const Places& places = places_.at(subject);
    const LookupOf<Entry>& current = lookups[places.current];
    const bool is_seen = current.outcome != LookupOf<Entry>::Outcome::kUnavailable;
    if (is_good(current)) return {&current, true, is_seen};
    if (places.previous && is_good(lookups[*places.previous])) {
      return {&lookups[*places.previous], current.is_newer_schema, is_seen};
    }
    return {nullptr, current.is_newer_schema, is_seen};
  }

 private:
  struct Places {
    std::size_t current;
    std::optional<std::size_t> previous;
  };

  std::vector<Key> keys_;
  std::vector<Places> places_;
};

}  // namespace han::cache
