#include "cache/hot_cache.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cache/script_run.h"
#include "safety/base/check.h"

namespace han::cache {
namespace {

using std::chrono::milliseconds;

// Keys of one MGET; a batch is a pipeline of them, so that the server can serve others in between.
constexpr std::size_t kKeysPerCommand = 256;
// A server full of bad values must not make reads expensive: the rest waits for the next read.
constexpr std::size_t kQuarantineKeysMax = 64;

using Arguments = std::vector<std::string_view>;

template <typename Key>
void add_reads(CommandBuffer& commands, std::span<const Key> keys) {
  Arguments arguments;
  arguments.reserve(1 + std::min(keys.size(), kKeysPerCommand));
  for (std::size_t begin = 0; begin < keys.size(); begin += kKeysPerCommand) {
    arguments.assign({"MGET"});
    for (const Key& key : keys.subspan(begin, std::min(kKeysPerCommand, keys.size() - begin))) {
      arguments.push_back(key.str());
    }
    commands.add(arguments);
  }
}

std::size_t command_count(std::size_t keys) {
  return (keys + kKeysPerCommand - 1) / kKeysPerCommand;
}

// How long a DNS entry may still be used. Its value and its PTTL are read one after the other, so
// the PTTL may be that of a later value: the entry's own time bounds it.
milliseconds dns_life(const DnsEntry& entry, std::int64_t pttl_ms, const safety::Clock& clock) {
  const auto now = std::chrono::duration_cast<milliseconds>(clock.wall_now().time_since_epoch());
  const milliseconds own = milliseconds(entry.expires_at_ms) - now;
  return std::min({own, milliseconds(pttl_ms), milliseconds(kDnsTtlMax)});
}

}  // namespace

// One call of get(): its commands, and what the replies to them say.
class HotCache::Reading {
 public:
  Reading(HotCache& cache, const HotKeys& keys, std::span<const std::string> pepper_ids)
      : cache_(cache), keys_(keys), pepper_ids_(pepper_ids) {}

  CommandBuffer commands() const {
    CommandBuffer commands;
    add_reads(commands, keys_.texts);
    add_reads(commands, keys_.files);
    add_reads(commands, keys_.links);
    add_reads(commands, keys_.hosts);
    for (const DnsKey& key : keys_.hosts) commands.add({"PTTL", key.str()});
    return commands;
  }

  HotFound unavailable() {
    return {all_unavailable<TextEntry>(keys_.texts.size()),
            all_unavailable<FileEntry>(keys_.files.size()),
            all_unavailable<LinkEntry>(keys_.links.size()),
            all_unavailable<DnsEntry>(keys_.hosts.size())};
  }

  // Requires: one reply a command.
  HotFound take(std::span<Reply> replies) {
    const auto next = [&](std::size_t keys) {
      const auto taken = replies.first(command_count(keys));
      replies = replies.subspan(taken.size());
      return taken;
    };
    HotFound found;
    found.texts = take_kind<TextEntry>(keys_.texts, next(keys_.texts.size()), {});
    found.files = take_kind<FileEntry>(keys_.files, next(keys_.files.size()), {});
    found.links = take_kind<LinkEntry>(keys_.links, next(keys_.links.size()), {});
    const auto hosts = next(keys_.hosts.size());
    found.hosts = take_kind<DnsEntry>(keys_.hosts, hosts, replies);
    return found;
  }

  std::span<const Bad> bad() const { return bad_; }

 private:
  template <typename Entry>
  std::vector<LookupOf<Entry>> all_unavailable(std::size_t count) {
    if (count > 0) cache_.counters_.count(Entry::kKind, &HotKindStats::unavailable, count);
    LookupOf<Entry> unavailable;
    unavailable.outcome = LookupOf<Entry>::Outcome::kUnavailable;
    return std::vector<LookupOf<Entry>>(count, unavailable);
  }

  // `pttls`: one reply a key, for DNS; else none.
  template <typename Entry>
  std::vector<LookupOf<Entry>> take_kind(std::span<const typename Entry::Key> keys,
                                         std::span<Reply> replies, std::span<const Reply> pttls) {
    std::vector<LookupOf<Entry>> lookups;
    lookups.reserve(keys.size());
    for (Reply& reply : replies) {
      const auto expected = std::min(kKeysPerCommand, keys.size() - lookups.size());
      if (reply.kind != Reply::Kind::kArray || reply.elements.size() != expected) {
        cache_.counters_.count_error(reply.is_error() ? reply.error : ErrorClass::kOther);
        std::ranges::move(all_unavailable<Entry>(expected), std::back_inserter(lookups));
        continue;
      }
      for (Reply& element : reply.elements) {
        const auto at = lookups.size();
        const Reply* pttl = pttls.empty() ? nullptr : &pttls[at];
        judge(element, keys[at], pttl, lookups.emplace_back());
      }
    }
    count<Entry>(lookups);
    return lookups;
  }

