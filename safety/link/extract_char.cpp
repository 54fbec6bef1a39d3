#include "safety/link/extract_char.h"

#include <algorithm>
#include <array>

namespace han::safety {
namespace {

constexpr CharKind ascii_kind(unsigned char c) {
  if (c <= ' ' || c == 0x7F) return CharKind::kSpace;
  if (c == '.') return CharKind::kDot;
  const auto letter = static_cast<char>(c);
  if (is_ascii_alnum(letter) || c == '-' || c == '_') return CharKind::kHost;
  return CharKind::kOther;
}

constexpr auto kAscii = [] {
  std::array<CharKind, 128> kinds{};
  for (unsigned char c = 0; c < 128; ++c) kinds[c] = ascii_kind(c);
  return kinds;
}();

struct Range {
  char32_t first;
  char32_t last;
  CharKind kind;
};

constexpr CharKind kSpace = CharKind::kSpace;
constexpr CharKind kBreak = CharKind::kBreak;
constexpr CharKind kDot = CharKind::kDot;

// Sorted; what lies between is kHost. Joiners and other ignorable characters (U+00AD, U+200B..D,
// U+2060..4, U+206A..F, U+FEFF) are kHost: IDNA takes them out of hosts.
constexpr std::array kRanges = std::to_array<Range>({
    {0x0080, 0x00A0, kSpace},   {0x00A1, 0x00A1, kBreak}, {0x00A7, 0x00A7, kBreak},
    {0x00AB, 0x00AB, kBreak},   {0x00B6, 0x00B6, kBreak}, {0x00BB, 0x00BB, kBreak},
    {0x00BF, 0x00BF, kBreak},   {0x055A, 0x055F, kBreak}, {0x0589, 0x058A, kBreak},
    {0x05BE, 0x05BE, kBreak},   {0x05C0, 0x05C0, kBreak}, {0x05C3, 0x05C3, kBreak},
    {0x060C, 0x060D, kBreak},   {0x061B, 0x061F, kBreak}, {0x066A, 0x066D, kBreak},
    {0x06D4, 0x06D4, kBreak},   {0x0964, 0x0965, kBreak}, {0x0E5A, 0x0E5B, kBreak},
    {0x104A, 0x104F, kBreak},   {0x1361, 0x1368, kBreak}, {0x166E, 0x166E, kBreak},
    {0x1680, 0x1680, kSpace},   {0x17D4, 0x17DA, kBreak}, {0x1801, 0x1805, kBreak},
    {0x2000, 0x200A, kSpace},   {0x200E, 0x2027, kBreak}, {0x2028, 0x2029, kSpace},
    {0x202A, 0x202E, kBreak},   {0x202F, 0x202F, kSpace}, {0x2030, 0x205E, kBreak},
    {0x205F, 0x205F, kSpace},   {0x2066, 0x2069, kBreak}, {0x2E00, 0x2E7F, kBreak},
    {0x3000, 0x3000, kSpace},   {0x3001, 0x3001, kBreak}, {0x3002, 0x3002, kDot},
    {0x3003, 0x3003, kBreak},   {0x3008, 0x3011, kBreak}, {0x3014, 0x301F, kBreak},
    {0x3030, 0x3030, kBreak},   {0x303D, 0x303D, kBreak}, {0x30A0, 0x30A0, kBreak},
    {0xFE10, 0xFE1F, kBreak},   {0xFE30, 0xFE6F, kBreak}, {0xFF01, 0xFF0C, kBreak},
    {0xFF0E, 0xFF0E, kDot},     {0xFF0F, 0xFF0F, kBreak}, {0xFF1A, 0xFF20, kBreak},
    {0xFF3B, 0xFF3E, kBreak},   {0xFF40, 0xFF40, kBreak}, {0xFF5B, 0xFF60, kBreak},
    {0xFF61, 0xFF61, kDot},     {0xFF62, 0xFF65, kBreak}, {0xFFF9, 0xFFFF, kBreak},
    {0xE0000, 0xE007F, kBreak},
});

static_assert(std::is_sorted(kRanges.begin(), kRanges.end(),
                             [](const Range& a, const Range& b) { return a.last < b.first; }));

}  // namespace

CharKind char_kind(char32_t code_point) {
  if (code_point < 128) return kAscii[code_point];
  // Most letters of the world, without a search.
  if (code_point >= 0x3400 && code_point < 0xFE00) return CharKind::kHost;
  if (code_point >= 0x0370 && code_point < 0x0550) return CharKind::kHost;
  const auto* const at =
      std::lower_bound(kRanges.begin(), kRanges.end(), code_point,
                       [](const Range& range, char32_t value) { return range.last < value; });
  return at != kRanges.end() && at->first <= code_point ? at->kind : CharKind::kHost;
}

}  // namespace han::safety
