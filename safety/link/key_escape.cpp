#include "safety/link/key_escape.h"

#include <array>
#include <cstdint>

namespace han::safety {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

constexpr std::array<std::int8_t, 256> hex_values() {
  std::array<std::int8_t, 256> values{};
  for (auto& value : values) value = -1;
  for (std::size_t i = 0; i < 10; ++i) values['0' + i] = static_cast<std::int8_t>(i);
  for (std::size_t i = 0; i < 6; ++i) {
    values['a' + i] = static_cast<std::int8_t>(10 + i);
    values['A' + i] = static_cast<std::int8_t>(10 + i);
  }
  return values;
}
constexpr std::array<std::int8_t, 256> kHexValues = hex_values();

int hex_value(char c) { return kHexValues[static_cast<unsigned char>(c)]; }

bool is_escaped(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte >= 0x7F || c == '#' || c == '%';
}

}  // namespace

std::string without_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    out += c;
    // The byte of an escape may be the last digit of another one.
    while (out.size() >= 3 && out[out.size() - 3] == '%') {
      const int high = hex_value(out[out.size() - 2]);
      const int low = hex_value(out.back());
      if (high < 0 || low < 0) break;
      out.resize(out.size() - 2);
      out.back() = static_cast<char>(high * 16 + low);
    }
  }
  return out;
}

void append_escaped(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    if (is_escaped(c)) {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    } else {
      out += c;
    }
  }
}

}  // namespace han::safety
