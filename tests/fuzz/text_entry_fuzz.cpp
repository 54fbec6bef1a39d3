// Fuzz target: what may stand under a key of a text. Whatever is accepted must survive a round trip
// and name what was expected.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/codec.h"
#include "safety/base/check.h"

namespace {

using namespace han::cache;

constexpr std::string_view kSubject =
    "abababababababababababababababababababababababababababababababab";
constexpr std::string_view kRulesVersion = "0123456789abcdef0123456789abcdef";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> pepper_ids = {"p1", "p-2"};
  const ExpectedText expected{kSubject, kRulesVersion, pepper_ids};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = decode_text_entry(bytes, expected);
  if (decoded.outcome != DecodeOutcome::kEntry) {
    SAFETY_CHECK(decoded.entry == TextEntry{});
    return 0;
  }
  SAFETY_CHECK(decoded.entry.subject == kSubject);
  SAFETY_CHECK(decoded.entry.rules_version == kRulesVersion);
  const auto again = decode_text_entry(encode_text_entry(decoded.entry), expected);
  SAFETY_CHECK(again.outcome == DecodeOutcome::kEntry && again.entry == decoded.entry);
  // A leading space is the same JSON but not the canonical form: both readers must agree.
  const auto slow = decode_text_entry(" " + std::string(bytes), expected);
  const bool is_full = bytes.size() == kValueBytesMax;
  SAFETY_CHECK(is_full || (slow.outcome == decoded.outcome && slow.entry == decoded.entry));
  return 0;
}
