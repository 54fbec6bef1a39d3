// The policy key: the form of a URL that lists are asked with.
//
// It is the canonical form of Safe Browsing and its host-suffix/path-prefix expressions. The fetch
// identity (safety/link/url.h) says what would be fetched; the key says what it is to a list, so
// it leaves out what lists do not care about: user and password, port, fragment, dots and slashes
// too many, escapes however deep.
//
//   canonical  "http://host/path?query"
//   expressions, most specific first, at most 30: each of at most 5 host forms (the exact host,
//   then the last 5, 4, 3, 2 labels of it; an address or a single label only itself) with each of
//   at most 6 paths (exact with query, exact, then the prefixes of 3, 2, 1, 0 components that end
//   in a slash). None without a host.
//
// Two ways lead here. policy_key(const Url&) is the key of every URL that WHATWG can parse: it
// starts from the parsed parts, so it cannot take another host than a browser does.
// policy_key(std::string_view) works on raw bytes and accepts what WHATWG refuses; it is for list
// entries and for refused links. Both agree where both find a host, but for two things: raw keeps
// bytes that are no UTF-8, which the parser makes U+FFFD, and it knows no drive letters of "file:".
// Raw finds no host without "//" before it ("http:host", "http:///host", "mailto:a@b"), unless
// there is no scheme at all ("host/path", "host:80/").
//
// Where the published sources disagree:
//   query     kept in the canonical form, as the documentation's examples do ("/q?r?s"); Google's
//             Go client drops it there, though its expressions have it. An empty query is kept in
//             the canonical form ("/q?") and adds no expression (the client's own examples).
//   port      dropped, as the documentation says of lookups; old copies of it keep 1234.
//   hosts     5 forms, as documented; the Go client's example has 7 for a host of 9 labels, which
//             would make 42 expressions.
//   escapes   upper-case digits, as documented; the Go client writes lower-case ones.
//   IPv6      WHATWG's serialisation; the Go client keeps what was written, so that one address
//             would have many keys.
// What they leave open: a decoded "?" starts the query (SB decodes before it splits); a backslash
// in the path, literal or decoded, is a slash, as browsers and some servers take it; "/a/.." is
// "/", with the slash.
// Source: Safe Browsing API v4, "URLs and Hashing": Canonicalization, Suffix/prefix expressions.
//
// Threads: values, pure functions. Blocks: never. Limits: linear time; raw input longer than
// kPolicyKeyBytesMax has no key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "safety/link/canonical_host.h"

namespace han::safety {

class Url;

// Grows when any input gets another key or other expressions. Part of rules_version.
inline constexpr int kPolicyKeyVersion = 1;
inline constexpr std::size_t kPolicyKeyBytesMax = 65536;
inline constexpr std::size_t kExpressionsMax = 30;

// Every expression is a piece of the canonical form: nothing is copied.
class KeyExpressions {
 public:
  const std::string_view* begin() const { return views_.data(); }
  const std::string_view* end() const { return views_.data() + size_; }
  std::size_t size() const { return size_; }
  std::string_view operator[](std::size_t i) const { return views_[i]; }

 private:
  friend class PolicyKey;
  std::array<std::string_view, kExpressionsMax> views_;
  std::size_t size_ = 0;
};

class PolicyKey {
 public:
  // All parts are canonical. No host: "mailto:a@b"; an empty one: "file:///a".
  // `query`: without "?".
  PolicyKey(std::string_view scheme, std::optional<std::string_view> host, bool is_ip,
            std::string_view path, std::optional<std::string_view> query);

  const std::string& canonical() const { return canonical_; }
  std::string_view scheme() const { return part(0, scheme_end_); }
  // A-labels or an address, IPv6 in brackets; never a trailing dot. Empty when there is none.
  std::string_view host() const { return part(host_begin_, host_end_); }
  std::string_view path() const { return part(host_end_, path_end_); }
  // Without "?"; empty when there is none.
  std::string_view query() const { return part(path_end_ + (has_query() ? 1 : 0), size()); }
  bool has_query() const { return path_end_ < size(); }
  bool is_ip() const { return is_ip_; }

  // Views into this key: they live as long as it does and is not changed.
  KeyExpressions expressions() const;

  bool operator==(const PolicyKey& other) const { return canonical_ == other.canonical_; }

 private:
  friend PolicyKey policy_key(const Url& url);

  // A whole canonical form with a host.
  PolicyKey(std::string_view canonical, std::uint32_t scheme_end, std::uint32_t host_end,
            std::uint32_t path_end, bool is_ip);

  std::uint32_t size() const { return static_cast<std::uint32_t>(canonical_.size()); }
  std::string_view part(std::uint32_t begin, std::uint32_t end) const {
    return std::string_view(canonical_).substr(begin, end - begin);
  }

  std::string canonical_;
  std::uint32_t scheme_end_;
  std::uint32_t host_begin_;
  std::uint32_t host_end_;
  std::uint32_t path_end_;
  bool is_ip_;
};

PolicyKey policy_key(const Url& url);

// Nothing when there is no host in it. Without a scheme: "http".
std::optional<PolicyKey> policy_key(std::string_view raw);
inline std::optional<PolicyKey> policy_key(const std::string& raw) {
  return policy_key(std::string_view(raw));
}
inline std::optional<PolicyKey> policy_key(const char* raw) {
  return policy_key(std::string_view(raw));
}

}  // namespace han::safety
