// DnsLookup: what the hosts of a batch's links resolve to, from the local cache, Redis or the
// resolver.
//
// Only answers are cached, never what is thought of them (SPEC I10), for their own time at most
// (900 s, the config's less), over both layers together. Names of a CNAME chain are cached as HMACs
// of their suffixes. What may not be cached (TTL 0, no SOA, a failure, a stale answer) is used
// once.
//
// Threads:   safe to share.
// Owns:      the local cache and the resolvers' health; borrows the rest.
// Blocks:    resolve() up to its deadline; not at all while the resolvers are down and it is not
//            the time to try again.
// Fails:     by facts of kind kFailed.
// Limits:    kQuestionsMax questions a call; the others are overload, and asked by a retry.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/entry_seal.h"
#include "cache/local_cache.h"
#include "dns/answer.h"
#include "safety/base/deadline.h"
#include "safety/base/pepper.h"
#include "safety/link_facts.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/cache_writer.h"
#include "safety/worker/resolver_health.h"

namespace han::safety {

// One question about a host, and what is known.
struct HostItem {
  dns::Question question;
  Digest hash{};           // of the host, under the current pepper
  bool is_needed = false;  // a link's verdict waits for it
  std::shared_ptr<const DnsFacts> facts;
  // Why there is no answer; absent where there is one.
  std::optional<dns::Failure> failure;
};

struct DnsLookupOptions {
  std::size_t local_cache_bytes = 16 * 1024 * 1024;
  std::chrono::seconds ttl_max = cache::kDnsTtlMax;
};

class DnsLookup {
 public:
  static constexpr std::size_t kQuestionsMax = 4'000;

  using Missing = std::vector<HostItem*>;
  using Keys = cache::PepperedKeys<cache::DnsEntry>;
  // One outcome a question, in order.
  using Resolve =
      std::function<std::vector<dns::Resolution>(std::span<const dns::Question>, Deadline)>;

  DnsLookup(const PepperSet& peppers, Resolve resolve, Metrics& metrics, DnsLookupOptions options,
            const Clock& clock = system_clock());

  HostItem item(std::string host, dns::RecordType type) const;

  Missing find_local(std::span<HostItem> items);
  Keys keys(std::span<HostItem* const> missing) const;
  // `lookups`: Redis's answers to `keys`, which are those of the first of `missing`.
  void take(const Keys& keys, std::span<const cache::LookupOf<cache::DnsEntry>> lookups,
            Missing& missing);
  // Asks for those of the missing that are needed. `writes`, if any, gets what is to be written to
  // Redis.
  void resolve(const Missing& missing, Deadline deadline, std::vector<AnswerWrite>* writes);

  cache::LocalCacheStats local_stats() const { return local_.stats(); }
  const ResolverHealth& health() const { return health_; }

 private:
  std::vector<dns::Resolution> ask(std::span<const dns::Question> questions, Deadline deadline);
  void keep_answer(const HostItem& item, const dns::Answer& answer,
                   std::vector<AnswerWrite>* writes);
  void keep(const HostItem& item, std::chrono::milliseconds life);
  cache::DnsEntry entry_of(const HostItem& item, std::chrono::milliseconds life) const;
  void count_cached(const HostItem& item);

  const PepperSet& peppers_;
  const Resolve resolve_;
  Metrics& metrics_;
  const DnsLookupOptions options_;
  const Clock& clock_;
  cache::LocalCache<DnsFacts> local_;
  ResolverHealth health_;
};

}  // namespace han::safety
