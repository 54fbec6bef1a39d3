#include "cache/hot_cache.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "safety/base/check.h"

namespace han::cache {
namespace {

// Keys of one MGET; a batch is a pipeline of them, so that the server can serve others in between.
constexpr std::size_t kKeysPerCommand = 256;
// A server full of bad values must not make reads expensive: the rest waits for the next read.
constexpr std::size_t kQuarantineKeysMax = 64;

using Arguments = std::vector<std::string_view>;

}  // namespace

void HotCache::count(Counter counter, std::uint64_t by) {
  counters_[static_cast<std::size_t>(counter)] += by;
}

void HotCache::count_error(ErrorClass error) { ++errors_[static_cast<std::size_t>(error)]; }

std::vector<Lookup> HotCache::all_unavailable(std::size_t count_of_keys) {
  count(Counter::kUnavailable, count_of_keys);
  Lookup unavailable;
  unavailable.outcome = Lookup::Outcome::kUnavailable;
  return std::vector<Lookup>(count_of_keys, unavailable);
}

std::vector<Lookup> HotCache::get_texts(std::span<const TextKey> keys,
                                        std::span<const std::string> pepper_ids,
                                        safety::Deadline deadline) {
  SAFETY_CHECK(keys.size() <= kBatchKeysMax);
  if (keys.empty()) return {};
  if (deadline.has_passed()) return all_unavailable(keys.size());
  auto lease = pool_.borrow(deadline);
  if (!lease) return all_unavailable(keys.size());
  CommandBuffer commands;
  Arguments arguments;
  for (std::size_t begin = 0; begin < keys.size(); begin += kKeysPerCommand) {
    arguments.assign({"MGET"});
    const auto chunk = keys.subspan(begin, std::min(kKeysPerCommand, keys.size() - begin));
    for (const TextKey& key : chunk) arguments.push_back(key.str());
    commands.add(arguments);
  }
  auto result = lease.call(commands, deadline);
  if (result.trouble != Trouble::kNone) return all_unavailable(keys.size());
  std::vector<Lookup> lookups;
  lookups.reserve(keys.size());
  std::vector<const TextKey*> bad;
  for (Reply& reply : result.replies) {
    const auto expected = std::min(kKeysPerCommand, keys.size() - lookups.size());
    if (reply.kind != Reply::Kind::kArray || reply.elements.size() != expected) {
      count_error(reply.is_error() ? reply.error : ErrorClass::kOther);
      std::ranges::move(all_unavailable(expected), std::back_inserter(lookups));
      continue;
    }
    for (Reply& element : reply.elements) {
      const TextKey& key = keys[lookups.size()];
      bool is_bad = false;
      lookups.push_back(judge(element, key, pepper_ids, is_bad));
      if (is_bad && bad.size() < kQuarantineKeysMax) bad.push_back(&key);
    }
  }
  if (!bad.empty()) quarantine(lease, bad, pepper_ids, deadline);
  return lookups;
}

Lookup HotCache::judge(Reply& reply, const TextKey& key, std::span<const std::string> pepper_ids,
                       bool& is_bad) {
  Lookup lookup;
  const bool is_oversized = reply.is_error() && reply.error == ErrorClass::kOversized;
  DecodedText decoded;
  if (is_oversized) {
    decoded.outcome = DecodeOutcome::kOversized;
  } else if (reply.kind == Reply::Kind::kBulk) {
    decoded = decode_text_entry(reply.text, {key.analysis_hash(), key.rules_version(), pepper_ids});
  } else {
    // Nil: there is no such key, or it holds something that is no string.
    count(Counter::kMisses);
    return lookup;
  }
  switch (decoded.outcome) {
    case DecodeOutcome::kEntry:
      count(Counter::kHits);
      lookup.outcome = Lookup::Outcome::kHit;
      lookup.entry = std::move(decoded.entry);
      lookup.bytes = std::move(reply.text);
      return lookup;
    case DecodeOutcome::kUndecodable:
      count(Counter::kUndecodable);
      is_bad = true;
      break;
    case DecodeOutcome::kOversized:
      count(Counter::kOversized);
      is_bad = true;
      break;
    case DecodeOutcome::kNewerSchema:
      count(Counter::kNewerSchema);
      lookup.is_newer_schema = true;
      break;
    case DecodeOutcome::kForeign:
      count(Counter::kForeign);
      break;
  }
  count(Counter::kMisses);
  return lookup;
}

// Optimistic locking: what changes after WATCH makes EXEC do nothing, so a good value that another
// worker has just written is never deleted.
void HotCache::quarantine(Pool::Lease& lease, std::span<const TextKey* const> keys,
                          std::span<const std::string> pepper_ids, safety::Deadline deadline) {
  CommandBuffer look;
  Arguments watch{"WATCH"};
  Arguments get{"MGET"};
  for (const TextKey* key : keys) {
    watch.push_back(key->str());
    get.push_back(key->str());
  }
  look.add(watch);
  look.add(get);
  const auto seen = lease.call(look, deadline);
  if (seen.trouble != Trouble::kNone) return;
  Arguments remove{"DEL"};
  const Reply& values = seen.replies[1];
  if (seen.replies[0].is_error()) count_error(seen.replies[0].error);
  const bool is_seen = seen.replies[0].is_status("OK") && values.elements.size() == keys.size();
  for (std::size_t i = 0; is_seen && i < keys.size(); ++i) {
    const Reply& value = values.elements[i];
    const ExpectedText expected{keys[i]->analysis_hash(), keys[i]->rules_version(), pepper_ids};
    const bool is_bad = value.is_error() || (value.kind == Reply::Kind::kBulk &&
                                             decode_text_entry(value.text, expected).outcome ==
                                                 DecodeOutcome::kUndecodable);
    if (is_bad) remove.push_back(keys[i]->str());
  }
  CommandBuffer begin;
  const bool has_bad = remove.size() > 1;
  begin.add({has_bad ? "MULTI" : "UNWATCH"});
  // Alone, because without its OK the DEL would not be conditional.
  const auto begun = lease.call(begin, deadline);
  if (begun.trouble != Trouble::kNone || !has_bad) return;
  if (!begun.replies[0].is_status("OK")) return count_error(begun.replies[0].error);
  CommandBuffer end;
  end.add(remove);
  end.add({"EXEC"});
  const auto done = lease.call(end, deadline);
  if (done.trouble != Trouble::kNone) return;
  const Reply& exec = done.replies[1];
  if (exec.is_error()) return count_error(exec.error);
  if (exec.kind != Reply::Kind::kArray || exec.elements.empty()) return;
  const auto removed = exec.elements[0].integer;
  if (removed > 0) count(Counter::kQuarantined, static_cast<std::uint64_t>(removed));
}

PutOutcome HotCache::put_texts(std::span<const TextWrite> writes, std::chrono::seconds ttl,
                               safety::Deadline deadline) {
  SAFETY_CHECK(writes.size() <= kBatchKeysMax && ttl.count() > 0);
  const auto seconds = std::to_string(std::min(ttl, kTextTtlMax).count());
  CommandBuffer commands;
  for (const TextWrite& write : writes) {
    if (write.bytes.size() > kValueBytesMax) {
      count(Counter::kOversized);
      continue;
    }
    if (write.bytes.size() > kValueBytesTarget) count(Counter::kOverTarget);
    if (write.if_absent) {
      commands.add({"SET", write.key.str(), write.bytes, "EX", seconds, "NX"});
    } else {
      commands.add({"SET", write.key.str(), write.bytes, "EX", seconds});
    }
  }
  const auto refused = writes.size() - commands.count();
  if (commands.count() == 0) return refused == 0 ? PutOutcome::kStored : PutOutcome::kPartly;
  CallResult result{Trouble::kTimeout, {}};
  if (!deadline.has_passed()) {
    if (auto lease = pool_.borrow(deadline)) result = lease.call(commands, deadline);
  }
  if (result.trouble != Trouble::kNone) {
    count(Counter::kStoreFailures, commands.count());
    return PutOutcome::kUnavailable;
  }
  std::size_t stored = 0;
  for (const Reply& reply : result.replies) {
    // Nil: something was there, and stays.
    if (reply.is_status("OK") || reply.kind == Reply::Kind::kNil) {
      ++stored;
    } else {
      count_error(reply.is_error() ? reply.error : ErrorClass::kOther);
    }
  }
  count(Counter::kStored, stored);
  count(Counter::kStoreFailures, commands.count() - stored);
  if (stored == 0) return PutOutcome::kUnavailable;
  return stored == writes.size() ? PutOutcome::kStored : PutOutcome::kPartly;
}

HotCacheStats HotCache::stats() const {
  const auto value = [&](Counter counter) {
    return counters_[static_cast<std::size_t>(counter)].load();
  };
  HotCacheStats stats;
  stats.hits = value(Counter::kHits);
  stats.misses = value(Counter::kMisses);
  stats.unavailable = value(Counter::kUnavailable);
  stats.quarantined = value(Counter::kQuarantined);
  stats.undecodable = value(Counter::kUndecodable);
  stats.foreign = value(Counter::kForeign);
  stats.newer_schema = value(Counter::kNewerSchema);
  stats.oversized = value(Counter::kOversized);
  stats.over_target = value(Counter::kOverTarget);
  stats.stored = value(Counter::kStored);
  stats.store_failures = value(Counter::kStoreFailures);
  for (std::size_t i = 0; i < kErrorClassCount; ++i) stats.errors[i] = errors_[i];
  stats.pool = pool_.stats();
  return stats;
}

}  // namespace han::cache
