// Keys: the typed names of everything in Redis Safety; the only place that knows their formats.
//
// A key is built from parts that are validated one by one and hold hashes and versions only, never
// text, URLs or names (SPEC I7). There is no way to make a key from a raw string. A channel is a
// type of its own, so that no value can be written under its name.
//
// Threads: values. Blocks: never.
// Fails:   KeyError, which names the part and carries no content.
// Limits:  a key has at most kKeyBytesMax bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

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

// han:safety:wakeup
struct WakeupChannel {
  static constexpr std::string_view kName = "han:safety:wakeup";
};

}  // namespace han::cache
