#include "safety/text/utf8.h"

#include <cstdint>
#include <cstring>

namespace han::safety {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::uint64_t kHighBits = 0x8080808080808080U;

unsigned byte_at(std::string_view text, std::size_t offset) {
  return static_cast<unsigned char>(text[offset]);
}

// What a lead byte promises: the length, and the range of the second byte (table 3-7).
struct Lead {
  std::size_t size;  // 0: no lead byte
  unsigned second_min;
  unsigned second_max;
};

Lead lead_of(unsigned byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

struct Sequence {
  std::size_t size;  // of the well-formed sequence, or of the maximal ill-formed subpart
  bool is_valid;
};

Sequence sequence_at(std::string_view text, std::size_t offset) {
  const Lead lead = lead_of(byte_at(text, offset));
  if (lead.size == 0) return {1, false};
  if (lead.size == 1) return {1, true};
  if (offset + 1 >= text.size()) return {1, false};
  const unsigned second = byte_at(text, offset + 1);
  if (second < lead.second_min || second > lead.second_max) return {1, false};
  for (std::size_t i = 2; i < lead.size; ++i) {
    if (offset + i >= text.size() || (byte_at(text, offset + i) & 0xC0U) != 0x80) return {i, false};
  }
  return {lead.size, true};
}

// Three steps that carry nearly all text: eight ASCII bytes, two-byte characters, and three-byte
// ones apart from the leads that restrict their second byte. 0 when none applies.
std::size_t common_sequence_bytes(std::string_view text, std::size_t offset) {
  if (text.size() - offset < sizeof(std::uint64_t)) return 0;
  const unsigned lead = byte_at(text, offset);
  const unsigned second = byte_at(text, offset + 1) ^ 0x80U;
  if (lead < 0x80) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + offset, sizeof(word));
    return (word & kHighBits) == 0 ? sizeof(word) : 1;
  }
  if (lead - 0xC2U < 0x1EU) return second < 0x40 ? 2 : 0;
  const unsigned third = byte_at(text, offset + 2) ^ 0x80U;
  const bool is_plain_lead = lead - 0xE1U < 0xCU || (lead & ~1U) == 0xEE;
  return is_plain_lead && (second | third) < 0x40 ? 3 : 0;
}

}  // namespace

std::size_t ascii_prefix(std::string_view text) {
  std::size_t offset = 0;
  for (; offset + 32 <= text.size(); offset += 32) {
    std::uint64_t words[4];
    std::memcpy(words, text.data() + offset, sizeof(words));
    if (((words[0] | words[1] | words[2] | words[3]) & kHighBits) != 0) break;
  }
  while (offset < text.size() && byte_at(text, offset) < 0x80) ++offset;
  return offset;
}

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t offset = ascii_prefix(text);
  while (offset < text.size()) {
    const std::size_t common = common_sequence_bytes(text, offset);
    if (common != 0) {
      offset += common;
      continue;
    }
    const Sequence sequence = sequence_at(text, offset);
    if (!sequence.is_valid) return offset;
    offset += sequence.size;
  }
  return std::string_view::npos;
}

std::string_view repair_utf8(std::string_view text, std::string& buffer) {
  std::size_t invalid = find_invalid_utf8(text);
  if (invalid == std::string_view::npos) return text;
  buffer.clear();
  while (invalid != std::string_view::npos) {
    buffer.append(text.substr(0, invalid)).append(kReplacement);
    text.remove_prefix(invalid + sequence_at(text, invalid).size);
    invalid = find_invalid_utf8(text);
  }
  buffer.append(text);
  return buffer;
}

CodePoint code_point_at(std::string_view text, std::size_t offset) {
  const unsigned first = byte_at(text, offset);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  char32_t value = first & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) value = value << 6 | (byte_at(text, offset + i) & 0x3FU);
  return {value, size};
}

CodePoint code_point_before(std::string_view text, std::size_t offset) {
  std::size_t start = offset - 1;
  while (start > 0 && (byte_at(text, start) & 0xC0U) == 0x80) --start;
  return code_point_at(text, start);
}

}  // namespace han::safety
