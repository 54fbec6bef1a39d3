#include "safety/link/url_parser.h"

#include <algorithm>
#include <utility>

#include "safety/link/url_scheme.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

bool is_alpha(char byte) {
  const auto lower = static_cast<unsigned char>(byte | 0x20);
  return lower >= 'a' && lower <= 'z';
}

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

bool is_scheme_byte(char byte) {
  return is_alpha(byte) || is_digit(byte) || byte == '+' || byte == '-' || byte == '.';
}

bool is_c0_or_space(char byte) { return static_cast<unsigned char>(byte) <= 0x20; }

bool is_tab_or_newline(char byte) { return byte == '\t' || byte == '\n' || byte == '\r'; }

bool ends_path(char byte) { return byte == '?' || byte == '#'; }

// Section 4.4, steps 1 to 3: no spaces and controls at the ends, no tabs and newlines at all.
std::string_view clean(std::string_view text, std::string& buffer) {
  while (!text.empty() && is_c0_or_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_c0_or_space(text.back())) text.remove_suffix(1);
  bool has_any = false;
  for (const char byte : text) has_any |= is_tab_or_newline(byte);
  if (!has_any) return text;
  buffer.assign(text);
  std::erase_if(buffer, is_tab_or_newline);
  return buffer;
}

// Section 4.2, "URL miscellaneous": a Windows drive letter, for example `C:` or `c|`.
bool is_drive_letter(std::string_view text) {
  return text.size() == 2 && is_alpha(text[0]) && (text[1] == ':' || text[1] == '|');
}

// Section 4.2: starts with a Windows drive letter.
bool starts_with_drive_letter(std::string_view text) {
  if (!is_drive_letter(text.substr(0, 2))) return false;
  return text.size() == 2 || text[2] == '/' || text[2] == '\\' || ends_path(text[2]);
}

// The drive letter as the first segment of a path that was read already.
bool has_drive_segment(std::string_view path) {
  return path.size() >= 3 && is_alpha(path[1]) && path[2] == ':' &&
         (path.size() == 3 || path[3] == '/');
}

// How many dots a segment stands for that is made of '.' and "%2e" alone; else 0.
int count_dots(std::string_view text) {
  int dots = 0;
  while (!text.empty()) {
    const bool is_encoded =
        text.size() >= 3 && text[0] == '%' && text[1] == '2' && (text[2] | 0x20) == 'e';
    if (text[0] != '.' && !is_encoded) return 0;
    text.remove_prefix(is_encoded ? 3 : 1);
    ++dots;
  }
  return dots;
}

}  // namespace

std::variant<Url, UrlError> UrlParser::run(std::string_view input) {
  std::string repaired;
  std::string cleaned;
  const std::string_view text = clean(repair_utf8(input, repaired), cleaned);
  out_.reserve(text.size() + 8);
  if (const Error error = parse(text)) return *error;
  return Url(std::move(out_), at_);
}

UrlParser::Error UrlParser::parse(std::string_view text) {
  return read_scheme(text) ? with_scheme(text) : without_scheme(text);
}

// Section 4.4, scheme start state and scheme state.
bool UrlParser::read_scheme(std::string_view& text) {
  if (text.empty() || !is_alpha(text[0])) return false;
  const auto end = std::find_if_not(text.begin(), text.end(), is_scheme_byte);
  if (end == text.end() || *end != ':') return false;
  const auto size = static_cast<std::size_t>(end - text.begin());
  out_.assign(text.substr(0, size));
  for (char& byte : out_) byte = static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte);
  at_.is_special = is_special_scheme(out_);
  is_file_ = out_ == "file";
  at_.scheme_end = here();
  out_.push_back(':');
  text.remove_prefix(size + 1);
  return true;
}

UrlParser::Error UrlParser::with_scheme(std::string_view rest) {
  if (is_file_) return file(rest);
  if (at_.is_special) {
    // Special relative or authority state.
    const bool same = base_ != nullptr && base_->scheme() == written_scheme();
    if (same && !rest.starts_with("//")) return relative(rest);
    // Special authority slashes state, special authority ignore slashes state.
    while (!rest.empty() && is_slash(rest[0])) rest.remove_prefix(1);
    return authority(rest);
  }
  // Path or authority state.
  if (rest.starts_with("//")) return authority(rest.substr(2));
  no_authority();
  if (rest.starts_with('/')) {
    path(rest.substr(1));
  } else {
    opaque_path(rest);
  }
  return std::nullopt;
}

// No scheme state.
UrlParser::Error UrlParser::without_scheme(std::string_view text) {
  const bool is_fragment = text.starts_with('#');
  if (base_ == nullptr || (base_->has_opaque_path() && !is_fragment)) return UrlError::kNoScheme;
  if (base_->has_opaque_path()) {
    out_.assign(base_->fetch_identity());
    at_ = base_->at_;
    fragment(text);
    return std::nullopt;
  }
  at_.is_special = base_->is_special();
  is_file_ = base_->scheme() == "file";
  if (!is_file_) return relative(text);
  out_.assign("file:");
  at_.scheme_end = 4;
  return file(text);
}

