// A URL as browsers read it: the WHATWG URL record, one string and the places of its parts.
//
// This is the fetch identity of a link. What a browser would open is judged, not what some other
// parser sees in the same text: any bytes are taken, invalid UTF-8 is repaired first, spaces at the
// ends, tabs and newlines disappear, `\` is `/` for the web's schemes. Dots at the end of a host
// are kept here; the policy key strips them. Source: WHATWG URL, sections 4 and 4.4 to 4.6; the
// states are in url_parser.cpp.
//
// Threads: values; parse() is a pure function. Blocks: never. Fails: parse() gives a UrlError.
// Limits: kUrlBytesMax of input, and at most a few times that serialised; linear time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "safety/base/ip_address.h"
#include "safety/link/host_parser.h"
#include "safety/link/url_error.h"

namespace han::safety {

inline constexpr std::size_t kUrlBytesMax = 65536;

// Where the parts of a serialised URL are:
//   scheme : // user : password @ host : port /. path ? query # fragment
// Parts that are absent are empty ranges; their marks stand outside the ranges.
struct UrlLayout {
  std::uint32_t scheme_end = 0;     // at the ':'
  std::uint32_t user_end = 0;       // the user name starts at scheme_end + 3
  std::uint32_t host_begin = 0;     // after the '@', if there is one
  std::uint32_t host_end = 0;       // at the ':' of the port, if there is one
  std::uint32_t authority_end = 0;  // after the port
  std::uint32_t path_begin = 0;     // after "/.", which keeps a path "//x" from being a host
  std::uint32_t path_end = 0;       // at the '?', if there is a query
  std::uint32_t query_end = 0;      // at the '#', if there is a fragment
  std::uint16_t port = 0;           // when authority_end > host_end
  HostKind host_kind = HostKind::kNone;
  bool is_special = false;
  bool has_opaque_path = false;
};

class Url {
 public:
  // Section 4.4, basic URL parser. `base` counts where the input has no scheme, or only part of
  // what its scheme needs.
  static std::variant<Url, UrlError> parse(std::string_view input, const Url* base = nullptr);

  const std::string& href() const { return href_; }
  // The href without its fragment: what url_hash is over, user name and password included.
  std::string_view fetch_identity() const { return slice(0, at_.query_end); }

  std::string_view scheme() const { return slice(0, at_.scheme_end); }
  std::string_view username() const {
    return at_.host_kind == HostKind::kNone ? std::string_view()
                                            : slice(at_.scheme_end + 3, at_.user_end);
  }
  std::string_view password() const {
    return at_.user_end + 1 < at_.host_begin ? slice(at_.user_end + 1, at_.host_begin - 1)
                                             : std::string_view();
  }
  bool has_credentials() const { return at_.user_end < at_.host_begin; }

  HostKind host_kind() const { return at_.host_kind; }
  // Serialised, an IPv6 address with its brackets.
  std::string_view host() const { return slice(at_.host_begin, at_.host_end); }
  // Of a host that is an IP address.
  std::optional<IpAddress> ip() const;
  // Absent when it is the scheme's own.
  std::optional<std::uint16_t> port() const {
    return at_.authority_end > at_.host_end ? std::optional(at_.port) : std::nullopt;
  }

  std::string_view path() const { return slice(at_.path_begin, at_.path_end); }
  // Without the '?'; empty also for `http://a/?`, whose '?' the href keeps.
  std::string_view query() const { return after_mark(at_.path_end, at_.query_end); }
  std::string_view fragment() const { return after_mark(at_.query_end, href_.size()); }

  // `mailto:a`, `javascript:x`: a path that is no list of segments.
  bool has_opaque_path() const { return at_.has_opaque_path; }
  // One of http, https, ws, wss, ftp, file.
  bool is_special() const { return at_.is_special; }

  const UrlLayout& layout() const { return at_; }

  bool operator==(const Url& other) const { return href_ == other.href_; }

 private:
  friend class UrlParser;

  Url(std::string href, const UrlLayout& at) : href_(std::move(href)), at_(at) {}

  std::string_view slice(std::size_t begin, std::size_t end) const {
    return std::string_view(href_).substr(begin, end - begin);
  }
  std::string_view after_mark(std::size_t mark, std::size_t end) const {
    return mark < end ? slice(mark + 1, end) : std::string_view();
  }

  std::string href_;
  UrlLayout at_;
};

}  // namespace han::safety
