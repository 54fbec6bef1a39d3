#include "safety/worker/dns_lookup.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "safety/base/hex.h"
#include "safety/link_judge_dns.h"
#include "safety/link_subject.h"

namespace han::safety {
namespace {

using std::chrono::milliseconds;
using Lookup = cache::LookupOf<cache::DnsEntry>;

cache::DnsKey key_of(const Digest& hash, const dns::Question& question) {
  return {hash, dns::to_string(question.type)};
}

// As inet_ntop writes it: the one spelling that cached values have.
std::string cached_form(const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = address.is_v4() ? AF_INET : AF_INET6;
  if (::inet_ntop(family, address.bytes().data(), text.data(), text.size()) == nullptr) return "";
  return text.data();
}

DnsFacts::Kind kind_of(cache::DnsAnswer answer) {
  switch (answer) {
    case cache::DnsAnswer::kNoSuchName:
      return DnsFacts::Kind::kNoSuchName;
    case cache::DnsAnswer::kNoData:
      return DnsFacts::Kind::kNoData;
    case cache::DnsAnswer::kAddresses:
      return DnsFacts::Kind::kAddresses;
  }
  return DnsFacts::Kind::kFailed;
}

cache::DnsAnswer cached_kind(DnsFacts::Kind kind) {
  if (kind == DnsFacts::Kind::kAddresses) return cache::DnsAnswer::kAddresses;
  return kind == DnsFacts::Kind::kNoData ? cache::DnsAnswer::kNoData
                                         : cache::DnsAnswer::kNoSuchName;
}

// Null: something in it is not what it should be, though it is sealed.
std::shared_ptr<const DnsFacts> facts_of_entry(const cache::DnsEntry& entry) {
  auto facts = std::make_shared<DnsFacts>();
  facts->kind = kind_of(entry.answer);
  facts->failure.clear();
  facts->pepper_id = std::string_view(entry.pepper_id);
  for (const std::string& text : entry.addresses) {
    const auto address = IpAddress::parse(text);
    if (!address) return nullptr;
    facts->addresses.push_back(*address);
  }
  for (const auto& suffixes : entry.chain) {
    auto& hashes = facts->chain.emplace_back();
    for (const std::string& digits : suffixes) {
      const auto bytes = from_hex(digits);
      Digest hash{};
      if (!bytes || bytes->size() != hash.size()) return nullptr;
      std::ranges::copy(*bytes, hash.begin());
      hashes.push_back(hash);
    }
  }
  return facts;
}

// What an entry may hold; the rest is used once.
bool is_cachable(const DnsFacts& facts) {
  return facts.addresses.size() <= cache::kDnsAddressesMax &&
         facts.chain.size() <= cache::kDnsChainMax &&
         std::ranges::all_of(facts.chain, [](const auto& suffixes) {
           return !suffixes.empty() && suffixes.size() <= cache::kDnsSuffixesMax;
         });
}

std::size_t size_of(const DnsFacts& facts) {
  std::size_t bytes = sizeof(DnsFacts) + facts.addresses.size() * sizeof(IpAddress);
  for (const auto& suffixes : facts.chain) bytes += suffixes.size() * sizeof(Digest) + 24;
  return bytes;
}

std::string_view outcome_word(const dns::Resolution& outcome) {
  if (const auto* failure = std::get_if<dns::Failure>(&outcome)) return dns::to_string(*failure);
  const auto& answer = std::get<dns::Answer>(outcome);
  if (answer.is_stale) return "stale";
  switch (answer.kind) {
    case dns::Answer::Kind::kAddresses:
      return "addresses";
    case dns::Answer::Kind::kNoData:
      return "no_data";
    case dns::Answer::Kind::kNoSuchName:
      return "no_such_name";
  }
  return "";
}

}  // namespace

DnsLookup::DnsLookup(const PepperSet& peppers, Resolve resolve, Metrics& metrics,
                     DnsLookupOptions options, const Clock& clock)
    : peppers_(peppers),
      resolve_(std::move(resolve)),
      metrics_(metrics),
      options_(options),
      clock_(clock),
      local_(options.local_cache_bytes, clock),
      health_(clock) {}

HostItem DnsLookup::item(std::string host, dns::RecordType type) const {
  HostItem item;
  item.hash = host_hash(peppers_.current.key, host);
  item.question = {std::move(host), type};
  return item;
}

void DnsLookup::count_cached(const HostItem& item) {
  metrics_.count("dns_cache_total", item.facts->kind == DnsFacts::Kind::kAddresses ? "hit" : "neg");
}

DnsLookup::Missing DnsLookup::find_local(std::span<HostItem> items) {
  Missing missing;
  for (HostItem& item : items) {
    item.facts = local_.get(key_of(item.hash, item.question).str());
    if (item.facts) {
      count_cached(item);
    } else {
      missing.push_back(&item);
    }
  }
  return missing;
}

DnsLookup::Keys DnsLookup::keys(std::span<HostItem* const> missing) const {
  Keys keys;
  for (const HostItem* item : missing) {
    std::optional<cache::DnsKey> previous;
    if (peppers_.previous) {
      previous = key_of(host_hash(peppers_.previous->key, item->question.host), item->question);
    }
    keys.add(key_of(item->hash, item->question), std::move(previous));
  }
  return keys;
}

void DnsLookup::keep(const HostItem& item, milliseconds life) {
  local_.put(key_of(item.hash, item.question).str(), item.facts, size_of(*item.facts),
             std::min<milliseconds>(life, options_.ttl_max));
}

void DnsLookup::take(const Keys& keys, std::span<const Lookup> lookups, Missing& missing) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    HostItem& item = *missing[i];
    const auto answer = keys.answer(i, lookups, [&](const Lookup& lookup) {
      if (!lookup.entry) return false;
      if (cache::is_sealed(*lookup.entry, peppers_)) item.facts = facts_of_entry(*lookup.entry);
      if (item.facts == nullptr) metrics_.count("evidence_refused_total", "redis");
      return item.facts != nullptr;
    });
    if (!item.facts) continue;
    keep(item, answer.hit->life);
    count_cached(item);
  }
  std::erase_if(missing, [](const HostItem* item) { return item->facts != nullptr; });
}

