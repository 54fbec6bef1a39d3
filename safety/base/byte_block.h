// ByteBlock: sixteen bytes looked at in one step, by the compiler's portable vectors.
//
// gcc 12 does not vectorise byte loops at -O2, and one byte at a time costs more than scanning.
// Source: gcc manual, "Using Vector Instructions through Built-in Functions"; clang has the same.
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace han::safety {

using ByteBlock = unsigned char __attribute__((vector_size(16)));
inline constexpr std::size_t kByteBlockBytes = sizeof(ByteBlock);

// Requires: 16 readable bytes at `from`, which needs no alignment.
inline ByteBlock load_block(const char* from) {
  ByteBlock block;
  std::memcpy(&block, from, kByteBlockBytes);
  return block;
}

inline void store_block(char* to, ByteBlock block) { std::memcpy(to, &block, kByteBlockBytes); }

inline bool any_set(ByteBlock block) {
  std::array<std::uint64_t, 2> words;
  std::memcpy(words.data(), &block, kByteBlockBytes);
  return (words[0] | words[1]) != 0;
}

inline ByteBlock all_bytes(unsigned char byte) { return ByteBlock{} + byte; }

// In the results of these, a byte is 0xFF where it is true and 0 elsewhere.
inline ByteBlock bytes_equal(ByteBlock block, unsigned char byte) {
  return reinterpret_cast<ByteBlock>(block == all_bytes(byte));
}
// first <= byte < first + count.
inline ByteBlock bytes_in_range(ByteBlock block, unsigned char first, unsigned char count) {
  return reinterpret_cast<ByteBlock>((block - all_bytes(first)) < all_bytes(count));
}

}  // namespace han::safety