  // Hits and misses; unavailable ones are counted where they are made.
  template <typename Entry>
  void count(const std::vector<LookupOf<Entry>>& lookups) {
    using Outcome = typename LookupOf<Entry>::Outcome;
    const auto of = [&](Outcome outcome) {
      return static_cast<std::uint64_t>(
          std::ranges::count(lookups, outcome, &LookupOf<Entry>::outcome));
    };
    if (const auto hits = of(Outcome::kHit); hits > 0) {
      cache_.counters_.count(Entry::kKind, &HotKindStats::hits, hits);
    }
    if (const auto misses = of(Outcome::kMiss); misses > 0) {
      cache_.counters_.count(Entry::kKind, &HotKindStats::misses, misses);
    }
  }

  // `lookup`: a miss until it is found to be something else.
  template <typename Entry>
  void judge(Reply& reply, const typename Entry::Key& key, const Reply* pttl,
             LookupOf<Entry>& lookup) {
    if (reply.is_error() && reply.error == ErrorClass::kOversized) {
      cache_.counters_.count(Entry::kKind, &HotKindStats::oversized);
      return note_bad<Entry>(reply, key, true);
    }
    // Nil: there is no such key, or it holds something that is no string.
    if (reply.kind != Reply::Kind::kBulk) return;
    Decoded<Entry> decoded = decode_entry(reply.text, key, pepper_ids_);
    switch (decoded.outcome) {
      case DecodeOutcome::kEntry:
        return hit<Entry>(std::move(decoded.entry), reply, key, pttl, lookup);
      case DecodeOutcome::kUndecodable:
        cache_.counters_.count(Entry::kKind, &HotKindStats::undecodable);
        return note_bad<Entry>(reply, key, false);
      case DecodeOutcome::kOversized:
        cache_.counters_.count(Entry::kKind, &HotKindStats::oversized);
        return note_bad<Entry>(reply, key, true);
      case DecodeOutcome::kNewerSchema:
        cache_.counters_.count(Entry::kKind, &HotKindStats::newer_schema);
        lookup.is_newer_schema = true;
        return;
      case DecodeOutcome::kForeign:
        cache_.counters_.count(Entry::kKind, &HotKindStats::foreign);
        return;
    }
  }

  template <typename Entry>
  void hit(Entry entry, Reply& reply, const typename Entry::Key& key, const Reply* pttl,
           LookupOf<Entry>& lookup) {
    lookup.life = kLocalTtlMax;
    if constexpr (std::is_same_v<Entry, DnsEntry>) {
      if (pttl == nullptr || pttl->kind != Reply::Kind::kInteger) {
        cache_.counters_.count_error(pttl != nullptr && pttl->is_error() ? pttl->error
                                                                         : ErrorClass::kOther);
        lookup = all_unavailable<Entry>(1).front();
        return;
      }
      if (pttl->integer == kPttlNoTtl) {
        // None of ours: each is written with its time to live.
        cache_.counters_.count(Entry::kKind, &HotKindStats::undecodable);
        return note_bad<Entry>(reply, key, false);
      }
      const bool is_gone = pttl->integer == kPttlNoKey;
      lookup.life = is_gone ? milliseconds(0) : dns_life(entry, pttl->integer, cache_.clock_);
      if (lookup.life.count() <= 0) return;
    }
    lookup.outcome = LookupOf<Entry>::Outcome::kHit;
    lookup.entry.emplace(std::move(entry));
    lookup.bytes = std::move(reply.text);
  }

  template <typename Entry>
  void note_bad(Reply& reply, const typename Entry::Key& key, bool is_oversized) {
    if (bad_.size() >= kQuarantineKeysMax) return;
    bad_.push_back({Entry::kKind, key.str(), std::move(reply.text), is_oversized});
  }

  HotCache& cache_;
  const HotKeys& keys_;
  const std::span<const std::string> pepper_ids_;
  std::vector<Bad> bad_;
};

HotFound HotCache::get(const HotKeys& keys, std::span<const std::string> pepper_ids,
                       safety::Deadline deadline) {
  SAFETY_CHECK(keys.size() <= kBatchKeysMax);
  if (keys.size() == 0) return {};
  Reading reading(*this, keys, pepper_ids);
  if (deadline.has_passed()) return reading.unavailable();
  auto lease = pool_.borrow(deadline);
  if (!lease) return reading.unavailable();
  auto result = lease.call(reading.commands(), deadline);
  if (result.trouble != Trouble::kNone) return reading.unavailable();
  HotFound found = reading.take(result.replies);
  if (!reading.bad().empty()) quarantine(lease, reading.bad(), deadline);
  return found;
}

std::vector<Lookup> HotCache::get_texts(std::span<const TextKey> keys,
                                        std::span<const std::string> pepper_ids,
                                        safety::Deadline deadline) {
  return get(HotKeys{.texts = keys, .files = {}, .links = {}, .hosts = {}}, pepper_ids, deadline)
      .texts;
}

// By a script that compares, so a good value that another worker has just written is never deleted.
void HotCache::quarantine(Pool::Lease& lease, std::span<const Bad> bad, safety::Deadline deadline) {
  std::vector<ScriptCall> calls;
  calls.reserve(bad.size());
  for (const Bad& one : bad) {
    calls.push_back(one.is_oversized ? delete_if_longer(one.key, kValueBytesMax)
                                     : delete_if_equal(one.key, one.bytes));
  }
  const ScriptRun run = run_scripts(lease, calls, deadline);
  // Lost by the server and loaded again: nothing to act on, but to be seen.
  for (std::size_t i = 0; i < run.reloads; ++i) counters_.count_error(ErrorClass::kNoscript);
  if (run.trouble != Trouble::kNone) return;
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const Reply& reply = run.replies[i];
    if (reply.is_error()) counters_.count_error(reply.error);
    if (reply.kind == Reply::Kind::kInteger && reply.integer > 0) {
      counters_.count(bad[i].kind, &HotKindStats::quarantined);
    }
  }
}