std::vector<dns::Resolution> DnsLookup::ask(std::span<const dns::Question> questions,
                                            Deadline deadline) {
  std::vector<dns::Resolution> outcomes;
  if (resolve_ && health_.may_ask()) {
    outcomes = resolve_(questions.first(std::min(questions.size(), kQuestionsMax)), deadline);
    health_.note(outcomes);
    for (const auto& outcome : outcomes) {
      metrics_.count("dns_queries_total", outcome_word(outcome));
    }
    outcomes.resize(questions.size(), dns::Failure::kOverload);
  } else {
    metrics_.count("dns_queries_total", "not_asked", static_cast<double>(questions.size()));
    outcomes.resize(questions.size(), dns::Failure::kUnreachable);
  }
  return outcomes;
}

cache::DnsEntry DnsLookup::entry_of(const HostItem& item, milliseconds life) const {
  const DnsFacts& facts = *item.facts;
  cache::DnsEntry entry;
  entry.subject = to_hex(item.hash);
  entry.rrtype = dns::to_string(item.question.type);
  entry.answer = cached_kind(facts.kind);
  for (const IpAddress& address : facts.addresses) entry.addresses.push_back(cached_form(address));
  const auto ends = clock_.wall_now().time_since_epoch() + life;
  entry.expires_at_ms = std::chrono::duration_cast<milliseconds>(ends).count();
  entry.chain_length = static_cast<std::int64_t>(facts.chain.size());
  for (const auto& suffixes : facts.chain) {
    auto& digits = entry.chain.emplace_back();
    for (const Digest& hash : suffixes) digits.push_back(to_hex(hash));
  }
  return entry;
}

void DnsLookup::keep_answer(const HostItem& item, const dns::Answer& answer,
                            std::vector<AnswerWrite>* writes) {
  const milliseconds life = std::min(answer.ttl, options_.ttl_max) - answer.age;
  if (life.count() <= 0 || answer.is_stale || !is_cachable(*item.facts)) return;
  keep(item, life);
  if (writes == nullptr) return;
  cache::DnsEntry entry = entry_of(item, life);
  writes->push_back({key_of(item.hash, item.question), cache::seal_entry(entry, peppers_.current),
                     Deadline::after(life, clock_)});
}

void DnsLookup::resolve(const Missing& missing, Deadline deadline,
                        std::vector<AnswerWrite>* writes) {
  Missing needed;
  std::vector<dns::Question> questions;
  for (HostItem* item : missing) {
    if (!item->is_needed || item->facts) continue;
    needed.push_back(item);
    questions.push_back(item->question);
  }
  if (needed.empty()) return;
  metrics_.count("dns_cache_total", "miss", static_cast<double>(needed.size()));
  const auto outcomes = ask(questions, deadline);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    HostItem& item = *needed[i];
    item.facts = std::make_shared<const DnsFacts>(facts_of(outcomes[i], peppers_.current));
    if (const auto* answer = std::get_if<dns::Answer>(&outcomes[i])) {
      keep_answer(item, *answer, writes);
      if (answer->is_stale) metrics_.count("dns_cache_total", "stale");
    } else {
      item.failure = std::get<dns::Failure>(outcomes[i]);
    }
  }
}

}  // namespace han::safety
