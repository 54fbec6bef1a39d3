#include "safety/link/extract_mark.h"

#include <algorithm>

#include "safety/base/byte_block.h"
#include "safety/link/extract_char.h"

namespace han::safety {
namespace {

bool is_host_byte(char c) {
  return is_ascii_alnum(c) || c == '-' || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_link_mark(std::string_view text, std::size_t at) {
  if (at == 0 || at + 1 >= text.size()) return false;
  const char before = text[at - 1];
  const char after = text[at + 1];
  switch (static_cast<unsigned char>(text[at])) {
    case ':':
      return (is_ascii_alnum(before) || before == '+' || before == '-') &&
             static_cast<unsigned char>(after) > ' ';
    case '.':
      return is_host_byte(before) && is_host_byte(after);
    case '/':
    case '\\':
      return before == '(' && is_slash(after) && at > 1 && text[at - 2] == ']';
    case 0xE3:
    case 0xEF: {
      const std::string_view point = text.substr(at, 3);
      const bool is_dot =
          point == "\xE3\x80\x82" || point == "\xEF\xBC\x8E" || point == "\xEF\xBD\xA1";
      return is_dot && at + 3 < text.size() && is_host_byte(before) && is_host_byte(text[at + 3]);
    }
    default:
      return false;
  }
}

bool is_opener_or_space(char c) { return c == '[' || c == '(' || c == '{' || c == '<' || c == ' '; }

bool is_disguise_mark(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return false;
  if (at == 0) return text[0] == '&';
  const char before = text[at - 1];
  const char after = text[at + 1];
  switch (static_cast<unsigned char>(text[at])) {
    case '.':
      return is_opener_or_space(before) || (after == ' ' && before == ' ');
    case 'o':
    case 'O':
      return ascii_lower(before) == 'd' && ascii_lower(after) == 't';
    case ':':
      return is_opener_or_space(before) || ascii_lower(before) == 'p' || ascii_lower(before) == 's';
    case '&':
      return true;
    case '\\':
      return is_ascii_punctuation(after);
    case 0xE7:
      return text.substr(at, 3) == "\xE7\x82\xB9";
    case 0xE9:
      return text.substr(at, 3) == "\xE9\xBB\x9E";
    case 0xD1:
      return text.substr(at, 3) == "\xD1\x87\xD0";
    default:
      return false;
  }
}

// The blocks before, at and behind sixteen bytes.
struct Neighbours {
  ByteBlock before;
  ByteBlock block;
  ByteBlock after;
  ByteBlock third;

  explicit Neighbours(const char* at)
      : before(load_block(at - 1)),
        block(load_block(at)),
        after(load_block(at + 1)),
        third(load_block(at + 2)) {}
};

constexpr std::size_t kBehind = 2;  // bytes behind the block that Neighbours reads

ByteBlock link_marks(const Neighbours& n) {
  const ByteBlock space_after = bytes_equal(n.after, ' ');
  const ByteBlock dots =
      bytes_equal(n.block, '.') & ~(bytes_equal(n.after, '.') | bytes_equal(n.after, '\n'));
  const ByteBlock wide =
      (bytes_equal(n.block, 0xE3) & bytes_equal(n.third, 0x82)) |
      (bytes_equal(n.block, 0xEF) & (bytes_equal(n.third, 0x8E) | bytes_equal(n.third, 0xA1)));
  const ByteBlock slashes =
      bytes_equal(n.before, '(') & (bytes_equal(n.block, '/') | bytes_equal(n.block, '\\'));
  return ((dots | bytes_equal(n.block, ':')) & ~space_after) | slashes | wide;
}

ByteBlock disguise_marks(const Neighbours& n) {
  const ByteBlock lower = n.block | all_bytes(0x20);
  const ByteBlock lower_before = n.before | all_bytes(0x20);
  const ByteBlock opener = bytes_equal(n.before, ' ') | bytes_equal(n.before, '(') |
                           bytes_equal(n.before, '<') | bytes_equal(lower_before, '{');
  const ByteBlock dots = bytes_equal(n.block, '.') & opener;
  const ByteBlock words = bytes_equal(lower, 'o') & bytes_equal(lower_before, 'd') &
                          bytes_equal(n.after | all_bytes(0x20), 't');
  const ByteBlock colons = bytes_equal(n.block, ':') & (opener | bytes_equal(lower_before, 'p') |
                                                        bytes_equal(lower_before, 's'));
  const ByteBlock wide = (bytes_equal(n.block, 0xE7) & bytes_equal(n.third, 0xB9)) |
                         (bytes_equal(n.block, 0xE9) & bytes_equal(n.third, 0x9E)) |
                         (bytes_equal(n.block, 0xD1) & bytes_equal(n.after, 0x87));
  return dots | words | colons | bytes_equal(n.block, '&') | bytes_equal(n.block, '\\') | wide;
}

template <typename InBlock, typename IsMark>
std::size_t next_mark(std::string_view text, std::size_t from, const InBlock& in_block,
                      const IsMark& is_mark) {
  std::size_t at = std::max<std::size_t>(from, 1);
  while (at < text.size()) {
    const bool is_whole = at + kByteBlockBytes + kBehind <= text.size();
    const std::size_t end = std::min(at + kByteBlockBytes, text.size());
    if (is_whole && !any_set(in_block(Neighbours(text.data() + at)))) {
      at = end;
      continue;
    }
    for (; at < end; ++at) {
      if (is_mark(text, at)) return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t next_link_mark(std::string_view text, std::size_t from) {
  return next_mark(text, from, link_marks, is_link_mark);
}

std::size_t next_disguise_mark(std::string_view text, std::size_t from) {
  if (from == 0 && is_disguise_mark(text, 0)) return 0;
  return next_mark(text, from, disguise_marks, is_disguise_mark);
}

MarkPresence marks_in(std::string_view text) {
  MarkPresence found;
  found.disguises = is_disguise_mark(text, 0);
  std::size_t at = 1;
  for (; at + kByteBlockBytes + kBehind <= text.size(); at += kByteBlockBytes) {
    const Neighbours neighbours(text.data() + at);
    const ByteBlock links = link_marks(neighbours);
    const ByteBlock disguises = disguise_marks(neighbours);
    if (!any_set(links | disguises)) continue;
    found.links = found.links || any_set(links);
    found.disguises = found.disguises || any_set(disguises);
    if (found.links && found.disguises) return found;
  }
  for (; at < text.size(); ++at) {
    found.links = found.links || is_link_mark(text, at);
    found.disguises = found.disguises || is_disguise_mark(text, at);
  }
  return found;
}

}  // namespace han::safety
