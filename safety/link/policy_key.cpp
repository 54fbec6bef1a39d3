#include "safety/link/policy_key.h"

#include <algorithm>
#include <utility>

#include "safety/base/check.h"
#include "safety/link/host_parser.h"
#include "safety/link/idna.h"
#include "safety/link/ip_literal.h"
#include "safety/link/key_escape.h"
#include "safety/link/loose_ipv4.h"
#include "safety/link/url.h"
#include "safety/link/url_scheme.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::size_t kHostFormsMax = 5;
constexpr std::size_t kHostLabelsMax = 5;
constexpr std::size_t kPathPrefixesMax = 4;

struct Host {
  std::string text;
  bool is_ip = false;
};

struct Path {
  std::string text;
  std::optional<std::string> query;
};

void lower(std::string& text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
}

bool has_extra_dots(std::string_view host) {
  return host.starts_with('.') || host.ends_with('.') || host.find("..") != std::string_view::npos;
}

std::optional<std::string> ipv4(const std::string& host) {
  if (!host.empty() && ends_in_number(host)) {
    if (const auto address = parse_ipv4_host(host)) {
      std::string out;
      append_ipv4(out, *address);
      return out;
    }
  }
  return loose_ipv4(host);
}

// A name in lower case without extra dots: an address after all, or the name, escaped.
Host finished_host(const std::string& name) {
  if (auto address = ipv4(name)) return {std::move(*address), true};
  Host host;
  append_escaped(name, host.text);
  return host;
}

// True for what no name has: the mark of another part, which IDNA made of a character like it.
bool has_forbidden_byte(std::string_view ascii) {
  return std::any_of(ascii.begin(), ascii.end(), [](char c) {
    const detail::HostByte kind = detail::kHostBytes[static_cast<unsigned char>(c)];
    return kind == detail::HostByte::kForbidden || kind == detail::HostByte::kDecode;
  });
}

// Of a host without escapes, whatever its bytes.
Host host_of_bytes(std::string_view with_dots) {
  std::string bytes = without_extra_dots(with_dots);
  if (bytes.starts_with('[') && bytes.ends_with(']')) {
    if (const auto address = parse_ipv6_host(std::string_view(bytes).substr(1, bytes.size() - 2))) {
      Host host{{}, true};
      append_ipv6(host.text, *address);
      return host;
    }
  }
  if (ascii_prefix(bytes) != bytes.size() && is_valid_utf8(bytes)) {
    std::string ascii;
    const bool is_idn = !append_domain_to_ascii(ascii, bytes);
    if (is_idn && !has_forbidden_byte(ascii)) bytes = std::move(ascii);
  }
  lower(bytes);
  return finished_host(without_extra_dots(bytes));
}

// Appends `path` with single slashes, without "." and ".." components, escaped.
void append_path(std::string_view path, std::string& out) {
  const std::size_t root = out.size();
  out += '/';
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find_first_of("/\\"), path.size());
    const std::string_view component = path.substr(0, slash);
    const bool is_last = slash == path.size();
    path.remove_prefix(is_last ? slash : slash + 1);
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      if (out.size() > root + 1) out.resize(out.rfind('/', out.size() - 2) + 1);
      continue;
    }
    append_escaped(component, out);
    if (!is_last) out += '/';
  }
}

std::string escaped_query(std::string_view query) {
  std::string out;
  append_escaped(without_escapes(query), out);
  return out;
}

// Of a path and a query that still have their escapes. A "?" that was escaped starts the query.
Path path_of(std::string_view escaped, std::optional<std::string_view> query) {
  Path path;
  if (query) path.query = escaped_query(*query);
  const std::string bytes = without_escapes(escaped);
  const std::size_t mark = bytes.find('?');
  append_path(std::string_view(bytes).substr(0, mark), path.text);
  if (mark != std::string::npos) {
    std::string first;
    append_escaped(std::string_view(bytes).substr(mark + 1), first);
    path.query = path.query ? first + "?" + *path.query : first;
  }
  return path;
}

// ---- the key of a parsed URL ------------------------------------------------------------------

std::optional<std::string_view> query_of(const Url& url) {
  const UrlLayout& at = url.layout();
  return at.path_end < at.query_end ? std::optional(url.query()) : std::nullopt;
}

// No name of the DNS, and no path: only the whole form.
PolicyKey key_without_host(const Url& url) {
  const auto query = query_of(url);
  Path path;
  if (url.has_opaque_path()) {
    append_escaped(without_escapes(url.path()), path.text);
    if (query) path.query = escaped_query(*query);
  } else {
    path = path_of(url.path(), query);
  }
  std::optional<std::string_view> host;
  if (url.host_kind() != HostKind::kNone) host = "";
  return {url.scheme(), host, false, path.text, path.query};
}

PolicyKey key_of_parts(const Url& url, std::string_view host, bool is_ip) {
  const Path path = path_of(url.path(), query_of(url));
  return {url.scheme(), host, is_ip, path.text, path.query};
}

