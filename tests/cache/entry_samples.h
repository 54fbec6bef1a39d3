// Entry samples: one cached value of each kind, their keys, and the golden files.
//
// Threads: pure functions. Fails: a test failure when a golden file is missing.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/dns_entry.h"
#include "cache/file_entry.h"
#include "cache/link_entry.h"
#include "cache/text_entry.h"
#include "safety/base/digest.h"
#include "safety/base/hex.h"

namespace han::tests {

inline const std::string kSampleVersion = "0123456789abcdef0123456789abcdef";
inline const std::string kOtherVersion = "fedcba9876543210fedcba9876543210";

inline const std::vector<std::string>& sample_pepper_ids() {
  static const std::vector<std::string> kIds = {"p1", "p-2"};
  return kIds;
}

inline safety::Digest sample_digest() {
  safety::Digest digest;
  digest.fill(0xab);
  return digest;
}

inline std::string sample_subject() { return safety::to_hex(sample_digest()); }

inline cache::TextKey sample_text_key() { return {sample_digest(), kSampleVersion}; }

inline cache::VerdictKey sample_file_key() {
  return {sample_digest(), kSampleVersion, kOtherVersion};
}

inline cache::LinkKey sample_link_key() { return {sample_digest(), kSampleVersion, kOtherVersion}; }

inline cache::DnsKey sample_dns_key() { return {sample_digest(), "AAAA"}; }

inline cache::TextEntry sample_text_entry() {
  return {.subject = sample_subject(),
          .pepper_id = "p1",
          .rules_version = kSampleVersion,
          .hits = {"a", "scam.gift_card-2"},
          .monitor = {"watch.1", "watch.2"},
          .has_links = true,
          .mac = ""};
}

inline cache::FileEntry sample_file_entry() {
  return {.subject = sample_subject(),
          .pepper_id = "p1",
          .config_version = kSampleVersion,
          .detector_bundle = kOtherVersion,
          .decision = cache::CachedDecision::kMonitor,
          .reason = "rule",
          .hits = {"eicar", "pack.upx"},
          .monitor = {"watch.1"},
          .categories = {"malware"},
          .mac = std::string(64, '5')};
}

inline cache::LinkEntry sample_link_entry() {
  return {.subject = sample_subject(),
          .pepper_id = "p1",
          .rules_version = kSampleVersion,
          .config_version = kOtherVersion,
          .decision = cache::CachedDecision::kAllow,
          .reason = "list",
          .hits = {"list.partners"},
          .monitor = {},
          .categories = {},
          .needs_dns = true,
          .mac = std::string(64, '5')};
}

inline cache::DnsEntry sample_dns_entry() {
  return {.subject = sample_subject(),
          .pepper_id = "p1",
          .rrtype = "AAAA",
          .answer = cache::DnsAnswer::kAddresses,
          .addresses = {"2001:db8::1", "::ffff:192.0.2.1"},
          .expires_at_ms = 1'800'000'000'123,
          .chain_length = 2,
          .chain = {{std::string(64, '1'), std::string(64, '2')}, {std::string(64, '3')}},
          .mac = std::string(64, '5')};
}

inline std::string golden(const std::string& name) {
  std::ifstream in("tests/cache/golden/" + name, std::ios::binary);
  EXPECT_TRUE(in) << "no golden file " << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

// Each entry is written as its golden file, and read from it, spelled as it is or otherwise.
template <typename Entry, typename Decode>
void expect_golden(const std::vector<std::pair<std::string, Entry>>& rows, const Decode& decode) {
  for (const auto& [name, entry] : rows) {
    const std::string bytes = golden(name);
    EXPECT_EQ(encode_entry(entry), bytes) << name;
    EXPECT_EQ(decode(bytes).outcome, cache::DecodeOutcome::kEntry) << name;
    EXPECT_EQ(decode(bytes).entry, entry) << name;
    EXPECT_EQ(decode(" " + bytes).entry, entry) << name;
  }
}

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  if (at == std::string::npos) ADD_FAILURE() << "nothing to replace: " << from;
  return text.replace(at, from.size(), to);
}

}  // namespace han::tests
