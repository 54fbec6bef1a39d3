// Each row of IANA's special-purpose address registries, and smokescreen's cases.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dns/address_class.h"
#include "dns/network_policy.h"
#include "tests/conformance/data_of_others.h"

namespace han::tests {
namespace {

using dns::NetworkPolicy;
using safety::IpAddress;
using safety::IpPrefix;

using Record = std::vector<std::string>;

// RFC 4180: quoted fields may hold commas, doubled quotes and line breaks.
std::vector<Record> csv(const std::string& text) {
  std::vector<Record> records(1);
  std::string field;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && (c == ',' || c == '\n')) {
      records.back().push_back(field);
      field.clear();
      if (c == '\n') records.emplace_back();
    } else if (c != '\r') {
      field += c;
    }
  }
  if (!field.empty()) records.back().push_back(field);
  if (records.back().empty()) records.pop_back();
  return records;
}

// Without a footnote such as " [2]".
std::string without_note(const std::string& text) { return text.substr(0, text.find(" [")); }

struct Row {
  IpPrefix prefix;
  std::string name;
  bool is_global;
};

std::vector<Row> registry(const std::string& file) {
  std::vector<Row> rows;
  const std::vector<Record> records = csv(data_file("iana/" + file));
  for (std::size_t i = 1; i < records.size(); ++i) {
    const Record& record = records[i];
    std::string blocks = record.at(0);
    // Two prefixes may stand in one cell.
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t comma = blocks.find(", ", at);
      const std::string block = blocks.substr(at, comma == std::string::npos ? comma : comma - at);
      const auto prefix = IpPrefix::parse(without_note(block));
      if (!prefix) throw std::runtime_error("no prefix in the registry: " + block);
      rows.push_back({*prefix, record.at(1), without_note(record.at(8)) == "True"});
      at = comma == std::string::npos ? comma : comma + 2;
    }
  }
  return rows;
}

std::vector<Row> registries() {
  std::vector<Row> rows = registry("iana-ipv4-special-registry-1.csv");
  for (Row& row : registry("iana-ipv6-special-registry-1.csv")) rows.push_back(std::move(row));
  return rows;
}

// An address of the prefix, with its other bits at random.
IpAddress random_in(const IpPrefix& prefix, std::mt19937& random) {
  std::vector<std::uint8_t> bytes(prefix.base().bytes().begin(), prefix.base().bytes().end());
  for (std::size_t bit = static_cast<std::size_t>(prefix.length()); bit < bytes.size() * 8; ++bit) {
    if (random() % 2 == 0) bytes[bit / 8] |= static_cast<std::uint8_t>(0x80U >> (bit % 8));
  }
  return *IpAddress::from_bytes(bytes);
}

IpAddress last_in(const IpPrefix& prefix) {
  std::vector<std::uint8_t> bytes(prefix.base().bytes().begin(), prefix.base().bytes().end());
  for (std::size_t bit = static_cast<std::size_t>(prefix.length()); bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] |= static_cast<std::uint8_t>(0x80U >> (bit % 8));
  }
  return *IpAddress::from_bytes(bytes);
}

// These rows hold an IPv4 address, which is judged instead; their own tests are below and in
// tests/dns/address_class_test.cpp. Of 64:ff9b:1::/48 only the class's name is the inner one's.
const std::set<std::string> kEmbedding = {"::ffff:0.0.0.0/96", "64:ff9b::/96", "2001::/32",
                                          "2002::/16"};
// Not in the registries, though special.
const std::vector<std::string> kAdded = {"224.0.0.0/4", "ff00::/8", "fec0::/10"};

// Whether the most specific row that holds the address says "globally reachable".
bool is_global_by_rows(const std::vector<Row>& rows, const IpAddress& address) {
  const Row* best = nullptr;
  for (const Row& row : rows) {
    const bool is_better = best == nullptr || row.prefix.length() > best->prefix.length();
    if (row.prefix.contains(address) && is_better) best = &row;
  }
  if (best != nullptr) return best->is_global;
  return std::none_of(kAdded.begin(), kAdded.end(), [&](const std::string& text) {
    return IpPrefix::parse(text)->contains(address);
  });
}

bool is_embedding(const std::vector<Row>& rows, const IpAddress& address) {
  if (dns::classify(address).embedded.has_value()) {
    // No row: IPv4-compatible and translated addresses; else one of kEmbedding or the local NAT64.
    return std::none_of(rows.begin(), rows.end(), [&](const Row& row) {
      return row.prefix.contains(address) && row.prefix.str() == "64:ff9b:1::/48";
    });
  }
  return false;
}