// True when the fetch identity is the canonical form but for what stands before and after the host:
// then WHATWG has left nothing in path and query that is to be escaped, and no dot components.
bool has_canonical_path(const Url& url) {
  const UrlLayout& at = url.layout();
  const std::string_view path_and_query = url.fetch_identity().substr(at.path_begin);
  return at.is_special && path_and_query.find('%') == std::string_view::npos &&
         url.path().find("//") == std::string_view::npos;
}

// ---- the key of raw bytes ---------------------------------------------------------------------

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of a scheme with a ":" behind it, else 0.
std::size_t scheme_size(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':') return i;
    if (!is_letter(c) && !is_digit(c) && c != '+' && c != '-' && c != '.') return 0;
  }
  return 0;
}

bool is_slash(char c) { return c == '/' || c == '\\'; }

// Without spaces and controls at the ends, tabs and line ends anywhere, and the fragment.
std::string cleaned(std::string_view raw) {
  while (!raw.empty() && static_cast<unsigned char>(raw.front()) <= 0x20) raw.remove_prefix(1);
  while (!raw.empty() && static_cast<unsigned char>(raw.back()) <= 0x20) raw.remove_suffix(1);
  std::string out;
  out.reserve(raw.size());
  for (const char c : raw) {
    if (c == '#') break;
    if (c != '\t' && c != '\r' && c != '\n') out += c;
  }
  return out;
}

struct Split {
  std::string scheme;
  std::string_view authority;
  std::string_view rest;  // path and query
};

std::optional<Split> split_after_scheme(std::string_view text, std::size_t size) {
  Split out;
  out.scheme = std::string(text.substr(0, size));
  lower(out.scheme);
  const std::string_view marks = is_special_scheme(out.scheme) ? "/\\?" : "/?";
  text.remove_prefix(size + 1);
  if (text.size() < 2 || marks.find(text[0]) == marks.npos || marks.find(text[1]) == marks.npos ||
      text[0] == '?' || text[1] == '?') {
    return std::nullopt;
  }
  text.remove_prefix(2);
  const std::size_t end = std::min(text.find_first_of(marks), text.size());
  out.authority = text.substr(0, end);
  out.rest = text.substr(end);
  return out;
}

// "host:80/": what looks like a scheme is a host before a port.
bool is_port_behind(std::string_view text, std::size_t colon) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789", colon + 1), text.size());
  return digits > colon + 1 &&
         (digits == text.size() || is_slash(text[digits]) || text[digits] == '?');
}

// `buffer` keeps the text without escapes when it is needed to find the parts.
std::optional<Split> split(std::string_view text, std::string& buffer) {
  std::size_t size = scheme_size(text);
  if (size > 0) {
    if (auto out = split_after_scheme(text, size)) return out;
  }
  buffer = without_escapes(text);
  text = buffer;
  size = scheme_size(text);
  if (size > 0) {
    if (auto out = split_after_scheme(text, size)) return out;
    std::string scheme(text.substr(0, size));
    lower(scheme);
    if (is_special_scheme(scheme) || !is_port_behind(text, size)) return std::nullopt;
  }
  const std::size_t end = std::min(text.find_first_of("/\\?"), text.size());
  return Split{"http", text.substr(0, end), text.substr(end)};
}

// All of them, and dots at the end: "a:1:2" is no host anyhow, and its key is the key of its key.
std::string_view without_port(std::string_view host) {
  while (true) {
    if (host.ends_with('.')) {
      host.remove_suffix(1);
      continue;
    }
    const std::size_t last = host.find_last_not_of("0123456789");
    if (last == std::string_view::npos || host[last] != ':') return host;
    host = host.substr(0, last);
  }
}

std::string_view without_user(std::string_view authority) {
  return authority.substr(authority.rfind('@') + 1);
}

// WHATWG section 4.4, path state, as far as it takes components away: before runs of slashes are
// collapsed, so that "/a//../b" is "/a/b" to both ways.
std::string without_dot_components(std::string_view path, bool is_special) {
  const std::string_view slashes = is_special ? "/\\" : "/";
  const auto is_single = [](std::string_view c) { return c == "." || c == "%2e" || c == "%2E"; };
  const auto is_double = [&](std::string_view c) {
    if (c.starts_with('.')) return is_single(c.substr(1));
    return c.size() > 3 && is_single(c.substr(0, 3)) && is_single(c.substr(3));
  };
  std::string out;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find_first_of(slashes), path.size());
    const std::string_view component = path.substr(0, end);
    path.remove_prefix(end);
    const bool is_last = path.empty();
    if (is_double(component)) {
      if (!out.empty()) out.resize(out.rfind('/'));
      if (is_last) out += '/';
    } else if (is_single(component)) {
      if (is_last) out += '/';
    } else {
      out += '/';
      out += component;
    }
  }
  return out;
}

