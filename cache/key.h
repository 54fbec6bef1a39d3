// Keys: the typed names of everything in Redis Safety; the only place that knows their formats.
//
// A key is built from parts that are validated one by one and hold hashes and versions only, never
// text, URLs or names (SPEC I7). There is no way to make a key from a raw string. A channel is a
// type of its own, so that no value can be written under its name. parse_key reads what a scan of
// the server finds, and key_of_row names what a verdict row is cached under.
//
// Threads: values. Blocks: never.
// Fails:   KeyError, which names the part and carries no content; parse_key, key_of_row by nullopt.
// Limits:  a key has at most kKeyBytesMax bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "safety/base/digest.h"

namespace han::cache {

inline constexpr std::size_t kKeyBytesMax = 200;

class KeyError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// han:safety:text:{analysis_hash}:{rules_version}
class TextKey {
 public:
  // Requires: `rules_version` is 32 lower-case hex digits, as every version below.
  TextKey(const safety::Digest& analysis_hash, std::string_view rules_version);
  const std::string& str() const { return text_; }
  // The parts, as they stand in the key; valid as long as the key.
  std::string_view analysis_hash() const;
  std::string_view rules_version() const;
  bool operator==(const TextKey&) const = default;

 private:
  std::string text_;
};

// han:safety:verdict:{content_hash}:{config_version}:{detector_bundle}
class VerdictKey {
 public:
  VerdictKey(const safety::Digest& content_hash, std::string_view config_version,
             std::string_view detector_bundle);
  const std::string& str() const { return text_; }
  std::string_view content_hash() const;
  std::string_view config_version() const;
  std::string_view detector_bundle() const;
  bool operator==(const VerdictKey&) const = default;

 private:
  std::string text_;
};

// han:safety:link:{url_hash}:{rules_version}:{config_version}
class LinkKey {
 public:
  LinkKey(const safety::Digest& url_hash, std::string_view rules_version,
          std::string_view config_version);
  const std::string& str() const { return text_; }
  std::string_view url_hash() const;
  std::string_view rules_version() const;
  std::string_view config_version() const;
  bool operator==(const LinkKey&) const = default;

 private:
  std::string text_;
};

// han:safety:dns:{host_hash}:{rrtype}
class DnsKey {
 public:
  // `rrtype`: a record type's name in capitals, for example AAAA.
  DnsKey(const safety::Digest& host_hash, std::string_view rrtype);
  const std::string& str() const { return text_; }
  std::string_view host_hash() const;
  std::string_view rrtype() const;
  bool operator==(const DnsKey&) const = default;

 private:
  std::string text_;
};

// han:safety:rl:service:{caller}:{window}
class RateKey {
 public:
  // `caller`: 1-64 characters of [a-z0-9._-].
  RateKey(std::string_view caller, std::uint64_t window);
  const std::string& str() const { return text_; }
  bool operator==(const RateKey&) const = default;

 private:
  std::string text_;
};

// A key of a cached value.
using HotKey = std::variant<TextKey, VerdictKey, LinkKey, DnsKey>;

const std::string& key_text(const HotKey& key);

enum class KeyKind { kText, kVerdict, kLink, kDns, kRate };

// The middle of the key, and the label in metrics: text, verdict, link, dns, rl.
std::string_view kind_name(KeyKind kind);

// What a key is made of; parts that its kind does not have are empty.
struct ParsedKey {
  KeyKind kind = KeyKind::kText;
  // Of every kind but kRate.
  safety::Digest hash{};
  std::string rules_version;
  std::string config_version;
  std::string detector_bundle;
  std::string rrtype;
  std::string caller;
  std::uint64_t window = 0;

  bool operator==(const ParsedKey&) const = default;
};

// Nullopt: no key of ours, however near it comes: each key has one spelling.
std::optional<ParsedKey> parse_key(std::string_view text);

// The parts of a verdict row; those that do not apply to its kind are ''.
struct RowParts {
  std::string_view kind;          // text, file or link
  std::string_view subject_hash;  // 32 raw bytes
  std::string_view rules_version;
  std::string_view config_version;
  std::string_view detector_bundle;
};

// Nullopt: the row is of another kind, or a part is not what the key needs.
std::optional<HotKey> key_of_row(const RowParts& row);

// han:safety:wakeup
struct WakeupChannel {
  static constexpr std::string_view kName = "han:safety:wakeup";
};

}  // namespace han::cache
