// Percent-encoding: which bytes each part of a URL may not show as they are.
//
// Source: WHATWG URL, section 1.3 "Percent-encoded bytes". Input is valid UTF-8; as every byte of a
// character beyond ASCII is in every set, sets of bytes are enough.
//
// Threads: pure functions over constant tables. Blocks: never. Limits: linear; at most 3 times the
// input.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace han::safety {

enum class EncodeSet : std::uint8_t {
  kC0Control = 1,
  kFragment = 2,
  kQuery = 4,
  kSpecialQuery = 8,
  kPath = 16,
  kUserinfo = 32,
};

namespace detail {

constexpr std::uint8_t encode_sets_of(unsigned byte) {
  constexpr auto kHas = [](std::string_view all, unsigned one) {
    return one < 0x80 && all.find(static_cast<char>(one)) != std::string_view::npos;
  };
  if (byte < 0x20 || byte > 0x7E) return 0x3F;
  unsigned sets = 0;
  if (kHas(" \"<>`", byte)) sets |= static_cast<unsigned>(EncodeSet::kFragment);
  const bool in_query = kHas(" \"#<>", byte);
  if (in_query) sets |= static_cast<unsigned>(EncodeSet::kQuery);
  if (in_query || byte == '\'') sets |= static_cast<unsigned>(EncodeSet::kSpecialQuery);
  const bool in_path = in_query || kHas("?^`{}", byte);
  if (in_path) sets |= static_cast<unsigned>(EncodeSet::kPath);
  if (in_path || kHas("/:;=@[\\]|", byte)) sets |= static_cast<unsigned>(EncodeSet::kUserinfo);
  return static_cast<std::uint8_t>(sets);
}

constexpr std::array<std::uint8_t, 256> make_encode_sets() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) table[byte] = encode_sets_of(byte);
  return table;
}

inline constexpr std::array<std::uint8_t, 256> kEncodeSets = make_encode_sets();

}  // namespace detail

constexpr bool is_encoded_in(char byte, EncodeSet set) {
  return (detail::kEncodeSets[static_cast<unsigned char>(byte)] & static_cast<unsigned>(set)) != 0;
}

// Appends `text`, each byte of `set` as %XX. What is encoded already stays as it is.
void append_encoded(std::string& out, std::string_view text, EncodeSet set);

// Each %XX as the byte that it stands for; a % without two hex digits stays.
std::string percent_decode(std::string_view text);

}  // namespace han::safety