std::optional<PolicyKey> key_of_bytes(std::string_view raw) {
  const std::string text = cleaned(raw);
  std::string buffer;
  const std::optional<Split> parts = split(text, buffer);
  if (!parts) return std::nullopt;
  const std::string authority = without_escapes(without_port(without_user(parts->authority)));
  // An escaped slash ends the host, an escaped "@" the user: what is taken apart was unescaped.
  const std::size_t end = std::min(authority.find_first_of("/\\?"), authority.size());
  const std::string_view bytes =
      without_port(without_user(std::string_view(authority).substr(0, end)));
  std::string rest = authority.substr(end);
  rest += parts->rest;
  const Host host = host_of_bytes(bytes);
  if (host.text.empty()) return std::nullopt;
  const std::size_t mark = rest.find('?');
  const std::string plain = without_dot_components(std::string_view(rest).substr(0, mark),
                                                   is_special_scheme(parts->scheme));
  std::optional<std::string_view> query;
  if (mark != std::string::npos) query = std::string_view(rest).substr(mark + 1);
  const Path path = path_of(plain, query);
  return PolicyKey(parts->scheme, host.text, host.is_ip, path.text, path.query);
}

}  // namespace

PolicyKey::PolicyKey(std::string_view scheme, std::optional<std::string_view> host, bool is_ip,
                     std::string_view path, std::optional<std::string_view> query)
    : is_ip_(is_ip) {
  const auto end = [this] { return static_cast<std::uint32_t>(canonical_.size()); };
  const std::string_view name = host.value_or("");
  canonical_.reserve(scheme.size() + name.size() + path.size() + query.value_or("").size() + 4);
  canonical_ += scheme;
  scheme_end_ = end();
  canonical_ += host ? "://" : ":";
  host_begin_ = end();
  canonical_ += name;
  host_end_ = end();
  canonical_ += path;
  path_end_ = end();
  if (query) {
    canonical_ += '?';
    canonical_ += *query;
  }
}

PolicyKey::PolicyKey(std::string_view canonical, std::uint32_t scheme_end, std::uint32_t host_end,
                     std::uint32_t path_end, bool is_ip)
    : canonical_(canonical),
      scheme_end_(scheme_end),
      host_begin_(scheme_end + 3),
      host_end_(host_end),
      path_end_(path_end),
      is_ip_(is_ip) {}

KeyExpressions PolicyKey::expressions() const {
  KeyExpressions out;
  if (host_begin_ == host_end_) return out;
  std::array<std::uint32_t, kHostFormsMax> hosts;
  std::size_t host_count = 0;
  hosts[host_count++] = host_begin_;
  if (!is_ip_) {
    // From the end: where the last 2, 3, 4, 5 labels start.
    std::array<std::uint32_t, kHostLabelsMax - 1> starts;
    std::size_t labels = 1;
    std::size_t start_count = 0;
    for (std::uint32_t i = host_end_; i > host_begin_ && start_count < starts.size(); --i) {
      if (canonical_[i - 1] == '.' && labels++ >= 2) starts[start_count++] = i;
    }
    while (start_count > 0) hosts[host_count++] = starts[--start_count];
  }
  std::array<std::uint32_t, kPathPrefixesMax + 2> paths;
  std::size_t path_count = 0;
  if (path_end_ + 1 < size()) paths[path_count++] = size();
  paths[path_count++] = path_end_;
  std::array<std::uint32_t, kPathPrefixesMax> prefixes;
  std::size_t prefix_count = 0;
  for (std::uint32_t i = host_end_; i + 1 < path_end_ && prefix_count < prefixes.size(); ++i) {
    if (canonical_[i] == '/') prefixes[prefix_count++] = i + 1;
  }
  while (prefix_count > 0) paths[path_count++] = prefixes[--prefix_count];
  const std::string_view whole = canonical_;
  for (std::size_t h = 0; h < host_count; ++h) {
    for (std::size_t p = 0; p < path_count; ++p) {
      out.views_[out.size_++] = whole.substr(hosts[h], paths[p] - hosts[h]);
    }
  }
  return out;
}

PolicyKey policy_key(const Url& url) {
  if (url.host().empty()) return key_without_host(url);
  const bool is_ip = url.host_kind() != HostKind::kDomain;
  if (url.host_kind() == HostKind::kDomain && has_extra_dots(url.host())) {
    const Host host = finished_host(without_extra_dots(url.host()));
    return key_of_parts(url, host.text, host.is_ip);
  }
  if (url.host_kind() == HostKind::kOpaque) {
    // Such a host may have escapes, so the raw way reads it; it may be all dots.
    if (auto key = key_of_bytes(url.fetch_identity())) return *std::move(key);
    return key_without_host(url);
  }
  if (!has_canonical_path(url)) return key_of_parts(url, url.host(), is_ip);
  const UrlLayout& at = url.layout();
  const bool is_whole = at.host_begin == at.scheme_end + 3 && at.path_begin == at.host_end;
  if (!is_whole) return {url.scheme(), url.host(), is_ip, url.path(), query_of(url)};
  return {url.fetch_identity(), at.scheme_end, at.host_end, at.path_end, is_ip};
}

std::optional<PolicyKey> policy_key(std::string_view raw) {
  if (raw.size() > kPolicyKeyBytesMax) return std::nullopt;
  return key_of_bytes(raw);
}

}  // namespace han::safety
