#include "cache/dns_entry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cache/entry_samples.h"

namespace han::tests {
namespace {

using namespace cache;

Decoded<DnsEntry> decode(std::string_view bytes) {
  return decode_entry(bytes, sample_dns_key(), sample_pepper_ids());
}

DecodeOutcome outcome(const DnsEntry& entry) { return decode(encode_entry(entry)).outcome; }

DnsEntry absent_entry(DnsAnswer answer) {
  auto entry = sample_dns_entry();
  entry.answer = answer;
  entry.addresses.clear();
  entry.chain_length = 0;
  entry.chain.clear();
  return entry;
}

// covers 000-K04, 000-K05, 000-S04, 000-V02
TEST(DnsEntry, WritesAndReadsTheGoldenFiles) {
  DnsEntry bare = absent_entry(DnsAnswer::kNoSuchName);
  bare.mac.clear();
  const std::vector<std::pair<std::string, DnsEntry>> rows = {
      {"dns_entry_v1_addresses.json", sample_dns_entry()},
      {"dns_entry_v1_nodata.json", absent_entry(DnsAnswer::kNoData)},
      {"dns_entry_v1_nxdomain.json", bare},
  };
  expect_golden(rows, decode);
}

TEST(DnsEntry, RefusesAValueOfAnotherSubjectTypeOrPepper) {
  auto entry = sample_dns_entry();
  entry.subject[0] = 'd';
  EXPECT_EQ(outcome(entry), DecodeOutcome::kForeign);
  entry = sample_dns_entry();
  entry.pepper_id = "p9";
  EXPECT_EQ(outcome(entry), DecodeOutcome::kForeign);
  entry = sample_dns_entry();
  entry.rrtype = "A";
  entry.addresses = {"192.0.2.1"};
  EXPECT_EQ(outcome(entry), DecodeOutcome::kForeign);
  EXPECT_EQ(decode(encode_entry(entry)).entry, DnsEntry{});
}

// An address that is not one must not be judged as if it were harmless.
TEST(DnsEntry, TakesOnlyAddressesInTheirOneSpelling) {
  const auto good = encode_entry(sample_dns_entry());
  for (const auto* address : {"2001:db8::", "::", "::1", "fe80::1"}) {
    EXPECT_EQ(decode(replaced(good, "2001:db8::1", address)).outcome, DecodeOutcome::kEntry);
  }
  for (const auto* address : {"2001:DB8::1", "2001:db8:0::1", "2001:db8::01", "192.0.2.1",
                              "1::2::3", "example.org", "fe80::1%eth0", "", " ::1", "0x7f.1"}) {
    EXPECT_EQ(decode(replaced(good, "2001:db8::1", address)).outcome, DecodeOutcome::kUndecodable)
        << address;
  }
}

// covers 000-X10
TEST(DnsEntry, CallsWhatContradictsItselfUndecodable) {
  const auto good = encode_entry(sample_dns_entry());
  const std::vector<std::string> bad = {
      good.substr(0, good.size() - 1),
      replaced(good, "\"addresses\",", "\"nodata\","),
      replaced(good, "\"addresses\",", "\"\","),
      replaced(good, "[\"2001:db8::1\",\"::ffff:192.0.2.1\"]", "[]"),
      replaced(good, "\"chain_length\":2", "\"chain_length\":1"),
      replaced(good, "\"chain_length\":2", "\"chain_length\":-1"),
      replaced(good, "\"chain_length\":2", "\"chain_length\":2.0"),
      replaced(good, "\"chain_length\":2", "\"chain_length\":12"),
      replaced(good, "\"expires_at_ms\":1800000000123", "\"expires_at_ms\":-1"),
      replaced(good, "\"expires_at_ms\":1800000000123", "\"expires_at_ms\":1e12"),
      replaced(good, "\"expires_at_ms\":1800000000123", "\"expires_at_ms\":99999999999999999999"),
      replaced(good, "[\"" + std::string(64, '3') + "\"]", "[]"),
      replaced(good, std::string(64, '3'), "cdn.example.org"),
      replaced(good, "\"rrtype\":\"AAAA\"", "\"rrtype\":\"MX\""),
      replaced(good, "\"rrtype\":\"AAAA\"", "\"rrtype\":\"A\""),
  };
  for (const auto& bytes : bad) {
    EXPECT_EQ(decode(bytes).outcome, DecodeOutcome::kUndecodable) << bytes;
    EXPECT_EQ(decode(" " + bytes).outcome, DecodeOutcome::kUndecodable) << bytes;
  }
  EXPECT_EQ(decode(replaced(good, ":1,", ":2,")).outcome, DecodeOutcome::kNewerSchema);
  EXPECT_EQ(decode(std::string(kValueBytesMax + 1, ' ')).outcome, DecodeOutcome::kOversized);
}

// covers 000-V03
TEST(DnsEntry, TheLongestChainFitsIntoAValue) {
  auto entry = sample_dns_entry();
  const std::vector<std::string> suffixes(kDnsSuffixesMax, std::string(64, '1'));
  entry.chain.assign(kDnsChainMax, suffixes);
  entry.chain_length = kDnsChainMax;
  entry.addresses.assign(kDnsAddressesMax, "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff");
  EXPECT_LE(encode_entry(entry).size(), kValueBytesMax);
  EXPECT_EQ(outcome(entry), DecodeOutcome::kEntry);
}

// I7
TEST(DnsEntryDeathTest, NeverWritesAName) {
  auto entry = sample_dns_entry();
  entry.chain[1] = {"cdn.example.org"};
  EXPECT_DEATH(encode_entry(entry), "well_formed");
  entry = sample_dns_entry();
  entry.addresses = {"cdn.example.org"};
  EXPECT_DEATH(encode_entry(entry), "well_formed");
}
}  // namespace
}  // namespace han::tests
