// Answer, Failure and Resolution: what became of one question for the addresses of a host.
//
// An answer says only what the servers said; what it means is decided each time anew (SPEC I10).
// A failure is never an answer: it says nothing about the host (SPEC I4).
//
// Source: RFC 1035, RFC 2308 (negative answers), RFC 8767 (stale answers).
//
// Threads: values. Blocks: never. Limits: kTtlMax, kChainMax, kAddressesMax.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "safety/base/ip_address.h"

namespace han::dns {

// The longest life of an answer, whatever its records say.
inline constexpr std::chrono::seconds kTtlMax{900};
// Links of a CNAME chain.
inline constexpr std::size_t kChainMax = 11;
inline constexpr std::size_t kAddressesMax = 256;

enum class RecordType : std::uint8_t { kA, kAaaa };
// "A" or "AAAA".
std::string_view to_string(RecordType type);

struct Question {
  // A-labels, lower case, no trailing dot.
  std::string host;
  RecordType type = RecordType::kA;

  auto operator<=>(const Question&) const = default;
};

struct Answer {
  enum class Kind : std::uint8_t { kAddresses, kNoData, kNoSuchName };

  Kind kind = Kind::kNoData;
  // For kAddresses at least one, else none; sorted, each once, all of the type that was asked for.
  std::vector<safety::IpAddress> addresses;
  // CNAME targets in order: lower case, no trailing dot; a byte that is no letter, digit, '-' or
  // '_' is written \DDD, so each '.' stands between labels.
  std::vector<std::string> chain;
  // The least of the chain and the set, or of the chain and RFC 2308's for negative answers; at
  // most kTtlMax. Zero: to be used once and not cached.
  std::chrono::seconds ttl{0};
  // An earlier answer, given because the refresh failed; its ttl is zero.
  bool is_stale = false;
  // Since the first of its responses came: that much of the ttl has passed. A caller with many
  // questions gets the first answers with the last.
  std::chrono::milliseconds age{0};
  // The records say a longer ttl than kTtlMax.
  bool is_capped = false;

  bool operator==(const Answer&) const = default;
};

enum class Failure : std::uint8_t {
  // About the name: asking again gives the same.
  kTruncated,  // TC, and TCP could not mend it
  kLoop,       // a CNAME leads back
  kChain,      // more than kChainMax CNAMEs
  kLimit,      // more addresses than the limit
  kMalformed,  // no DNS message, or one that contradicts itself; or no host name was asked for
  // Perhaps better later.
  kServfail,
  kRefused,
  kTimeout,
  kUnreachable,  // no server takes questions
  kOverload,     // too many questions wait in this process
  kStopped,      // the resolver stops
};
inline constexpr std::size_t kFailures = 11;

// "dns_servfail" and so on: a stable word without content.
std::string_view to_string(Failure failure);
// True for those that asking again does not change.
bool is_permanent(Failure failure);

using Resolution = std::variant<Answer, Failure>;

}  // namespace han::dns
