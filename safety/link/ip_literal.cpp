#include "safety/link/ip_literal.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace han::safety {
namespace {

constexpr std::size_t kPieces = 8;
using Pieces = std::array<std::uint16_t, kPieces>;

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

int hex_value(char digit) {
  if (is_digit(digit)) return digit - '0';
  const int lower = digit | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Section 3.5, IPv4 number parser. A number beyond 32 bits stays beyond them.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  constexpr std::uint64_t kBeyond = std::uint64_t{1} << 32;
  if (text.empty()) return std::nullopt;
  int radix = 10;
  if (text.size() > 1 && text[0] == '0') {
    const bool is_hex = (text[1] | 0x20) == 'x';
    radix = is_hex ? 16 : 8;
    text.remove_prefix(is_hex ? 2 : 1);
  }
  std::uint64_t value = 0;
  for (const char byte : text) {
    const int digit = hex_value(byte);
    if (digit < 0 || digit >= radix) return std::nullopt;
    value = value * static_cast<unsigned>(radix) + static_cast<unsigned>(digit);
    value = std::min(value, kBeyond);
  }
  return value;
}

// The IPv4 address at the end of an IPv6 one: four decimal numbers without leading zeros.
bool read_embedded_ipv4(std::string_view text, std::uint16_t* pieces) {
  std::array<unsigned, 4> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) {
      if (text.empty() || text[0] != '.') return false;
      text.remove_prefix(1);
    }
    std::size_t size = 0;
    while (size < text.size() && is_digit(text[size])) {
      if (size > 0 && numbers[i] == 0) return false;
      numbers[i] = numbers[i] * 10 + static_cast<unsigned>(text[size] - '0');
      if (numbers[i] > 255) return false;
      ++size;
    }
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  pieces[0] = static_cast<std::uint16_t>(numbers[0] << 8 | numbers[1]);
  pieces[1] = static_cast<std::uint16_t>(numbers[2] << 8 | numbers[3]);
  return text.empty();
}

// Reads up to four hex digits; the number of digits.
std::size_t read_piece(std::string_view text, std::uint16_t& piece) {
  unsigned value = 0;
  std::size_t size = 0;
  while (size < 4 && size < text.size() && hex_value(text[size]) >= 0) {
    value = value << 4 | static_cast<unsigned>(hex_value(text[size]));
    ++size;
  }
  piece = static_cast<std::uint16_t>(value);
  return size;
}

struct Run {
  std::size_t start = kPieces;
  std::size_t size = 1;  // one piece alone is not shortened
};

// The first of the longest runs of zeros.
Run longest_zeros(const Pieces& pieces) {
  Run longest;
  std::size_t i = 0;
  while (i < kPieces) {
    std::size_t end = i;
    while (end < kPieces && pieces[end] == 0) ++end;
    if (end - i > longest.size) longest = {i, end - i};
    i = end + 1;
  }
  return longest;
}

}  // namespace

// Section 3.5, ends-in-a-number checker.
bool ends_in_number(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view last = host.substr(host.rfind('.') + 1);
  if (last.empty()) return false;
  return std::all_of(last.begin(), last.end(), is_digit) || parse_number(last).has_value();
}

// Section 3.5, IPv4 parser.
std::optional<std::uint32_t> parse_ipv4_host(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  std::uint64_t address = 0;
  for (unsigned part = 0; part < 4; ++part) {
    const std::size_t dot = host.find('.');
    const auto number = parse_number(host.substr(0, dot));
    if (!number) return std::nullopt;
    const unsigned bits_left = 32 - 8 * part;
    if (dot == std::string_view::npos) {  // the last part fills what is left
      if (*number >> bits_left != 0) return std::nullopt;
      return static_cast<std::uint32_t>(address | *number);
    }
    if (*number > 255) return std::nullopt;
    address |= *number << (bits_left - 8);
    host.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

// Section 3.5, IPv6 parser.
std::optional<Ipv6Bytes> parse_ipv6_host(std::string_view text) {
  Pieces pieces{};
  std::size_t count = 0;
  std::size_t compressed_at = kPieces + 1;
  if (text.starts_with(':')) {
    if (!text.starts_with("::")) return std::nullopt;
    text.remove_prefix(2);
    compressed_at = 0;
  }
  while (!text.empty()) {
    if (count == kPieces) return std::nullopt;
    if (text[0] == ':') {
      if (compressed_at <= kPieces) return std::nullopt;
      text.remove_prefix(1);
      compressed_at = count;
      continue;
    }
    const std::size_t digits = read_piece(text, pieces[count]);
    if (digits < text.size() && text[digits] == '.') {
      if (count > kPieces - 2 || !read_embedded_ipv4(text, &pieces[count])) return std::nullopt;
      count += 2;
      break;
    }
    text.remove_prefix(digits);
    ++count;
    if (text.empty()) break;
    if (text[0] != ':' || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  if (compressed_at <= kPieces) {
    std::rotate(pieces.begin() + static_cast<std::ptrdiff_t>(compressed_at),
                pieces.begin() + static_cast<std::ptrdiff_t>(count), pieces.end());
  } else if (count != kPieces) {
    return std::nullopt;
  }
  Ipv6Bytes bytes{};
  for (std::size_t i = 0; i < kPieces; ++i) {
    bytes[2 * i] = static_cast<std::uint8_t>(pieces[i] >> 8);
    bytes[2 * i + 1] = static_cast<std::uint8_t>(pieces[i] & 0xFF);
  }
  return bytes;
}

void append_ipv4(std::string& out, std::uint32_t address) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    char digits[3];
    const unsigned number = address >> shift & 0xFF;
    out.append(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
    if (shift > 0) out.push_back('.');
  }
}

// Section 3.6, IPv6 serializer.
void append_ipv6(std::string& out, const Ipv6Bytes& address) {
  Pieces pieces{};
  for (std::size_t i = 0; i < kPieces; ++i) {
    pieces[i] = static_cast<std::uint16_t>(address[2 * i] << 8 | address[2 * i + 1]);
  }
  const Run zeros = longest_zeros(pieces);
  out.push_back('[');
  for (std::size_t i = 0; i < kPieces; ++i) {
    if (i == zeros.start) {
      out.append(i == 0 ? "::" : ":");
      i += zeros.size - 1;
      continue;
    }
    char digits[4];
    out.append(digits, std::to_chars(digits, digits + sizeof(digits), pieces[i], 16).ptr);
    if (i + 1 < kPieces) out.push_back(':');
  }
  out.push_back(']');
}

}  // namespace han::safety
