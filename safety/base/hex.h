// Hex: bytes as lower-case hexadecimal digits and back.
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "safety/base/bytes.h"

namespace han::safety {

std::string to_hex(ByteView bytes);

// Accepts both cases; nullopt when the length is odd or a character is no hex digit.
std::optional<std::vector<std::uint8_t>> from_hex(std::string_view digits);

// True when `text` is exactly `length` lower-case hex digits.
bool is_lower_hex(std::string_view text, std::size_t length);

}  // namespace han::safety
