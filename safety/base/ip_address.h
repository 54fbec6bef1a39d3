// IpAddress and IpPrefix: one IPv4 or IPv6 address, and a network of them (CIDR).
//
// Only strict text forms are taken: four decimal parts without leading zeros, or RFC 4291 section
// 2.2 without a zone. Other spellings of IPv4 (hex, octal, fewer parts) belong to the URL parser.
//
// Source: RFC 4291 section 2.2 (text forms), RFC 5952 (canonical text; section 5: mapped addresses
// in mixed notation), RFC 4632 section 3.1 (prefixes).
//
// Threads: values. Blocks: never. Limits: text longer than 49 bytes is refused.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace han::safety {

class IpAddress {
 public:
  // 0.0.0.0.
  IpAddress() = default;
  static IpAddress v4(const std::array<std::uint8_t, 4>& bytes);
  static IpAddress v6(const std::array<std::uint8_t, 16>& bytes);
  // 4 or 16 bytes in network order.
  static std::optional<IpAddress> from_bytes(std::span<const std::uint8_t> bytes);
  static std::optional<IpAddress> parse(std::string_view text);

  bool is_v4() const { return size_ == 4; }
  // 4 or 16, in network order.
  std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }
  std::string str() const;

  // All of IPv4 comes before IPv6; otherwise by bytes.
  auto operator<=>(const IpAddress&) const = default;

 private:
  std::uint8_t size_ = 4;
  std::array<std::uint8_t, 16> bytes_{};
};

class IpPrefix {
 public:
  // "10.0.0.0/8"; an address alone is /32 or /128. Bits beyond the length must be zero.
  static std::optional<IpPrefix> parse(std::string_view text);

  // An address of the other family is in no prefix; a mapped one is not IPv4 here.
  bool contains(const IpAddress& address) const;
  int length() const { return length_; }
  const IpAddress& base() const { return base_; }
  // Always with the length.
  std::string str() const;

  auto operator<=>(const IpPrefix&) const = default;

 private:
  IpPrefix(const IpAddress& base, int length) : base_(base), length_(length) {}

  IpAddress base_;
  int length_ = 0;
};

}  // namespace han::safety