// Relative state and relative slash state; the base has the same scheme.
UrlParser::Error UrlParser::relative(std::string_view rest) {
  if (!rest.empty() && is_slash(rest[0])) {
    if (rest.size() > 1 && is_slash(rest[1])) {
      out_.assign(base_->href_, 0, base_->at_.scheme_end + 1);
      at_.scheme_end = base_->at_.scheme_end;
      rest.remove_prefix(2);
      if (at_.is_special) {
        while (!rest.empty() && is_slash(rest[0])) rest.remove_prefix(1);
      }
      return authority(rest);
    }
    copy_authority();
    path(rest.substr(1));
    return std::nullopt;
  }
  copy_authority();
  copy_path();
  if (rest.empty() || rest[0] == '#') {
    end_path();
    copy_query();
    fragment(rest);
  } else if (rest[0] == '?') {
    query_and_fragment(rest);
  } else {
    shorten_path();
    path(rest);
  }
  return std::nullopt;
}

// Where an authority, a host or a segment ends.
std::size_t UrlParser::part_end(std::string_view text) const {
  std::size_t end = 0;
  while (end < text.size() && !is_slash(text[end]) && !ends_path(text[end])) ++end;
  return end;
}

// Authority state. All but the last '@' belong to the credentials.
UrlParser::Error UrlParser::authority(std::string_view rest) {
  const std::size_t end = part_end(rest);
  std::string_view text = rest.substr(0, end);
  out_.append("//");
  at_.user_end = here();
  const std::size_t at_sign = text.rfind('@');
  if (at_sign != std::string_view::npos) {
    if (at_sign + 1 == text.size()) return UrlError::kCredentials;
    credentials(text.substr(0, at_sign));
    text.remove_prefix(at_sign + 1);
  }
  at_.host_begin = here();
  if (const Error error = host_and_port(text)) return error;
  path_start(rest.substr(end));
  return std::nullopt;
}

void UrlParser::credentials(std::string_view text) {
  const std::size_t colon = text.find(':');
  append_encoded(out_, text.substr(0, colon), EncodeSet::kUserinfo);
  at_.user_end = here();
  if (colon != std::string_view::npos && colon + 1 < text.size()) {
    out_.push_back(':');
    append_encoded(out_, text.substr(colon + 1), EncodeSet::kUserinfo);
  }
  if (out_.size() > at_.scheme_end + 3) out_.push_back('@');
}

// Host state. A colon between brackets belongs to the host.
UrlParser::Error UrlParser::host_and_port(std::string_view text) {
  std::size_t colon = std::string_view::npos;
  bool in_brackets = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') in_brackets = true;
    if (text[i] == ']') in_brackets = false;
    if (text[i] != ':' || in_brackets) continue;
    colon = i;
    break;
  }
  const std::string_view name = text.substr(0, colon);
  if (name.empty() && (at_.is_special || colon == 0)) return UrlError::kEmptyHost;
  if (const Error error = host(name)) return error;
  return port(colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1));
}

UrlParser::Error UrlParser::host(std::string_view text) {
  if (text.empty()) {
    at_.host_kind = HostKind::kEmpty;
  } else {
    const auto parsed = append_host(out_, text, at_.is_special);
    if (const auto* error = std::get_if<UrlError>(&parsed)) return *error;
    at_.host_kind = std::get<HostKind>(parsed);
  }
  at_.host_end = here();
  return std::nullopt;
}

// Port state.
UrlParser::Error UrlParser::port(std::string_view text) {
  unsigned value = 0;
  for (const char byte : text) {
    if (!is_digit(byte)) return UrlError::kPort;
    value = value * 10 + static_cast<unsigned>(byte - '0');
    if (value > 65535) return UrlError::kPort;
  }
  if (!text.empty() && default_port(written_scheme()) != value) {
    at_.port = static_cast<std::uint16_t>(value);
    out_.append(":").append(std::to_string(value));
  }
  at_.authority_end = here();
  return std::nullopt;
}

// File state.
UrlParser::Error UrlParser::file(std::string_view rest) {
  if (!rest.empty() && is_slash(rest[0])) return file_slash(rest.substr(1));
  if (base_ == nullptr || base_->scheme() != "file") {
    empty_host();
    path(rest);
    return std::nullopt;
  }
  if (rest.empty() || ends_path(rest[0]) || !starts_with_drive_letter(rest)) return relative(rest);
  copy_authority();
  path(rest);
  return std::nullopt;
}

// File slash state.
UrlParser::Error UrlParser::file_slash(std::string_view rest) {
  if (!rest.empty() && is_slash(rest[0])) return file_host(rest.substr(1));
  if (base_ != nullptr && base_->scheme() == "file") {
    copy_authority();
    if (!starts_with_drive_letter(rest) && has_drive_segment(base_->path())) {
      out_.append(base_->path().substr(0, 3));
    }
  } else {
    empty_host();
  }
  path(rest);
  return std::nullopt;
}

