#include "safety/text/link_marks.h"

#include <algorithm>

#include "safety/base/byte_block.h"

namespace han::safety {
namespace {

// ASCII letters of both cases are equal; `lower` is lower-case ASCII.
bool ends_with(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  text.remove_prefix(text.size() - lower.size());
  return std::equal(text.begin(), text.end(), lower.begin(), [](char c, char l) {
    return c == l || (c >= 'A' && c <= 'Z' && c + ('a' - 'A') == l);
  });
}

// Whether a mark has its colon or its dot at `at`.
bool is_mark_at(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  if (text[at] == '.') return ends_with(before, "www");
  return text[at] == ':' && (text.substr(at + 1, 2) == "//" || ends_with(before, "mailto"));
}

// A colon, or a dot after a "w": rare enough to look at each closely.
bool may_hold_mark(const char* at) {
  const ByteBlock block = load_block(at);
  const ByteBlock before = load_block(at - 1) | all_bytes(0x20);
  return any_set(bytes_equal(block, ':') | (bytes_equal(block, '.') & bytes_equal(before, 'w')));
}

}  // namespace

bool has_link_marks(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t left = text.size() - at;
    if (at > 0 && left >= kByteBlockBytes && !may_hold_mark(text.data() + at)) {
      at += kByteBlockBytes;
      continue;
    }
    // The first byte alone, since the block test looks at the byte before.
    const std::size_t end = at + (at == 0 ? 1 : std::min(left, kByteBlockBytes));
    for (; at < end; ++at) {
      if (is_mark_at(text, at)) return true;
    }
  }
  return false;
}

}  // namespace han::safety
