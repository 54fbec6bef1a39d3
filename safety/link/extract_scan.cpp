#include "safety/link/extract_scan.h"

#include <algorithm>
#include <array>

#include "safety/link/extract_char.h"
#include "safety/link/extract_mark.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::size_t kPortDigitsMax = 6;
constexpr std::size_t kMailHostBytesMax = 256;
constexpr std::string_view kPathStart = "/?#\\";

bool starts_path(char c) { return kPathStart.find(c) != std::string_view::npos; }

bool is_host_byte(char c) {
  return is_ascii_alnum(c) || c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

// Nothing that a link would have at its end on purpose.
bool is_punctuation(std::string_view text) {
  constexpr std::string_view kMarks = ".,;:!?'\"*_~)]}|";
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const bool is_mark = point.value < 0x80
                             ? kMarks.find(static_cast<char>(point.value)) != kMarks.npos
                             : char_kind(point.value) != CharKind::kHost;
    if (!is_mark) return false;
    at += point.size;
  }
  return true;
}

char closer_of(char opener) {
  switch (opener) {
    case '(':
      return ')';
    case '[':
      return ']';
    case '{':
      return '}';
    default:
      return '\0';
  }
}

// Of Latin-1, or ignorable: what IDNA takes for a part of a host and many programs do not.
bool is_sign(char32_t point) {
  return (point >= 0x80 && point < 0xC0) || (point >= 0x200B && point < 0x2070) || point == 0xFEFF;
}

// Behind a slash these are files more often than hosts: `src/main.rs`.
bool is_file_name(std::string_view name) {
  constexpr std::array<std::string_view, 25> kSuffixes{
      "ai", "app", "as", "cab", "cc", "dot", "in", "java", "la", "map", "md", "mk", "ml",
      "mm", "mov", "pl", "pm",  "ps", "pub", "py", "rs",   "sh", "so",  "tf", "zip"};
  const std::string_view suffix = name.substr(name.rfind('.') + 1);
  return std::any_of(kSuffixes.begin(), kSuffixes.end(), [suffix](std::string_view file) {
    return suffix.size() == file.size() && ends_with_word(suffix, file);
  });
}

// Punctuation that Chinese and Japanese texts write behind a host without a space.
bool is_fullwidth_mark(char32_t point) {
  const bool is_in_block =
      (point >= 0x3000 && point < 0x3040) || (point >= 0xFF00 && point < 0xFFF0);
  return is_in_block && char_kind(point) == CharKind::kBreak;
}

}  // namespace

void LinkScan::run() {
  std::size_t mark = next_link_mark(text_, 0);
  while (mark != std::string_view::npos && !sink_.is_done()) {
    mark = next_link_mark(text_, take_mark(mark));
  }
}

std::size_t LinkScan::take_mark(std::size_t mark) {
  switch (text_[mark]) {
    case ':':
      return take_colon(mark);
    case '/':
    case '\\':
      return take_slashes(mark);
    default:
      return take_dot(mark);
  }
}

// [x](//host): where a program of the web goes from its own page.
std::size_t LinkScan::take_slashes(std::size_t slash) {
  const std::size_t from = slash + 2;
  const LinkEnds ends = link_ends(text_, slash, from);
  sink_.add_steps(ends.steps);
  if (ends.plain == from) return from;
  LinkCandidate plain{slash, ends.plain, "http:"};
  plain.nested_from = from;
  const std::size_t taken = offer_readings(plain, from, ends);
  if (taken == 0) return from;
  link_end_ = run_end_ = taken;
  return taken;
}

bool LinkScan::has_path_before(std::size_t from, std::size_t end) const {
  return text_.substr(from, end - from).find_first_of(kPathStart) != std::string_view::npos;
}

bool LinkScan::is_other_reading(std::size_t start, std::size_t from, const LinkEnds& ends) const {
  const std::string_view tail = text_.substr(ends.plain, ends.longest - ends.plain);
  if (is_punctuation(tail)) return false;
  // In brackets readers agree on the end, unless the host would go on behind them.
  const char closer = start == 0 ? '\0' : closer_of(text_[start - 1]);
  if (closer == '\0' || tail.front() != closer) return true;
  if (has_path_before(from, ends.plain) || tail.size() < 3) return false;
  return is_host_byte(tail[1]) || tail[1] == '@' ||
         ((tail[1] == '.' || tail[1] == '-') && is_host_byte(tail[2]));
}

LinkScan::Authority LinkScan::authority(std::size_t from, std::size_t end) const {
  Authority found{false, end};
  const auto cut_at = [&found](std::size_t at) { found.host_end = std::min(found.host_end, at); };
  std::size_t port = end;  // where its colon is
  for (std::size_t at = from; at < end && !starts_path(text_[at]); ++at) {
    const char c = text_[at];
    const bool is_dots = c == '.' && at + 1 < end && text_[at + 1] == '.';
    if (c == '@') {
      found.has_user = true;
    } else if (c == ':') {
      port = std::min(port, at);
    } else if ((!is_host_byte(c) && c != '.' && c != '_' && c != '%') || is_dots) {
      cut_at(at);
    } else if (port < at && !is_ascii_digit(c) && !found.has_user) {
      cut_at(port + 1 == at ? port : at);
    }
  }
  // What is behind a colon may be a password.
  if (found.has_user && port < found.host_end) found.host_end = end;
  if (from < end && text_[from] == '[') found.host_end = end;
  return found;
}