// One call of put(): its commands, and the kind of each.
class HotCache::Writing {
 public:
  explicit Writing(HotCache& cache) : cache_(cache) {}

  template <typename Entry>
  void add(std::span<const WriteOf<Entry>> writes, std::chrono::seconds ttl) {
    const auto ttl_ms = std::to_string(milliseconds(ttl).count());
    for (const auto& write : writes) {
      add_one(Entry::kKind, write.key.str(), write.bytes, ttl_ms, write.if_absent);
    }
  }

  void add(std::span<const DnsWrite> writes, std::chrono::seconds ttl_max) {
    for (const DnsWrite& write : writes) {
      const auto life = std::min(write.life, milliseconds(ttl_max));
      // To be used once, and not kept.
      if (life.count() <= 0) continue;
      if (life < write.life) cache_.counters_.count(KeyKind::kDns, &HotKindStats::ttl_cut);
      add_one(KeyKind::kDns, write.key.str(), write.bytes, std::to_string(life.count()), false);
    }
  }

  const CommandBuffer& commands() const { return commands_; }
  std::size_t refused() const { return refused_; }

  void fail_all() {
    for (const KeyKind kind : kinds_) cache_.counters_.count(kind, &HotKindStats::store_failures);
  }

  // Returns how many are stored.
  std::size_t take(std::span<const Reply> replies) {
    std::size_t stored = 0;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      // Nil: something was there, and stays.
      const bool is_good = replies[i].is_status("OK") || replies[i].kind == Reply::Kind::kNil;
      stored += is_good ? 1 : 0;
      cache_.counters_.count(kinds_[i],
                             is_good ? &HotKindStats::stored : &HotKindStats::store_failures);
      if (is_good) continue;
      cache_.counters_.count_error(replies[i].is_error() ? replies[i].error : ErrorClass::kOther);
    }
    return stored;
  }

 private:
  void add_one(KeyKind kind, std::string_view key, const std::string& bytes,
               const std::string& ttl_ms, bool if_absent) {
    if (bytes.size() > kValueBytesMax) {
      cache_.counters_.count(kind, &HotKindStats::oversized);
      ++refused_;
      return;
    }
    if (bytes.size() > kValueBytesTarget) cache_.counters_.count(kind, &HotKindStats::over_target);
    kinds_.push_back(kind);
    if (if_absent) {
      commands_.add({"SET", key, bytes, "PX", ttl_ms, "NX"});
    } else {
      commands_.add({"SET", key, bytes, "PX", ttl_ms});
    }
  }

  HotCache& cache_;
  CommandBuffer commands_;
  std::vector<KeyKind> kinds_;
  std::size_t refused_ = 0;
};

PutOutcome HotCache::put(const HotWrites& writes, const HotTtls& ttls, safety::Deadline deadline) {
  const HotTtls capped = ttls.capped();
  SAFETY_CHECK(writes.size() <= kBatchKeysMax);
  SAFETY_CHECK(std::min({capped.text, capped.file, capped.link, capped.dns}).count() > 0);
  Writing writing(*this);
  writing.add(writes.texts, capped.text);
  writing.add(writes.files, capped.file);
  writing.add(writes.links, capped.link);
  writing.add(writes.hosts, capped.dns);
  const CommandBuffer& commands = writing.commands();
  const bool is_whole = writing.refused() == 0;
  if (commands.count() == 0) return is_whole ? PutOutcome::kStored : PutOutcome::kPartly;
  CallResult result{Trouble::kTimeout, {}};
  if (!deadline.has_passed()) {
    if (auto lease = pool_.borrow(deadline)) result = lease.call(commands, deadline);
  }
  if (result.trouble != Trouble::kNone) {
    writing.fail_all();
    return PutOutcome::kUnavailable;
  }
  const std::size_t stored = writing.take(result.replies);
  if (stored == 0) return PutOutcome::kUnavailable;
  return is_whole && stored == commands.count() ? PutOutcome::kStored : PutOutcome::kPartly;
}

PutOutcome HotCache::put_texts(std::span<const TextWrite> writes, std::chrono::seconds ttl,
                               safety::Deadline deadline) {
  HotTtls ttls;
  ttls.text = ttl;
  return put(HotWrites{.texts = writes, .files = {}, .links = {}, .hosts = {}}, ttls, deadline);
}

HotCacheStats HotCache::stats() const {
  HotCacheStats stats = counters_.stats();
  stats.pool = pool_.stats();
  return stats;
}

}  // namespace han::cache
