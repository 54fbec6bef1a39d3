#include "tests/support/dns_packet.h"

#include <cctype>
#include <stdexcept>

#include "safety/base/ip_address.h"

namespace han::tests {
namespace {

constexpr unsigned kClassIn = 1;
constexpr std::size_t kHeaderBytes = 12;

std::string raw(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

std::string dns_u16(unsigned value) {
  return {static_cast<char>(value >> 8 & 0xff), static_cast<char>(value & 0xff)};
}

std::string dns_u32(std::uint64_t value) {
  return dns_u16(static_cast<unsigned>(value >> 16 & 0xffff)) +
         dns_u16(static_cast<unsigned>(value & 0xffff));
}

std::string dns_name(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    constexpr std::size_t kLabelMax = 63;
    if (dot == 0 || dot > kLabelMax) throw std::invalid_argument("no DNS label");
    out += static_cast<char>(dot);
    out += text.substr(0, dot);
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  out += '\0';
  return out;
}

std::string DnsQuery::bytes() const {
  constexpr unsigned kRecursionDesired = 0x0100;
  return dns_u16(id) + dns_u16(kRecursionDesired) + dns_u16(1) + dns_u16(0) + dns_u16(0) +
         dns_u16(0) + dns_name(name) + dns_u16(type) + dns_u16(kClassIn);
}

std::optional<DnsQuery> DnsQuery::parse(std::string_view bytes) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes.at(at)); };
  const auto u16 = [&](std::size_t at) {
    return static_cast<std::uint16_t>(byte(at) << 8 | byte(at + 1));
  };
  try {
    DnsQuery query;
    query.id = u16(0);
    if ((byte(2) & 0x80U) != 0 || u16(4) != 1) return std::nullopt;
    std::size_t at = kHeaderBytes;
    while (byte(at) != 0) {
      const std::size_t size = byte(at);
      if (!query.name.empty()) query.name += '.';
      for (std::size_t i = 1; i <= size; ++i) {
        query.name += static_cast<char>(std::tolower(byte(at + i)));
      }
      at += size + 1;
    }
    query.type = u16(at + 1);
    return query;
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

DnsReply& DnsReply::rcode(unsigned value) {
  flags_ = (flags_ & ~0xfU) | value;
  return *this;
}

DnsReply& DnsReply::truncated() {
  flags_ |= 0x0200U;
  return *this;
}

DnsReply& DnsReply::not_authoritative() {
  flags_ &= ~0x0400U;
  return *this;
}

DnsReply& DnsReply::id(std::uint16_t value) {
  query_.id = value;
  return *this;
}

DnsReply& DnsReply::question(const std::string& name) {
  question_ = name;
  return *this;
}

DnsReply& DnsReply::record(Section section, const std::string& owner_wire, unsigned type,
                           unsigned klass, std::uint64_t ttl, const std::string& data) {
  const auto at = static_cast<std::size_t>(section);
  ++counts_[at];
  sections_[at] += owner_wire + dns_u16(type) + dns_u16(klass) + dns_u32(ttl) +
                   dns_u16(static_cast<unsigned>(data.size())) + data;
  return *this;
}

DnsReply& DnsReply::address(const std::string& owner, std::uint64_t ttl, const std::string& text) {
  const auto address = safety::IpAddress::parse(text);
  if (!address) throw std::invalid_argument("no address");
  return record(Section::kAnswer, dns_name(owner), address->is_v4() ? kDnsA : kDnsAaaa, kClassIn,
                ttl, raw(address->bytes()));
}

DnsReply& DnsReply::cname(const std::string& owner, std::uint64_t ttl, const std::string& target) {
  return record(Section::kAnswer, dns_name(owner), kDnsCname, kClassIn, ttl, dns_name(target));
}

DnsReply& DnsReply::soa(const std::string& zone, std::uint64_t ttl, std::uint64_t minimum) {
  const std::string server = dns_name("ns." + zone);
  const std::string numbers = dns_u32(1) + dns_u32(3600) + dns_u32(600) + dns_u32(86400);
  return record(Section::kAuthority, dns_name(zone), kDnsSoa, kClassIn, ttl,
                server + server + numbers + dns_u32(minimum));
}

DnsReply& DnsReply::ns(const std::string& zone, const std::string& server) {
  return record(Section::kAuthority, dns_name(zone), kDnsNs, kClassIn, 3600, dns_name(server));
}

std::string DnsReply::bytes() const {
  const std::string name = question_.value_or(query_.name);
  const bool has_question = !name.empty();
  std::string out = dns_u16(query_.id) + dns_u16(flags_) + dns_u16(has_question ? 1 : 0);
  for (const unsigned count : counts_) out += dns_u16(count);
  if (has_question) out += dns_name(name) + dns_u16(query_.type) + dns_u16(kClassIn);
  for (const std::string& section : sections_) out += section;
  return out;
}

}  // namespace han::tests
