// AnswerReader: turns the responses to one question into its answer.
//
// The CNAME chain is followed from the host that was asked for, whatever the order of the records;
// records of other names say nothing. Where a response leaves off at a name without saying that it
// has no address, that name is asked for next. A response that contradicts itself (a name with a
// CNAME and an address, or with two CNAMEs; an address of a name that does not exist) is malformed.
//
// Source: RFC 1034 section 3.6.2 (CNAME), RFC 2308 sections 2 and 5 (negative answers and their
// TTL), RFC 6604 (an RCODE is about the end of the chain).
//
// Threads: one thread at a time. Blocks: never.
// Fails:   a Failure.
// Limits:  kChainMax names over all responses; `addresses_max`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dns/answer.h"
#include "dns/message.h"

namespace han::dns {

class AnswerReader {
 public:
  explicit AnswerReader(Question question, std::size_t addresses_max = kAddressesMax);

  // What is to be asked now.
  Question asked() const;
  // The outcome; nullopt: asked() has another host now.
  std::optional<Resolution> read(std::span<const std::uint8_t> response);

 private:
  std::optional<Failure> follow(const Message& message);
  std::optional<Failure> step(const CnameRecord& link);
  Resolution addresses(std::span<const AddressRecord> set) const;
  Answer negative(Answer::Kind kind, const SoaRecord* soa) const;

  const Question question_;
  const std::size_t addresses_max_;
  std::vector<std::string> chain_;
  // The least so far, not yet cut to kTtlMax.
  std::chrono::seconds ttl_ = std::chrono::seconds::max();
};

}  // namespace han::dns
