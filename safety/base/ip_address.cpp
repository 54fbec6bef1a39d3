#include "safety/base/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace han::safety {
namespace {

constexpr std::size_t kGroups = 8;

// The first `length` bits of both are equal.
bool share_prefix(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, int length) {
  const auto whole = static_cast<std::size_t>(length) / 8;
  if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin())) {
    return false;
  }
  const int rest = length % 8;
  return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

std::string dotted(std::span<const std::uint8_t> bytes) {
  std::string out;
  for (const std::uint8_t byte : bytes.first<4>()) {
    if (!out.empty()) out += '.';
    out += std::to_string(byte);
  }
  return out;
}

struct Run {
  std::size_t begin = kGroups;
  std::size_t size = 0;
};

// RFC 5952 section 4.2: the longest run of two or more zero groups, the first of equal ones.
Run longest_zero_run(const std::array<unsigned, kGroups>& groups) {
  Run best;
  for (std::size_t i = 0; i < kGroups;) {
    std::size_t end = i;
    while (end < kGroups && groups[end] == 0) ++end;
    if (end - i > std::max<std::size_t>(best.size, 1)) best = {i, end - i};
    i = end + 1;
  }
  return best;
}

std::string hex_group(unsigned value) {
  std::array<char, 4> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return {digits.data(), end};
}

}  // namespace

IpAddress IpAddress::v4(const std::array<std::uint8_t, 4>& bytes) {
  IpAddress address;
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
  return address;
}

IpAddress IpAddress::v6(const std::array<std::uint8_t, 16>& bytes) {
  IpAddress address;
  address.size_ = 16;
  address.bytes_ = bytes;
  return address;
}

std::optional<IpAddress> IpAddress::from_bytes(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != 4 && bytes.size() != 16) return std::nullopt;
  IpAddress address;
  address.size_ = static_cast<std::uint8_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
  return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> copy{};
  if (text.size() >= copy.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
  std::copy(text.begin(), text.end(), copy.begin());
  IpAddress address;
  const bool is_v6 = text.find(':') != std::string_view::npos;
  if (is_v6) address.size_ = 16;
  const int family = is_v6 ? AF_INET6 : AF_INET;
  if (::inet_pton(family, copy.data(), address.bytes_.data()) != 1) return std::nullopt;
  return address;
}

std::string IpAddress::str() const {
  if (is_v4()) return dotted(bytes());
  std::array<unsigned, kGroups> groups{};
  for (std::size_t i = 0; i < kGroups; ++i) {
    groups[i] = static_cast<unsigned>(bytes_[2 * i] << 8 | bytes_[2 * i + 1]);
  }
  const Run zeros = longest_zero_run(groups);
  const bool is_mapped = zeros.begin == 0 && zeros.size == 5 && groups[5] == 0xffff;
  if (is_mapped) {
    std::string out = "::ffff:";
    out += dotted(bytes().subspan(12));
    return out;
  }
  std::string out;
  for (std::size_t i = 0; i < kGroups; ++i) {
    if (i == zeros.begin) {
      out += "::";
      i += zeros.size - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    out += hex_group(groups[i]);
  }
  return out;
}

std::optional<IpPrefix> IpPrefix::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto base = IpAddress::parse(text.substr(0, slash));
  if (!base) return std::nullopt;
  const int bits = base->is_v4() ? 32 : 128;
  if (slash == std::string_view::npos) return IpPrefix(*base, bits);
  const std::string_view digits = text.substr(slash + 1);
  // One spelling a length: no sign, no leading zero.
  if (digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0')) {
    return std::nullopt;
  }
  int length = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, length);
  if (error != std::errc() || stop != end || length < 0 || length > bits) return std::nullopt;
  std::array<std::uint8_t, 16> bytes{};
  std::copy(base->bytes().begin(), base->bytes().end(), bytes.begin());
  for (int bit = length; bit < bits; ++bit) {
    const auto byte = bytes[static_cast<std::size_t>(bit) / 8];
    if ((byte >> (7 - bit % 8) & 1) != 0) return std::nullopt;
  }
  return IpPrefix(*base, length);
}

bool IpPrefix::contains(const IpAddress& address) const {
  return address.is_v4() == base_.is_v4() && share_prefix(base_.bytes(), address.bytes(), length_);
}

std::string IpPrefix::str() const {
  std::string out = base_.str();
  out += '/';
  out += std::to_string(length_);
  return out;
}

}  // namespace han::safety
