#include "safety/link/extract_host.h"

#include <algorithm>
#include <string>
#include <variant>

#include "safety/link/extract_char.h"
#include "safety/link/extract_scheme.h"
#include "safety/link/public_suffix.h"
#include "safety/link/url.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::size_t kLabelBytesMax = 63;
constexpr std::size_t kWideLabelBytesMax = 96;  // no suffix has more than 24 characters

bool is_in_run(char32_t code_point) {
  const CharKind kind = char_kind(code_point);
  return kind == CharKind::kHost || kind == CharKind::kDot;
}

// Of U+4000..U+9FFF, which all are kHost and stay what they are in IDNA.
constexpr std::size_t kHanBytes = 3;
bool is_han_lead(char c) {
  return static_cast<unsigned char>(c) >= 0xE4 && static_cast<unsigned char>(c) <= 0xE9;
}

// Sentences mostly: the longest suffix in these characters has five.
bool is_long_han(std::string_view label) {
  constexpr std::size_t kSuffixHanMax = 8;
  if (label.size() <= kSuffixHanMax * kHanBytes) return false;
  for (std::size_t at = 0; at < label.size(); at += kHanBytes) {
    if (!is_han_lead(label[at])) return false;
  }
  return true;
}

// Not at the ends of a host.
bool is_trimmed(char32_t code_point) { return code_point == '-' || code_point == '_'; }

bool is_ascii(std::string_view text) { return ascii_prefix(text) == text.size(); }

// Collects the parts of a run that have a dot inside, while it is read from left to right.
class PartReader {
 public:
  explicit PartReader(std::vector<HostRun>& parts) : parts_(parts) {}

  void take(std::size_t at, CodePoint point) {
    if (char_kind(point.value) == CharKind::kDot) {
      if (was_dot_) split();
      was_dot_ = true;
      has_dot_ = true;
      return;
    }
    was_dot_ = false;
    if (is_trimmed(point.value)) return;
    if (begin_ == kNone) {
      begin_ = at;
    } else {
      has_inner_dot_ = has_inner_dot_ || has_dot_;
    }
    has_dot_ = false;
    end_ = at + point.size;
  }
  void split() {
    if (begin_ != kNone && has_inner_dot_) parts_.push_back({begin_, end_});
    begin_ = kNone;
    has_dot_ = has_inner_dot_ = was_dot_ = false;
  }

 private:
  static constexpr std::size_t kNone = std::string_view::npos;

  std::vector<HostRun>& parts_;
  std::size_t begin_ = kNone;
  std::size_t end_ = 0;
  bool was_dot_ = false;
  bool has_dot_ = false;  // since the last letter
  bool has_inner_dot_ = false;
};

// Parts between double dots, and when `latin_only` between characters of other scripts too.
std::vector<HostRun> split_parts(std::string_view text, HostRun run, bool latin_only) {
  std::vector<HostRun> parts;
  PartReader reader(parts);
  for (std::size_t at = run.begin; at < run.end;) {
    const CodePoint point = code_point_at(text, at);
    if (latin_only && !is_latin(point.value)) {
      reader.split();
    } else {
      reader.take(at, point);
    }
    at += point.size;
  }
  reader.split();
  return parts;
}

bool is_latin_only(std::string_view text) {
  for (std::size_t at = ascii_prefix(text); at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!is_latin(point.value)) return false;
    at += point.size;
  }
  return true;
}

std::string_view last_label(std::string_view part) {
  std::size_t at = part.size();
  while (at > 0) {
    const CodePoint point = code_point_before(part, at);
    if (char_kind(point.value) == CharKind::kDot) break;
    at -= point.size;
  }
  return part.substr(at);
}

// Digits, or hexadecimal ones behind "0x".
bool is_number(std::string_view label) {
  const bool is_hex = label.size() > 2 && label[0] == '0' && ascii_lower(label[1]) == 'x';
  if (is_hex) label.remove_prefix(2);
  return !label.empty() && std::all_of(label.begin(), label.end(), [is_hex](char c) {
    const char lower = ascii_lower(c);
    return is_ascii_digit(c) || (is_hex && lower >= 'a' && lower <= 'f');
  });
}

// What a reader takes for an address; browsers take fewer numbers too, but not without a scheme.
bool is_four_numbers(std::string_view part) {
  for (int dots = 3; dots > 0; --dots) {
    const std::size_t dot = part.find('.');
    if (dot == std::string_view::npos || !is_number(part.substr(0, dot))) return false;
    part.remove_prefix(dot + 1);
  }
  return is_number(part);
}

// RFC 1123 and ICANN's rules: letters only, or an A-label.
bool may_be_listed(std::string_view ascii_label) {
  if (ascii_label.size() < 2 || ascii_label.size() > kLabelBytesMax) return false;
  if (ends_with_word(ascii_label.substr(0, 4), "xn--")) return true;
  return std::all_of(ascii_label.begin(), ascii_label.end(), is_ascii_letter);
}

