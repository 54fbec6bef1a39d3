// Entry fuzzing: what every decoder of a cached value promises, whatever bytes come.
//
// Threads: one. Blocks: never. Fails: SAFETY_CHECK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry.h"
#include "cache/key.h"
#include "safety/base/check.h"
#include "safety/base/digest.h"

namespace han::tests {

// The parts of the keys in the corpus.
inline constexpr std::string_view kFuzzVersion = "0123456789abcdef0123456789abcdef";
inline constexpr std::string_view kFuzzOtherVersion = "fedcba9876543210fedcba9876543210";

inline safety::Digest fuzz_digest() {
  safety::Digest digest;
  digest.fill(0xab);
  return digest;
}

// Whatever is accepted survives a round trip, and any other spelling of the same JSON is the same
// entry to both readers. What is not accepted delivers nothing.
template <typename Entry>
int fuzz_entry(const typename Entry::Key& key, const std::uint8_t* data, std::size_t size) {
  using cache::DecodeOutcome;
  static const std::vector<std::string> kPepperIds = {"p1", "p-2"};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = decode_entry(bytes, key, kPepperIds);
  // A leading space is the same JSON but not the canonical form.
  const auto slow = decode_entry(" " + std::string(bytes), key, kPepperIds);
  const bool is_full = bytes.size() >= cache::kValueBytesMax;
  SAFETY_CHECK(is_full || (slow.outcome == decoded.outcome && slow.entry == decoded.entry));
  if (decoded.outcome != DecodeOutcome::kEntry) {
    SAFETY_CHECK(decoded.entry == Entry{});
    return 0;
  }
  const auto again = decode_entry(encode_entry(decoded.entry), key, kPepperIds);
  SAFETY_CHECK(again.outcome == DecodeOutcome::kEntry && again.entry == decoded.entry);
  return 0;
}

}  // namespace han::tests