std::size_t LinkScan::offer_readings(LinkCandidate plain, std::size_t from, const LinkEnds& ends) {
  std::size_t taken = 0;
  const Authority authority = this->authority(from, ends.plain);
  const bool is_latin_shorter = ends.latin < ends.plain && ends.latin > from;
  const std::size_t end = std::min(is_latin_shorter ? ends.latin : ends.plain, authority.host_end);
  if (end < ends.plain && end > from) {
    LinkCandidate shorter = plain;
    shorter.end = end;
    shorter.may_be_refused = false;
    shorter.nested_from = std::string_view::npos;
    const bool is_in_path = has_path_before(from, end);
    shorter.needs_suffix = plain.needs_suffix || !is_in_path;
    const bool is_plain = !is_in_path && !authority.has_user;
    if (!is_plain) shorter.reading = Reading::kAlternate;
    if (sink_.offer(shorter)) taken = end;
    // A host with a known suffix, and then what is not of hosts or of another script: text that
    // follows without a space, unless that ends with a known suffix too.
    if (taken > 0 && is_plain) {
      plain.reading = Reading::kAlternate;
      plain.may_be_refused = false;
      plain.needs_suffix = true;
    }
  }
  if (sink_.offer(plain)) taken = ends.plain;
  if (is_other_reading(plain.start, from, ends)) {
    LinkCandidate longer = plain;
    longer.end = ends.longest;
    longer.reading = Reading::kAlternate;
    longer.may_be_refused = false;
    longer.nested_from = ends.plain;
    longer.is_scanned_next = true;
    const bool is_of_host = !has_path_before(from, ends.plain);
    if (is_of_host && !this->authority(from, ends.longest).has_user) longer.needs_suffix = true;
    if (sink_.offer(longer)) {
      taken = std::max(taken, ends.plain);
    } else if (taken > 0 && longer.needs_suffix && plain.prefix.empty() &&
               is_fullwidth_mark(code_point_at(text_, ends.plain).value)) {
      longer.reading = Reading::kNowhere;
      longer.needs_suffix = false;
      longer.nested_from = std::string_view::npos;
      sink_.offer(longer);
    }
  }
  return taken;
}

void LinkScan::offer_behind_sign(std::size_t from, std::size_t end) {
  std::size_t begin = from;
  for (std::size_t at = from; at < end && !starts_path(text_[at]);) {
    const CodePoint point = code_point_at(text_, at);
    at += point.size;
    if (is_sign(point.value)) begin = at;
  }
  if (begin == from || begin == end) return;
  LinkCandidate behind{begin, end, "http://", Reading::kAlternate};
  behind.needs_suffix = true;
  sink_.offer(behind);
}

std::size_t LinkScan::take_colon(std::size_t colon) {
  const auto scheme = find_scheme(text_, colon, link_end_);
  if (!scheme) return colon + 1;
  const LinkEnds ends = link_ends(text_, scheme->start, scheme->from);
  sink_.add_steps(ends.steps + (scheme->from - scheme->start));
  if (ends.plain == scheme->from && scheme->kind != SchemeKind::kObeyed) return colon + 1;
  LinkCandidate plain{scheme->start, ends.plain, {}};
  plain.needs_suffix = plain.may_be_local = scheme->kind == SchemeKind::kSloppy;
  plain.may_be_refused = scheme->kind == SchemeKind::kWeb;
  plain.nested_from = scheme->from;
  std::size_t taken = offer_readings(plain, scheme->from, ends);
  if (scheme->kind == SchemeKind::kOther) {  // a scheme that is only misspelled
    LinkCandidate web{scheme->from, ends.plain, "http://", Reading::kAlternate};
    web.needs_suffix = true;
    if (sink_.offer(web)) taken = ends.plain;
  }
  if (taken == 0) return colon + 1;
  if (scheme->kind != SchemeKind::kObeyed) offer_behind_sign(scheme->from, taken);
  link_end_ = run_end_ = taken;
  return taken;
}

