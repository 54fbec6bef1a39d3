// DnsQuery and DnsReply: DNS messages of tests, as exact as a test wants them, or wrong on purpose.
//
// Threads: values. Blocks: never.
// Fails:   std::invalid_argument for a name or an address that cannot be written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace han::tests {

inline constexpr std::uint16_t kDnsA = 1;
inline constexpr std::uint16_t kDnsNs = 2;
inline constexpr std::uint16_t kDnsCname = 5;
inline constexpr std::uint16_t kDnsSoa = 6;
inline constexpr std::uint16_t kDnsTxt = 16;
inline constexpr std::uint16_t kDnsAaaa = 28;
inline constexpr std::uint16_t kDnsOpt = 41;

// "a.test" as labels with their lengths; "" is the root.
std::string dns_name(std::string_view text);
std::string dns_u16(unsigned value);
std::string dns_u32(std::uint64_t value);

struct DnsQuery {
  std::uint16_t id = 0;
  // Lower case, no trailing dot.
  std::string name;
  std::uint16_t type = kDnsA;
  bool is_tcp = false;

  // As a message, without EDNS.
  std::string bytes() const;
  static std::optional<DnsQuery> parse(std::string_view bytes);
};

// A response to `query`: authoritative, no error, no records.
class DnsReply {
 public:
  enum class Section { kAnswer, kAuthority, kAdditional };

  explicit DnsReply(DnsQuery query) : query_(std::move(query)) {}

  DnsReply& rcode(unsigned value);
  DnsReply& truncated();
  DnsReply& not_authoritative();
  DnsReply& id(std::uint16_t value);
  // The question that is repeated; "" leaves it out.
  DnsReply& question(const std::string& name);
  // A or AAAA by the look of the address.
  DnsReply& address(const std::string& owner, std::uint64_t ttl, const std::string& text);
  DnsReply& cname(const std::string& owner, std::uint64_t ttl, const std::string& target);
  // In the authority section.
  DnsReply& soa(const std::string& zone, std::uint64_t ttl, std::uint64_t minimum);
  DnsReply& ns(const std::string& zone, const std::string& server);
  DnsReply& record(Section section, const std::string& owner_wire, unsigned type, unsigned klass,
                   std::uint64_t ttl, const std::string& data);

  std::string bytes() const;

 private:
  DnsQuery query_;
  std::optional<std::string> question_;
  unsigned flags_ = 0x8580;  // a response, authoritative, recursion asked for and available
  unsigned counts_[3] = {0, 0, 0};
  std::string sections_[3];
};

}  // namespace han::tests
