#include "safety/link/extract_disguise_place.h"

#include <algorithm>
#include <array>

#include "safety/link/extract_char.h"
#include "safety/link/extract_scheme.h"

namespace han::safety {
namespace {

constexpr std::size_t kSpacesMax = 2;
constexpr std::size_t kLabelBytesMax = 63;
constexpr std::size_t kSpelledMin = 5;  // characters of a spelled word, its dots included
constexpr std::size_t kSuffixMin = 3;   // letters that make a dot between spaces one, by themselves

// "dot" in Russian.
constexpr std::string_view kRussianDot = "\xD1\x82\xD0\xBE\xD1\x87\xD0\xBA\xD0\xB0";

struct Word {
  std::size_t begin;
  std::size_t end;
};

bool is_opener(char c) { return c == '[' || c == '(' || c == '{' || c == '<'; }
bool is_closer(char c) { return c == ']' || c == ')' || c == '}' || c == '>'; }
bool is_label_byte(char c) { return is_ascii_alnum(c) || static_cast<unsigned char>(c) >= 0x80; }
bool is_word_byte(char c) { return is_label_byte(c) || c == '-'; }

// One text and the place before which nothing may be changed any more.
class Place {
 public:
  Place(std::string_view text, std::size_t floor) : text_(text), floor_(floor) {}

