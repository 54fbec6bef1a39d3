#include "safety/link/extract_end.h"

#include <algorithm>
#include <array>

#include "safety/link/extract_char.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::string_view kOpeners = "([{";
constexpr std::string_view kClosers = ")]}";
constexpr std::string_view kNeverLast = ".,;:!?";
// Marks that are put around a link and not meant to be of it.
constexpr std::string_view kWrappers = "*_~|'\"";

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// Brackets and double quotes that are open, outermost first.
class OpenBrackets {
 public:
  // False when `c` closes what is not open, or opens one too many: the link ends before it.
  bool take(char c, std::size_t at) {
    const std::size_t closer = kClosers.find(c);
    if (closer != std::string_view::npos) return close(kOpeners[closer]);
    if (c == '"' && close('"')) return true;
    if (c != '"' && !is_one_of(c, kOpeners)) return true;
    if (size_ == open_.size()) return false;
    open_[size_++] = {c, at};
    return true;
  }
  bool is_empty() const { return size_ == 0; }
  std::size_t outermost() const { return open_[0].at; }

 private:
  struct Open {
    char c;
    std::size_t at;
  };

  bool close(char opener) {
    if (size_ == 0 || open_[size_ - 1].c != opener) return false;
    --size_;
    return true;
  }

  std::array<Open, kOpenBracketsMax> open_{};
  std::size_t size_ = 0;
};

bool ends_all(char c) { return c == '<' || c == '>' || c == '`'; }

// Where the walk stops, with the brackets that are still open there.
std::size_t walk(std::string_view text, std::size_t from, char wrapper, OpenBrackets& open) {
  std::size_t at = from;
  while (at < text.size()) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) < 0x80) {
      if (static_cast<unsigned char>(c) <= ' ' || c == 0x7F || ends_all(c)) break;
      if ((c == '"' || c == '\'') && c == wrapper) break;
      if (!open.take(c, at)) break;
      ++at;
      continue;
    }
    const CodePoint point = code_point_at(text, at);
    if (char_kind(point.value) != CharKind::kHost) break;
    at += point.size;
  }
  return at;
}

// The end without the punctuation that is not meant to be of the link.
std::size_t stripped(std::string_view text, std::size_t from, std::size_t end, char wrapper) {
  const std::string_view part = text.substr(from, end - from);
  auto quotes = std::count(part.begin(), part.end(), '\'');
  for (; end > from; --end) {
    const char last = text[end - 1];
    if (last == '\'') {
      if (quotes % 2 == 0) break;
      --quotes;
      continue;
    }
    const bool is_wrapper = last == wrapper && is_one_of(last, kWrappers);
    if (!is_wrapper && !is_one_of(last, kNeverLast)) break;
  }
  return end;
}

// Before the first character of another script, and before a bracket that is left open there.
std::size_t latin_end(std::string_view text, std::size_t from, std::size_t plain, char wrapper) {
  std::size_t at = from;
  while (at < plain) {
    const CodePoint point = code_point_at(text, at);
    if (!is_latin(point.value)) break;
    at += point.size;
  }
  if (at == plain) return plain;
  while (at > from && (is_one_of(text[at - 1], kOpeners) || text[at - 1] == '"')) --at;
  return stripped(text, from, at, wrapper);
}

struct UserName {
  std::size_t end;    // behind the last '@' that may end it; where the search began: there is none
  std::size_t steps;  // bytes looked at
};

UserName user_name(std::string_view text, std::size_t from) {
  UserName name{from, 0};
  const std::size_t limit = std::min(text.size(), from + kUserNameBytesMax);
  for (std::size_t at = from; at < limit; ++at, ++name.steps) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) <= ' ' || is_one_of(c, "/?#\\")) break;
    if (c == '@') name.end = at + 1;
  }
  return name;
}

bool is_closed_by(char wrapper, char c) { return wrapper == '<' ? c == '>' : wrapper == c; }

// A quote or another mark that is not around the link may be of a user name, which hides the host
// behind it.
std::size_t longest_end(std::string_view text, std::size_t start, std::size_t from,
                        std::size_t plain, char wrapper, std::size_t& steps) {
  const std::string_view begun = text.substr(from, plain - from);
  const bool has_path = begun.find_first_of("/?#\\") != std::string_view::npos;
  bool quote_ends = wrapper == '"' || has_path;
  const UserName name = has_path ? UserName{plain, 0} : user_name(text, plain);
  steps += name.steps;
  // The host stands behind the user name, however long that is.
  const std::size_t limit = (name.end == plain ? start : name.end) + kLongestLinkBytes;
  std::size_t at = plain;
  while (at < text.size()) {
    const CodePoint point = code_point_at(text, at);
    if (at + point.size > limit) break;
    if (char_kind(point.value) == CharKind::kSpace) break;
    if (point.value < 0x80) {
      const char c = static_cast<char>(point.value);
      if (ends_all(c) && (at >= name.end || is_closed_by(wrapper, c))) break;
      if (c == '"' && quote_ends) break;
      quote_ends = quote_ends || is_one_of(c, "/?#\\");
    }
    at += point.size;
  }
  return at;
}

}  // namespace

LinkEnds link_ends(std::string_view text, std::size_t start, std::size_t from) {
  const char wrapper = start == 0 ? '\0' : text[start - 1];
  OpenBrackets open;
  const std::size_t stop = walk(text, from, wrapper, open);
  const std::size_t closed = open.is_empty() ? stop : open.outermost();
  LinkEnds ends{};
  ends.plain = stripped(text, from, closed, wrapper);
  ends.latin = latin_end(text, from, ends.plain, wrapper);
  ends.longest = from;
  ends.steps = (stop - from) + 2 * (ends.plain - from);
  if (ends.plain > from) {
    ends.longest = longest_end(text, start, from, ends.plain, wrapper, ends.steps);
    ends.steps += ends.longest - ends.plain;
  }
  return ends;
}

}  // namespace han::safety