// File host state.
UrlParser::Error UrlParser::file_host(std::string_view rest) {
  const std::size_t end = part_end(rest);
  const std::string_view name = rest.substr(0, end);
  if (name.empty() || is_drive_letter(name)) {
    empty_host();
    if (name.empty()) {
      path_start(rest);
    } else {
      path(rest);
    }
    return std::nullopt;
  }
  out_.append("//");
  at_.user_end = at_.host_begin = here();
  if (const Error error = host(name)) return error;
  if (std::string_view(out_).substr(at_.host_begin) == "localhost") {
    out_.resize(at_.host_begin);
    at_.host_end = here();
    at_.host_kind = HostKind::kEmpty;
  }
  at_.authority_end = here();
  path_start(rest.substr(end));
  return std::nullopt;
}

// Path start state.
void UrlParser::path_start(std::string_view rest) {
  begin_path();
  if (at_.is_special) {
    path(!rest.empty() && is_slash(rest[0]) ? rest.substr(1) : rest);
  } else if (rest.starts_with('/')) {
    path(rest.substr(1));
  } else {
    query_and_fragment(rest);
  }
}

// Path state: `rest` starts after the slash that the first segment gets.
void UrlParser::path(std::string_view rest) {
  while (true) {
    const std::size_t end = part_end(rest);
    const bool is_last = end == rest.size() || ends_path(rest[end]);
    segment(rest.substr(0, end), is_last);
    rest.remove_prefix(is_last ? end : end + 1);
    if (is_last) break;
  }
  query_and_fragment(rest);
}

void UrlParser::segment(std::string_view text, bool is_last) {
  const int dots = text.size() <= 6 ? count_dots(text) : 0;
  if (dots == 1 || dots == 2) {
    if (dots == 2) shorten_path();
    if (is_last) out_.push_back('/');
    return;
  }
  const bool is_first = here() == at_.path_begin;
  out_.push_back('/');
  if (is_file_ && is_first && is_drive_letter(text)) {
    out_.push_back(text[0]);
    out_.push_back(':');
    return;
  }
  append_encoded(out_, text, EncodeSet::kPath);
}

// Section 4.2, shorten a url's path.
void UrlParser::shorten_path() {
  const std::string_view path = written_path();
  if (is_file_ && path.size() == 3 && has_drive_segment(path)) return;
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) out_.resize(at_.path_begin + slash);
}

// Opaque path state. A space at its end would be lost when the query or fragment goes.
void UrlParser::opaque_path(std::string_view rest) {
  const std::size_t end = std::min(rest.find_first_of("?#"), rest.size());
  std::string_view text = rest.substr(0, end);
  const bool has_last_space = text.ends_with(' ') && end < rest.size();
  if (has_last_space) text.remove_suffix(1);
  append_encoded(out_, text, EncodeSet::kC0Control);
  if (has_last_space) out_.append("%20");
  at_.has_opaque_path = true;
  query_and_fragment(rest.substr(end));
}

// Query state; `rest` is empty or starts with '?' or '#'.
void UrlParser::query_and_fragment(std::string_view rest) {
  end_path();
  if (rest.starts_with('?')) {
    const std::size_t end = std::min(rest.find('#'), rest.size());
    out_.push_back('?');
    append_encoded(out_, rest.substr(1, end - 1),
                   at_.is_special ? EncodeSet::kSpecialQuery : EncodeSet::kQuery);
    rest.remove_prefix(end);
  }
  end_query();
  fragment(rest);
}

// Fragment state; `rest` is empty or starts with '#'.
void UrlParser::fragment(std::string_view rest) {
  if (rest.empty()) return;
  out_.push_back('#');
  append_encoded(out_, rest.substr(1), EncodeSet::kFragment);
}

void UrlParser::copy_authority() {
  out_.assign(base_->href_, 0, base_->at_.authority_end);
  at_ = base_->at_;
  begin_path();
}

void UrlParser::copy_path() { out_.append(base_->path()); }

void UrlParser::copy_query() {
  out_.append(base_->slice(base_->at_.path_end, base_->at_.query_end));
  end_query();
}

void UrlParser::begin_path() { at_.path_begin = here(); }

void UrlParser::no_authority() {
  at_.user_end = at_.host_begin = at_.host_end = at_.authority_end = here();
  begin_path();
}

void UrlParser::empty_host() {
  out_.append("//");
  no_authority();
  at_.host_kind = HostKind::kEmpty;
}

void UrlParser::end_path() {
  if (at_.host_kind == HostKind::kNone && written_path().starts_with("//")) {
    // Section 4.5, URL serializer, step 3.
    out_.insert(at_.path_begin, "/.");
    at_.path_begin += 2;
  }
  at_.path_end = here();
}

void UrlParser::end_query() { at_.query_end = here(); }

}  // namespace han::safety
