// Bytes: views between text and bytes without copies.
//
// Threads: pure functions. Owns: nothing; a view lives as long as what it views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace han::safety {

using ByteView = std::span<const std::uint8_t>;

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace han::safety
