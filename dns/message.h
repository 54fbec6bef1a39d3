// Message: the parts of a DNS response that an answer is made of.
//
// Kept are A, AAAA, CNAME and SOA records of class IN, and whether NS records stand in the
// authority section; all other records are stepped over, but each must be well formed.
//
// Source: RFC 1035 section 4 (format; 4.1.4 compression), RFC 2181 section 8 (TTLs with the top bit
// count as zero), RFC 3596 (AAAA), RFC 6891 section 6.1.3 (the upper bits of the RCODE).
//
// Threads: pure functions. Blocks: never.
// Fails:   nullopt for anything that is not a whole, well-formed response.
// Limits:  65535 bytes; names of 255 bytes and 127 compression pointers, which only lead backwards:
//          each name takes at most 255 steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dns/answer.h"
#include "safety/base/ip_address.h"

namespace han::dns {

// Of RFC 1035 section 4.1.1 and RFC 6895.
enum class Rcode : std::uint16_t {
  kNoError = 0,
  kFormErr = 1,
  kServFail = 2,
  kNxDomain = 3,
  kNotImp = 4,
  kRefused = 5,
};

// Names are in the form of Answer::chain; the root is "".
struct AddressRecord {
  std::string owner;
  std::uint32_t ttl = 0;
  safety::IpAddress address;
};

struct CnameRecord {
  std::string owner;
  std::uint32_t ttl = 0;
  std::string target;
};

struct SoaRecord {
  std::string owner;
  std::uint32_t ttl = 0;
  std::uint32_t minimum = 0;
};

// What stands before the records.
struct MessageHead {
  std::uint16_t id = 0;
  bool is_response = false;
  bool is_authoritative = false;
  bool is_truncated = false;
  // Without its upper bits.
  Rcode rcode = Rcode::kNoError;
  // nullopt when there is not exactly one question, or none of class IN for addresses.
  std::optional<Question> question;
};

struct Message {
  MessageHead head;
  // With its upper bits.
  Rcode rcode = Rcode::kNoError;
  // Of the answer section.
  std::vector<AddressRecord> addresses;
  std::vector<CnameRecord> cnames;
  // Of the authority section.
  std::vector<SoaRecord> soas;
  bool has_authority_ns = false;
};

// Reads no further than the questions.
std::optional<MessageHead> parse_head(std::span<const std::uint8_t> bytes);
std::optional<Message> parse_message(std::span<const std::uint8_t> bytes);

// True for a host that can be asked for: labels of letters, digits, '-' and '_' in lower case, each
// of 1 to 63 bytes, 253 in all.
bool is_host_name(std::string_view host);

}  // namespace han::dns