LinkScan::Before LinkScan::before_host(std::size_t begin) const {
  if (begin == 0) return Before::kFree;
  if (text_[begin - 1] == '@') return Before::kMail;
  std::size_t slashes = begin;
  while (slashes > run_end_ && is_slash(text_[slashes - 1])) --slashes;
  if (slashes == begin) return Before::kFree;
  if (begin - slashes == 1) {
    // Programs that know paths with slashes only take a host behind a lone backslash.
    const bool is_lone = slashes == 0 || text_[slashes - 1] == ' ' || text_[slashes - 1] == '\n';
    return text_[slashes] == '\\' && is_lone ? Before::kFree : Before::kPath;
  }
  if (slashes == 0) return Before::kFree;
  const std::string_view before = text_.substr(0, slashes);
  if (ends_with_word(before, "http") || ends_with_word(before, "https")) return Before::kFree;
  // What looks like a colon and is none, for one, is no name.
  const char32_t last = code_point_before(before, slashes).value;
  const CharKind kind = char_kind(last);
  const bool is_behind_name = last != '_' && (kind == CharKind::kHost || kind == CharKind::kDot);
  return is_behind_name ? Before::kPath : Before::kFree;
}

bool LinkScan::is_mail_name(std::size_t end) const {
  if (end >= text_.size() || text_[end] != '@') return false;
  const std::string_view host = text_.substr(end + 1, kMailHostBytesMax);
  for (std::size_t at = 0; at < host.size(); ++at) {
    if (host[at] == '.') return at > 0 && at + 1 < host.size() && is_host_byte(host[at + 1]);
    if (!is_host_byte(host[at])) return false;
  }
  return false;
}

std::size_t LinkScan::authority_end(std::size_t end, std::size_t run_end) const {
  std::size_t at = end;
  if (at + 1 == run_end && text_[at] == '.') ++at;
  if (at != run_end) return end;
  if (at + 1 < text_.size() && text_[at] == ':' && is_ascii_digit(text_[at + 1])) {
    const std::size_t first = ++at;
    while (at < text_.size() && at - first < kPortDigitsMax && is_ascii_digit(text_[at])) ++at;
    return at;
  }
  return at < text_.size() && starts_path(text_[at]) ? at : end;
}

bool LinkScan::take_host(const HostPart& part, const HostRun& run, Reading reading,
                         std::size_t& next) {
  const bool is_at_start = part.begin == run.begin || !part.is_stretch;
  const Before before = is_at_start ? before_host(run.begin) : Before::kFree;
  if (before == Before::kPath) {
    // Some programs find hosts at any word's start, so `and/evil.com` is one to them.
    const std::string_view name = text_.substr(part.begin, part.end - part.begin);
    const bool has_path = part.end < text_.size() && is_slash(text_[part.end]);
    if (HostTest::is_numbered(name) || (!has_path && is_file_name(name))) return false;
    reading = Reading::kAlternate;
  }
  if (part.end == run.end && is_mail_name(run.end)) return false;
  const bool is_host = sink_.hosts().is_host(text_.substr(part.begin, part.end - part.begin));
  sink_.check_hosts();
  if (!is_host) return false;

  LinkCandidate plain{part.begin, part.end, "http://", reading};
  const bool has_slashes = part.begin >= 2 && text_.substr(part.begin - 2, 2) == "//" &&
                           part.begin == run.begin && before == Before::kFree;
  if (has_slashes && part.begin - 2 >= run_end_) {
    plain.start -= 2;
    plain.prefix = "http:";
  }
  const std::size_t from = authority_end(part.end, run.end);
  LinkEnds ends{from, from, from, 0};
  if (from < text_.size() && starts_path(text_[from])) {
    ends = link_ends(text_, plain.start, from);
    sink_.add_steps(ends.steps);
  }
  if (before == Before::kMail && ends.plain <= part.end) return false;
  plain.end = ends.plain;
  plain.nested_from = from;
  std::size_t taken = offer_readings(plain, from, ends);
  if (taken == 0 && from > part.end) {  // a port that is none
    plain.end = part.end;
    if (sink_.offer(plain)) taken = part.end;
  }
  if (taken == 0) return false;
  link_end_ = std::max(link_end_, taken);
  next = std::max(next, taken);
  return true;
}

std::size_t LinkScan::take_dot(std::size_t dot) {
  const HostRun run = host_run(text_, dot, run_end_);
  sink_.add_steps(4 * (run.end - run.begin));
  std::size_t next = run.end;
  const bool may_hold = may_hold_host(text_, run, sink_.hosts());
  sink_.check_hosts();
  if (!may_hold) {
    run_end_ = next;
    return next;
  }
  const std::vector<HostPart> parts = host_parts(text_, run);
  for (std::size_t whole = 0; whole < parts.size();) {
    std::size_t after = parts[whole].is_stretch ? whole : whole + 1;
    // A stretch that is a host by itself is the plain reading: what is around it is text.
    bool has_host = false;
    for (; after < parts.size() && parts[after].is_stretch; ++after) {
      has_host = take_host(parts[after], run, Reading::kPlain, next) || has_host;
    }
    const Reading reading = has_host ? Reading::kAlternate : Reading::kPlain;
    if (!parts[whole].is_stretch) take_host(parts[whole], run, reading, next);
    whole = after;
  }
  run_end_ = next;
  return next;
}

}  // namespace han::safety
