#include "dns/answer_reader.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace han::dns {
namespace {

bool is_at_or_below(std::string_view name, std::string_view zone) {
  if (zone.empty() || name == zone) return true;
  return name.size() > zone.size() && name.ends_with(zone) &&
         name[name.size() - zone.size() - 1] == '.';
}

std::uint32_t life_of(const SoaRecord& soa) { return std::min(soa.ttl, soa.minimum); }

// The negative answer's SOA: of a zone that holds the name; of several the one that ends first.
const SoaRecord* soa_of(const Message& message, std::string_view name) {
  const SoaRecord* found = nullptr;
  for (const SoaRecord& soa : message.soas) {
    const bool is_first = found == nullptr || life_of(soa) < life_of(*found);
    if (is_first && is_at_or_below(name, soa.owner)) found = &soa;
  }
  return found;
}

// A CNAME for each owner; nullopt when one owner has two.
using Links = std::map<std::string_view, const CnameRecord*>;
std::optional<Links> links_of(const Message& message) {
  Links links;
  for (const CnameRecord& record : message.cnames) {
    const auto [place, is_new] = links.emplace(record.owner, &record);
    if (is_new) continue;
    if (place->second->target != record.target) return std::nullopt;
    if (record.ttl < place->second->ttl) place->second = &record;
  }
  return links;
}

Failure failure_of(Rcode rcode) {
  return rcode == Rcode::kRefused ? Failure::kRefused : Failure::kServfail;
}

Answer capped(Answer answer) {
  answer.is_capped = answer.ttl > kTtlMax;
  answer.ttl = std::min(answer.ttl, kTtlMax);
  return answer;
}

}  // namespace

AnswerReader::AnswerReader(Question question, std::size_t addresses_max)
    : question_(std::move(question)), addresses_max_(addresses_max) {}

Question AnswerReader::asked() const {
  return {chain_.empty() ? question_.host : chain_.back(), question_.type};
}

std::optional<Failure> AnswerReader::step(const CnameRecord& link) {
  ttl_ = std::min(ttl_, std::chrono::seconds(link.ttl));
  const bool is_seen = link.target == question_.host ||
                       std::find(chain_.begin(), chain_.end(), link.target) != chain_.end();
  if (is_seen) return Failure::kLoop;
  if (chain_.size() == kChainMax) return Failure::kChain;
  chain_.push_back(link.target);
  return std::nullopt;
}

std::optional<Failure> AnswerReader::follow(const Message& message) {
  const auto links = links_of(message);
  if (!links) return Failure::kMalformed;
  for (auto link = links->find(asked().host); link != links->end();
       link = links->find(asked().host)) {
    const std::string_view owner = link->first;
    const bool has_address =
        std::any_of(message.addresses.begin(), message.addresses.end(),
                    [&](const AddressRecord& record) { return record.owner == owner; });
    if (has_address) return Failure::kMalformed;
    if (const auto failure = step(*link->second)) return failure;
  }
  return std::nullopt;
}

Resolution AnswerReader::addresses(std::span<const AddressRecord> set) const {
  Answer answer{Answer::Kind::kAddresses, {}, chain_, ttl_, false, {}, false};
  for (const AddressRecord& record : set) {
    answer.addresses.push_back(record.address);
    answer.ttl = std::min(answer.ttl, std::chrono::seconds(record.ttl));
  }
  std::sort(answer.addresses.begin(), answer.addresses.end());
  answer.addresses.erase(std::unique(answer.addresses.begin(), answer.addresses.end()),
                         answer.addresses.end());
  if (answer.addresses.size() > addresses_max_) return Failure::kLimit;
  return capped(std::move(answer));
}

Answer AnswerReader::negative(Answer::Kind kind, const SoaRecord* soa) const {
  Answer answer{kind, {}, chain_, std::chrono::seconds(0), false, {}, false};
  if (soa != nullptr) {
    answer.ttl = std::min(ttl_, std::chrono::seconds(life_of(*soa)));
  }
  return capped(std::move(answer));
}

std::optional<Resolution> AnswerReader::read(std::span<const std::uint8_t> response) {
  const auto message = parse_message(response);
  if (!message) return Failure::kMalformed;
  if (message->head.is_truncated) return Failure::kTruncated;
  const Rcode rcode = message->rcode;
  if (rcode != Rcode::kNoError && rcode != Rcode::kNxDomain) return failure_of(rcode);
  if (message->head.question != asked()) return Failure::kMalformed;
  const std::size_t links_before = chain_.size();
  if (const auto failure = follow(*message)) return *failure;

  const std::string end = asked().host;
  std::vector<AddressRecord> set;
  for (const AddressRecord& record : message->addresses) {
    const bool is_wanted = record.address.is_v4() == (question_.type == RecordType::kA);
    if (is_wanted && record.owner == end) set.push_back(record);
  }
  const SoaRecord* soa = soa_of(*message, end);
  if (rcode == Rcode::kNxDomain) {
    if (!set.empty()) return Failure::kMalformed;
    return negative(Answer::Kind::kNoSuchName, soa);
  }
  if (!set.empty()) return addresses(set);
  if (soa != nullptr) return negative(Answer::Kind::kNoData, soa);
  if (chain_.size() > links_before) {
    // A name that can be no host's has no address to be asked for.
    if (!is_host_name(end)) return Failure::kMalformed;
    return std::nullopt;
  }
  // Other servers are named, and nothing is said about the host: this one does not recurse.
  const bool is_referral = message->has_authority_ns && !message->head.is_authoritative;
  if (is_referral) return Failure::kRefused;
  return negative(Answer::Kind::kNoData, nullptr);
}

}  // namespace han::dns