  bool has(std::size_t at) const { return at < text_.size(); }
  char at(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  // The byte before `at`, or 0 where nothing may be looked at.
  char before(std::size_t at) const { return at > floor_ ? text_[at - 1] : '\0'; }

  std::size_t skip_back(std::size_t at, std::size_t spaces_max) const {
    for (std::size_t i = 0; i < spaces_max && before(at) == ' '; ++i) --at;
    return at;
  }
  std::size_t skip(std::size_t at, std::size_t spaces_max) const {
    for (std::size_t i = 0; i < spaces_max && this->at(at) == ' '; ++i) ++at;
    return at;
  }
  std::string_view slice(std::size_t begin, std::size_t end) const {
    return text_.substr(begin, end - begin);
  }
  bool continues_with(std::size_t at, std::string_view part) const {
    return text_.substr(at, part.size()) == part;
  }
  std::size_t floor() const { return floor_; }
  std::size_t size() const { return text_.size(); }

 private:
  std::string_view text_;
  std::size_t floor_;
};

// A dot, or a word for it, in brackets: evil[.]com, evil (dot) com.
std::optional<DisguisePlace> bracketed_dot(const Place& place, Word dot) {
  const std::size_t opener = place.skip_back(dot.begin, 1);
  const std::size_t closer = place.skip(dot.end, 1);
  if (!is_opener(place.before(opener)) || !is_closer(place.at(closer))) return std::nullopt;
  const std::size_t begin = place.skip_back(opener - 1, 1);
  const std::size_t end = place.skip(closer + 1, 1);
  if (!is_label_byte(place.before(begin)) || !is_label_byte(place.at(end))) return std::nullopt;
  return DisguisePlace{begin, end, "."};
}

// With the first bracket alone: evil[.com.
std::optional<DisguisePlace> half_bracketed_dot(const Place& place, std::size_t dot) {
  const bool is_half = place.before(dot) == '[' && is_label_byte(place.before(dot - 1)) &&
                       is_label_byte(place.at(dot + 1));
  return is_half ? std::optional(DisguisePlace{dot - 1, dot + 1, "."}) : std::nullopt;
}

// Whether another dot of some kind comes at `at`, so that what is before is no last label.
bool is_dot_next(const Place& place, std::size_t at) {
  if (place.at(at) == '.' && is_label_byte(place.at(at + 1))) return true;
  if (place.at(at) == '[' || place.at(at) == '(') return true;
  if (place.at(at) != ' ') return false;
  ++at;
  const bool is_dot_word = ends_with_word(place.slice(at, at + 4), "dot ");
  return is_dot_word || place.continues_with(at, ". ") || is_opener(place.at(at)) ||
         place.continues_with(at, kRussianDot);
}

// Words before "dot" that make it a noun of ordinary text.
bool is_article(std::string_view word) {
  constexpr std::array<std::string_view, 6> kArticles{"a", "an", "in", "of", "on", "the"};
  return std::any_of(kArticles.begin(), kArticles.end(), [word](std::string_view article) {
    return word.size() == article.size() && ends_with_word(word, article);
  });
}

// A dot, or a word for it, between spaces: evil dot com, evil . com/x.
std::optional<DisguisePlace> spaced_dot(const Place& place, Word dot, HostTest& suffixes) {
  const std::size_t begin = place.skip_back(dot.begin, kSpacesMax);
  const std::size_t end = place.skip(dot.end, kSpacesMax);
  if (begin == dot.begin) return std::nullopt;
  std::size_t left = begin;
  while (begin - left < kLabelBytesMax && is_word_byte(place.before(left))) --left;
  std::size_t right = end;
  while (right - end < kLabelBytesMax && is_word_byte(place.at(right))) ++right;
  if (left == begin || right == end) return std::nullopt;
  const DisguisePlace found{begin, end, "."};
  if (end == dot.end && (place.at(dot.begin) != '.' || !is_slash(place.at(right)))) {
    return std::nullopt;
  }
  if (is_dot_next(place, right)) return found;
  const bool is_chained = left == place.floor() && left > 0;
  const bool is_clear = right - end >= kSuffixMin || is_slash(place.at(right)) || is_chained;
  if (!is_clear || (!is_chained && is_article(place.slice(left, begin)))) return std::nullopt;
  if (!suffixes.is_known_suffix(place.slice(end, right))) return std::nullopt;
  return found;
}

// Whether a character stands alone between single spaces.
bool is_single(const Place& place, std::size_t at) {
  const auto c = static_cast<unsigned char>(place.at(at));
  if (c <= ' ' || c >= 0x7F) return false;
  return (at == 0 || place.slice(at - 1, at) == " ") &&
         (at + 1 == place.size() || place.at(at + 1) == ' ');
}

// e v i l . c o m
std::optional<DisguisePlace> spelled_word(const Place& place, std::size_t dot) {
  if (!is_single(place, dot)) return std::nullopt;
  std::size_t first = dot;
  while (first >= place.floor() + 2 && is_single(place, first - 2)) first -= 2;
  std::size_t last = dot;
  while (last + 2 < place.size() && is_single(place, last + 2)) last += 2;
  if (first == dot || last == dot || (last - first) / 2 + 1 < kSpelledMin) return std::nullopt;
  DisguisePlace found{first, last + 1, ""};
  for (std::size_t at = first; at <= last; at += 2) found.plain += place.at(at);
  return found;
}

// The Chinese word for a dot, where no Chinese text is around it.
std::optional<DisguisePlace> chinese_dot(const Place& place, Word dot) {
  if (auto found = bracketed_dot(place, dot)) return found;
  if (!is_ascii_alnum(place.before(dot.begin)) || !is_ascii_letter(place.at(dot.end))) {
    return std::nullopt;
  }
  return DisguisePlace{dot.begin, dot.end, "."};
}

// The scheme that ends at `end`; empty: none.
std::string_view web_scheme(const Place& place, std::size_t end) {
  for (const std::size_t size : {std::size_t{5}, std::size_t{4}}) {
    if (end < place.floor() + size) continue;
    const std::string_view word = place.slice(end - size, end);
    const bool is_web = size == 5 ? ends_with_word(word, "https") : ends_with_word(word, "http");
    if (!is_web && !is_disguised_http(word)) continue;
    if (!is_ascii_alnum(place.before(end - size))) return word;
  }
  return {};
}

// hxxp://, http[:]//, https : //
std::optional<DisguisePlace> scheme_place(const Place& place, std::size_t colon) {
  const std::size_t inner = place.skip_back(colon, 1);
  const bool has_opener = is_opener(place.before(inner));
  const std::size_t word_end = place.skip_back(has_opener ? inner - 1 : inner, kSpacesMax);
  const std::string_view word = web_scheme(place, word_end);
  if (word.empty()) return std::nullopt;
  bool is_open = has_opener;
  const auto skip_closer = [&](std::size_t at) {
    if (!is_open || !is_closer(place.at(place.skip(at, 1)))) return at;
    is_open = false;
    return place.skip(at, 1) + 1;
  };
  std::size_t at = place.skip(skip_closer(colon + 1), kSpacesMax);
  if (!is_slash(place.at(at))) return std::nullopt;
  at = place.skip(at + 1, 1);
  if (!is_slash(place.at(at))) return std::nullopt;
  at = skip_closer(at + 1);
  if (is_open) return std::nullopt;
  const std::size_t begin = word_end - word.size();
  const bool is_usual = at - begin == word.size() + 3;
  if (is_usual && !is_disguised_http(word)) return std::nullopt;
  at = place.skip(at, kSpacesMax);
  return DisguisePlace{begin, at, word.size() == 5 ? "https://" : "http://"};
}

std::string utf8_of(unsigned value) {
  if (value < 0x80) return {static_cast<char>(value)};
  const auto tail = [value](unsigned shift) {
    return static_cast<char>(0x80U | ((value >> shift) & 0x3FU));
  };
  if (value < 0x800) return {static_cast<char>(0xC0U | value >> 6), tail(0)};
  if (value < 0x10000) return {static_cast<char>(0xE0U | value >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0U | value >> 18), tail(12), tail(6), tail(0)};
}

bool is_line_break_or_tab(unsigned value) {
  return value == '\t' || value == '\n' || value == '\r';
}

// The value of "&#46;" or "&#x2e;", whose '&' is at `at`; programs of the web do without the
// semicolon. URLs are read without tabs and line breaks.
std::optional<DisguisePlace> numeric_reference(const Place& place, std::size_t at) {
  constexpr std::size_t kDigitsMax = 7;
  const bool is_hex = ascii_lower(place.at(at + 2)) == 'x';
  const std::size_t first = at + (is_hex ? 3 : 2);
  std::size_t end = first;
  unsigned value = 0;
  for (; end - first < kDigitsMax; ++end) {
    const char c = ascii_lower(place.at(end));
    const bool is_letter = is_hex && c >= 'a' && c <= 'f';
    if (!is_ascii_digit(c) && !is_letter) break;
    value = value * (is_hex ? 16 : 10) + static_cast<unsigned>(is_letter ? c - 'a' + 10 : c - '0');
  }
  if (end == first) return std::nullopt;
  if (place.at(end) == ';') ++end;
  if (is_line_break_or_tab(value)) return DisguisePlace{at, end, ""};
  const bool is_control = value <= ' ' || (value >= 0x7F && value <= 0xA0);
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (is_control || is_surrogate || value > 0x10FFFF) return std::nullopt;
  return DisguisePlace{at, end, utf8_of(value)};
}

// Those that change where a link leads.
// Source: HTML, section 13.5 "Named character references".
std::optional<DisguisePlace> reference(const Place& place, std::size_t at) {
  if (place.at(at + 1) == '#') return numeric_reference(place, at);
  struct Named {
    std::string_view name;
    std::string_view plain;
  };
  constexpr std::array<Named, 17> kNamed{{{"&period;", "."},
                                          {"&colon;", ":"},
                                          {"&sol;", "/"},
                                          {"&bsol;", "\\"},
                                          {"&commat;", "@"},
                                          {"&num;", "#"},
                                          {"&quest;", "?"},
                                          {"&percnt;", "%"},
                                          {"&lsqb;", "["},
                                          {"&lbrack;", "["},
                                          {"&rsqb;", "]"},
                                          {"&rbrack;", "]"},
                                          {"&lowbar;", "_"},
                                          {"&shy;", ""},
                                          {"&ZeroWidthSpace;", ""},
                                          {"&Tab;", ""},
                                          {"&NewLine;", ""}}};
  for (const Named& named : kNamed) {
    if (place.continues_with(at, named.name)) {
      return DisguisePlace{at, at + named.name.size(), std::string(named.plain)};
    }
  }
  return std::nullopt;
}

// The backslash at `at` that Markdown takes off. Before a slash of either kind it changes nothing
// that a URL means.
// Source: CommonMark 0.31 section 2.4.
std::optional<DisguisePlace> escaped(const Place& place, std::size_t at) {
  const char c = place.at(at + 1);
  if (at < place.floor() || !is_ascii_punctuation(c) || is_slash(c)) return std::nullopt;
  if (place.before(at) == '\\') return std::nullopt;
  constexpr std::string_view kBracketedDot = "\\[.\\]";
  if (place.continues_with(at, kBracketedDot)) {
    return DisguisePlace{at, at + kBracketedDot.size(), "."};
  }
  return DisguisePlace{at, at + 2, std::string(1, c)};
}

std::optional<DisguisePlace> dot_place(const Place& place, Word dot, HostTest& suffixes) {
  if (auto found = bracketed_dot(place, dot)) return found;
  return spaced_dot(place, dot, suffixes);
}

}  // namespace

std::optional<DisguisePlace> disguise_place(std::string_view text, std::size_t mark,
                                            std::size_t floor, HostTest& suffixes) {
  const Place place(text, floor);
  switch (static_cast<unsigned char>(text[mark])) {
    case '.':
      if (auto found = spelled_word(place, mark)) return found;
      if (auto found = half_bracketed_dot(place, mark)) return found;
      return dot_place(place, {mark, mark + 1}, suffixes);
    case 'o':
    case 'O':
      return mark == floor ? std::nullopt : dot_place(place, {mark - 1, mark + 2}, suffixes);
    case ':':
      return scheme_place(place, mark);
    case '&':
      return reference(place, mark);
    case '\\':
      return escaped(place, mark);
    case 0xD1: {
      constexpr std::size_t kMiddle = 4;
      if (mark < floor + kMiddle || !place.continues_with(mark - kMiddle, kRussianDot)) {
        return std::nullopt;
      }
      const std::size_t begin = mark - kMiddle;
      return dot_place(place, {begin, begin + kRussianDot.size()}, suffixes);
    }
    default:
      return chinese_dot(place, {mark, mark + 3});
  }
}

}  // namespace han::safety
