#include "safety/apps/ctl/json_string.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace han::safety {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;
constexpr std::size_t kUnitDigits = 4;

void append_utf8(std::string& out, std::uint32_t point) {
  const auto add = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | (point >> 6));
    add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | (point >> 12));
    add(0x80 | ((point >> 6) & 0x3F));
    add(0x80 | (point & 0x3F));
  } else {
    add(0xF0 | (point >> 18));
    add(0x80 | ((point >> 12) & 0x3F));
    add(0x80 | ((point >> 6) & 0x3F));
    add(0x80 | (point & 0x3F));
  }
}

// The four hex digits at `offset`, a UTF-16 code unit.
std::optional<std::uint32_t> unit_at(std::string_view text, std::size_t offset) {
  if (offset + kUnitDigits > text.size()) return std::nullopt;
  std::uint32_t unit = 0;
  const char* begin = text.data() + offset;
  const auto [stop, error] = std::from_chars(begin, begin + kUnitDigits, unit, 16);
  if (error != std::errc() || stop != begin + kUnitDigits) return std::nullopt;
  return unit;
}

bool is_high(std::uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low(std::uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// Appends the character of "\uXXXX" and moves `offset`, which is behind the "u", past it.
bool append_unicode_escape(JsonString& out, std::string_view text, std::size_t& offset) {
  const auto unit = unit_at(text, offset);
  if (!unit) return false;
  offset += kUnitDigits;
  std::uint32_t point = *unit;
  if (is_high(point)) {
    const bool has_second = text.substr(offset).starts_with("\\u");
    const auto second = has_second ? unit_at(text, offset + 2) : std::nullopt;
    if (second && is_low(*second)) {
      point = 0x10000 + ((point - 0xD800) << 10) + (*second - 0xDC00);
      offset += 2 + kUnitDigits;
    }
  }
  const bool is_half = is_high(point) || is_low(point);
  out.is_repaired |= is_half;
  append_utf8(out.text, is_half ? kReplacement : point);
  return true;
}

std::optional<char> simple_escape(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<JsonString> read_json_string(std::string_view text, std::size_t& offset) {
  if (offset >= text.size() || text[offset] != '"') return std::nullopt;
  JsonString out;
  ++offset;
  while (offset < text.size()) {
    const std::size_t plain = text.find_first_of("\"\\", offset);
    if (plain == std::string_view::npos) return std::nullopt;
    for (const char c : text.substr(offset, plain - offset)) {
      if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
    }
    out.text.append(text.substr(offset, plain - offset));
    offset = plain + 1;
    if (text[plain] == '"') return out;
    if (offset == text.size()) return std::nullopt;
    const char letter = text[offset++];
    if (letter == 'u') {
      if (!append_unicode_escape(out, text, offset)) return std::nullopt;
    } else if (const auto character = simple_escape(letter)) {
      out.text.push_back(*character);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::string> decode_json_string(std::string_view line) {
  std::size_t offset = std::min(line.find_first_not_of(kJsonSpace), line.size());
  auto string = read_json_string(line, offset);
  const bool is_alone = line.find_first_not_of(kJsonSpace, offset) == std::string_view::npos;
  if (!string || !is_alone) return std::nullopt;
  return std::move(string->text);
}

bool starts_with_json(std::string_view line, char character) {
  const std::size_t first = line.find_first_not_of(kJsonSpace);
  return first != std::string_view::npos && line[first] == character;
}

}  // namespace han::safety