TEST(Iana, EveryRowAndEveryNestedExceptionIsKnown) {
  const std::vector<Row> rows = registries();
  ASSERT_EQ(rows.size(), 51U);  // 25 IPv4 rows, one of them with two prefixes, and 25 IPv6 rows
  std::mt19937 random(3);
  for (const Row& row : rows) {
    if (kEmbedding.contains(row.prefix.str())) continue;
    std::vector<IpAddress> tried = {row.prefix.base(), last_in(row.prefix)};
    for (int i = 0; i < 1000; ++i) tried.push_back(random_in(row.prefix, random));
    for (const IpAddress& address : tried) {
      const auto found = dns::classify(address);
      if (is_embedding(rows, address)) continue;  // Teredo inside 2001::/23
      ASSERT_EQ(found.is_global, is_global_by_rows(rows, address))
          << row.name << ": " << address.str() << " is " << found.name;
      ASSERT_NE(found.name, "global") << row.name << ": " << address.str();
    }
  }
}

TEST(Iana, RowsThatHoldAnIPv4AddressAreJudgedByIt) {
  const std::vector<Row> rows = registries();
  std::set<std::string> seen;
  std::mt19937 random(4);
  for (const Row& row : rows) {
    if (!kEmbedding.contains(row.prefix.str())) continue;
    seen.insert(row.prefix.str());
    for (int i = 0; i < 5000; ++i) {
      const auto found = dns::classify(random_in(row.prefix, random));
      ASSERT_TRUE(found.embedded.has_value());
      ASSERT_EQ(found.name, dns::classify(*found.embedded).name);
      ASSERT_EQ(found.is_global, is_global_by_rows(rows, *found.embedded));
    }
  }
  EXPECT_EQ(seen, kEmbedding);
}

TEST(Iana, RandomAddressesAgreeWithTheRegistries) {
  const std::vector<Row> rows = registries();
  std::mt19937 random(5);
  for (int i = 0; i < 200'000; ++i) {
    std::array<std::uint8_t, 4> small{};
    for (auto& byte : small) byte = static_cast<std::uint8_t>(random());
    const IpAddress address = IpAddress::v4(small);
    ASSERT_EQ(dns::classify(address).is_global, is_global_by_rows(rows, address)) << address.str();
    std::array<std::uint8_t, 16> large{};
    for (auto& byte : large) byte = random() % 2 == 0 ? static_cast<std::uint8_t>(random()) : 0;
    const IpAddress wide = IpAddress::v6(large);
    if (is_embedding(rows, wide)) continue;
    ASSERT_EQ(dns::classify(wide).is_global, is_global_by_rows(rows, wide)) << wide.str();
  }
}

// Where we differ from smokescreen, and why. Ports are not our subject: a policy names networks, so
// its rules for one port of an address, and for its own port, are not taken over.
const std::map<std::string, std::string> kSmokescreenDifferences = {
    {"64:ff9b::808:808 1", "it refuses each NAT64 address; we judge 8.8.8.8 inside"},
    {"2002:808:808::1 1", "it refuses each 6to4 address; we judge 8.8.8.8 inside"},
    {"8.8.8.8 321", "it denies one port of the address"},
};

TEST(Smokescreen, EachCaseAgreesOrIsListed) {
  const auto data = nlohmann::json::parse(data_file("ssrf/smokescreen_classify_addr.json"));
  std::vector<IpPrefix> block;
  std::vector<IpPrefix> allow;
  for (const auto& text : data["config"]["deny_ranges"]) {
    block.push_back(*IpPrefix::parse(text.get<std::string>()));
  }
  for (const auto& text : data["config"]["allow_ranges"]) {
    allow.push_back(*IpPrefix::parse(text.get<std::string>()));
  }
  const NetworkPolicy policy(block, allow);
  std::set<std::string> differing;
  ASSERT_GE(data["cases"].size(), 21U);
  for (const auto& item : data["cases"]) {
    const std::string text = item["ip"];
    const std::string theirs = item["class"];
    const auto ours = policy.judge(*IpAddress::parse(text));
    const bool do_they_allow = theirs.starts_with("ipAllow");
    const bool do_we_allow =
        ours == NetworkPolicy::Stance::kAllowed || ours == NetworkPolicy::Stance::kGlobal;
    const std::string name = text + " " + std::to_string(item["port"].get<int>());
    if (do_they_allow != do_we_allow) differing.insert(name);
    EXPECT_EQ(do_they_allow != do_we_allow, kSmokescreenDifferences.contains(name))
        << name << ": " << theirs;
    if (theirs == "ipAllowUserConfigured") {
      EXPECT_EQ(ours, NetworkPolicy::Stance::kAllowed) << name;
    }
  }
  EXPECT_EQ(differing.size(), kSmokescreenDifferences.size());
}

}  // namespace
}  // namespace han::tests