// With the wide digits and dots that IDNA reads as these.
std::string with_plain_digits(std::string_view part) {
  std::string out;
  for (std::size_t at = 0; at < part.size();) {
    const CodePoint point = code_point_at(part, at);
    if (point.value >= 0xFF10 && point.value <= 0xFF19) {
      out += static_cast<char>('0' + (point.value - 0xFF10));
    } else if (char_kind(point.value) == CharKind::kDot) {
      out += '.';
    } else {
      out += part.substr(at, point.size);
    }
    at += point.size;
  }
  return out;
}

bool is_number_in_any_digits(std::string_view label) {
  constexpr std::size_t kNumberBytesMax = 36;
  constexpr char kWideLead = '\xEF';
  if (label.empty() || label.size() > kNumberBytesMax) return false;
  const bool may_be = is_ascii_digit(label.front()) || label.front() == kWideLead;
  return may_be && is_number(with_plain_digits(label));
}

bool is_listed(std::string_view ascii_label) {
  if (!may_be_listed(ascii_label)) return false;
  std::string host = "a.";
  for (const char c : ascii_label) host += ascii_lower(c);
  return PublicSuffixes::system().has_known_suffix(host);
}

}  // namespace

HostRun host_run(std::string_view text, std::size_t dot, std::size_t floor) {
  HostRun run{dot, dot};
  while (run.begin > floor) {
    if (run.begin >= floor + kHanBytes && is_han_lead(text[run.begin - kHanBytes])) {
      run.begin -= kHanBytes;
      continue;
    }
    const CodePoint point = code_point_before(text, run.begin);
    if (!is_in_run(point.value)) break;
    run.begin -= point.size;
  }
  while (run.end < text.size()) {
    if (is_han_lead(text[run.end])) {
      run.end += kHanBytes;
      continue;
    }
    const CodePoint point = code_point_at(text, run.end);
    if (!is_in_run(point.value)) break;
    run.end += point.size;
  }
  return run;
}

bool may_hold_host(std::string_view text, HostRun run, HostTest& test) {
  std::string_view part = text.substr(run.begin, run.end - run.begin);
  const bool has_other_parts = part.find('.') != std::string_view::npos ||
                               part.find("\xE3\x80\x82\xE3\x80\x82") != std::string_view::npos;
  if (has_other_parts) return true;
  while (!part.empty()) {
    const CodePoint last = code_point_before(part, part.size());
    if (char_kind(last.value) != CharKind::kDot && !is_trimmed(last.value)) break;
    part.remove_suffix(last.size);
  }
  const std::string_view label = last_label(part);
  return is_number_in_any_digits(label) || test.is_known_suffix(label);
}

std::vector<HostPart> host_parts(std::string_view text, HostRun run) {
  std::vector<HostPart> parts;
  for (const HostRun& whole : split_parts(text, run, false)) {
    const std::size_t size = whole.end - whole.begin;
    if (size <= kHostRunBytesMax) parts.push_back({whole.begin, whole.end, false});
    // A stretch needs a dot of its own, and only '.' is Latin.
    const std::string_view part = text.substr(whole.begin, size);
    if (part.find('.') == std::string_view::npos || is_latin_only(part)) continue;
    for (const HostRun& stretch : split_parts(text, whole, true)) {
      if (stretch.end - stretch.begin > kHostRunBytesMax) continue;
      parts.push_back({stretch.begin, stretch.end, true});
    }
  }
  return parts;
}

bool HostTest::is_known_suffix(std::string_view label) {
  if (is_ascii(label)) return is_listed(label);
  if (label.size() > kWideLabelBytesMax || is_long_han(label)) return false;
  if (conversions_left_ == 0) {
    is_over_budget_ = true;
    return false;
  }
  --conversions_left_;
  const auto parsed = Url::parse("http://a." + std::string(label));
  const Url* const url = std::get_if<Url>(&parsed);
  return url != nullptr && is_listed(last_label(url->host()));
}

bool HostTest::is_numbered(std::string_view part) {
  return is_number_in_any_digits(last_label(part));
}

bool HostTest::is_host(std::string_view part) {
  const std::string_view label = last_label(part);
  if (label.empty()) return false;
  const bool is_wide_number = !is_ascii(part) && is_number_in_any_digits(label);
  if (is_wide_number) return is_four_numbers(with_plain_digits(part));
  if (is_ascii_digit(label.front())) return is_four_numbers(part);
  if (part.size() > 4 && ends_with_word(part.substr(0, 4), "www.")) return true;
  return is_known_suffix(label);
}

}  // namespace han::safety
