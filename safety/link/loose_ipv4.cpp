#include "safety/link/loose_ipv4.h"

#include <array>
#include <cstdint>

namespace han::safety {
namespace {

constexpr std::size_t kPartsMax = 4;
constexpr std::size_t kSpacedHostBytesMax = 15;

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return 16;
}

bool has_only_digits(std::string_view digits, int base) {
  for (const char c : digits) {
    if (digit_value(c) >= base) return false;
  }
  return !digits.empty();
}

// Modulo 2^32, whatever its length.
std::uint32_t number(std::string_view digits, int base) {
  std::uint32_t value = 0;
  for (const char c : digits) {
    value = value * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit_value(c));
  }
  return value;
}

struct Parts {
  std::array<std::string_view, kPartsMax> text;
  std::size_t count = 0;
};

std::optional<Parts> split(std::string_view host) {
  Parts parts;
  while (true) {
    if (parts.count == kPartsMax) return std::nullopt;
    const std::size_t dot = host.find('.');
    parts.text[parts.count++] = host.substr(0, dot);
    if (dot == std::string_view::npos) return parts;
    host.remove_prefix(dot + 1);
  }
}

std::string_view without_trailing_words(std::string_view host) {
  const std::size_t space = host.find(' ');
  if (space == std::string_view::npos || host.size() > kSpacedHostBytesMax) return host;
  const std::string_view address = host.substr(0, space);
  const std::optional<Parts> parts = split(address);
  if (!parts || parts->count != kPartsMax) return host;
  for (const std::string_view part : parts->text) {
    if (!has_only_digits(part, 10) || part.size() > 3) return host;
  }
  return address;
}

}  // namespace

std::optional<std::string> loose_ipv4(std::string_view host) {
  const std::optional<Parts> parts = split(without_trailing_words(host));
  if (!parts) return std::nullopt;
  bool is_octal_used = true;
  for (std::size_t i = 0; i < parts->count; ++i) {
    const std::string_view part = parts->text[i];
    if (part.starts_with("0x")) {
      if (!has_only_digits(part.substr(2), 16)) return std::nullopt;
    } else if (!has_only_digits(part, 10)) {
      return std::nullopt;
    } else if (part.size() > 1 && part.front() == '0' && !has_only_digits(part, 8)) {
      is_octal_used = false;
    }
  }
  std::uint32_t address = 0;
  for (std::size_t i = 0; i < parts->count; ++i) {
    const std::string_view part = parts->text[i];
    const bool is_hex = part.starts_with("0x");
    const bool is_octal = !is_hex && is_octal_used && part.size() > 1 && part.front() == '0';
    const std::uint32_t value =
        is_hex ? number(part.substr(2), 16) : number(part, is_octal ? 8 : 10);
    if (i + 1 == parts->count) {
      const auto places = static_cast<unsigned>(kPartsMax - i);
      address |= places == kPartsMax ? value : value & ((1U << (8 * places)) - 1);
    } else {
      address |= (value & 0xFFU) << (8 * (3 - i));
    }
  }
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (!out.empty()) out += '.';
    out += std::to_string((address >> shift) & 0xFFU);
  }
  return out;
}

}  // namespace han::safety
