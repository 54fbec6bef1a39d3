#include "safety/link_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "safety/config.h"

namespace han::tests {
namespace {

using safety::ConfigError;
using safety::DnsUse;
using safety::FindingAction;
using safety::LinkFinding;
using safety::LinksConfig;
using safety::parse_config;
using ::testing::ElementsAre;
using ::testing::StartsWith;

std::string section(const std::string& body) {
  return std::string("schema: 1\nlinks:\n").append(body);
}

LinksConfig read(const std::string& body) { return parse_config("c.yaml", section(body)).links; }

std::string error_of(const std::string& body) {
  try {
    read(body);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> texts(const std::vector<safety::IpPrefix>& networks) {
  std::vector<std::string> out;
  for (const auto& network : networks) out.push_back(network.str());
  return out;
}

constexpr const char* kFull = R"(  dns: off
  links_max: 7
  schemes: [https, http, https]
  networks: {block: [203.0.113.0/24, "2001:db8::/32", 203.0.113.0/24], allow: [10.1.0.0/16]}
  actions: {address: monitor, port: block, confusable: ignore}
)";

TEST(LinkConfig, ReadsEveryField) {
  const LinksConfig config = read(kFull);
  EXPECT_EQ(config.dns, DnsUse::kOff);
  EXPECT_EQ(config.links_max, 7U);
  EXPECT_THAT(config.schemes, ElementsAre("http", "https"));
  EXPECT_THAT(texts(config.networks_block), ElementsAre("203.0.113.0/24", "2001:db8::/32"));
  EXPECT_THAT(texts(config.networks_allow), ElementsAre("10.1.0.0/16"));
  EXPECT_EQ(config.action(LinkFinding::kAddress), FindingAction::kMonitor);
  EXPECT_EQ(config.action(LinkFinding::kPort), FindingAction::kBlock);
  EXPECT_EQ(config.action(LinkFinding::kConfusable), FindingAction::kIgnore);
  EXPECT_EQ(config.action(LinkFinding::kMixedScript), FindingAction::kBlock);
}

TEST(LinkConfig, WithoutTheSectionDnsIsRequiredAndWhatIsDangerousBlocks) {
  const LinksConfig config = parse_config("c.yaml", "schema: 1\n").links;
  EXPECT_EQ(config.dns, DnsUse::kRequired);
  for (const LinkFinding finding :
       {LinkFinding::kAddress, LinkFinding::kScheme, LinkFinding::kInvalid, LinkFinding::kLocalName,
        LinkFinding::kConfusable, LinkFinding::kMixedScript}) {
    EXPECT_EQ(config.action(finding), FindingAction::kBlock) << config_word(finding);
  }
  EXPECT_EQ(config.scheme_finding("https"), std::nullopt);
  for (const char* scheme : {"javascript", "data", "intent", "ms-msdt", "itms-services", "hcp"}) {
    EXPECT_EQ(config.scheme_finding(scheme), LinkFinding::kScheme) << scheme;
  }
  for (const char* scheme : {"ssh", "postgres", "tg"}) {
    EXPECT_EQ(config.scheme_finding(scheme), LinkFinding::kOtherScheme) << scheme;
  }
}

TEST(LinkConfig, TheVersionIsAboutTheMeaning) {
  const auto version = [](const std::string& body) {
    return parse_config("c.yaml", section(body)).version;
  };
  const std::string same = R"(  actions: {confusable: ignore, port: block, address: monitor}
  networks: {allow: [10.1.0.0/16], block: ["2001:db8::/32", 203.0.113.0/24]}
  schemes: [http, https]
  links_max: 7
  dns: off
)";
  EXPECT_EQ(version(kFull), version(same));
  EXPECT_EQ(version("  {}\n"), safety::default_config().version);
  const std::vector<std::pair<std::string, std::string>> edits = {
      {"dns: off", "dns: required"},       {"links_max: 7", "links_max: 8"},
      {"[https, http, https]", "[https]"}, {"2001:db8::/32", "2001:db8::/33"},
      {"10.1.0.0/16", "10.1.0.0/17"},      {"port: block", "port: monitor"},
  };
  for (const auto& [from, to] : edits) {
    std::string edited = kFull;
    edited.replace(edited.find(from), from.size(), to);
    EXPECT_NE(version(edited), version(kFull)) << to;
  }
}

TEST(LinkConfig, TheShippedExampleWritesTheDefaultsOut) {
  EXPECT_EQ(canonical_form(safety::load_config("examples/config.yaml").links),
            canonical_form(LinksConfig()));
}

TEST(LinkConfig, EachFindingHasItsOwnWordAndId) {
  std::set<std::string_view> words;
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < safety::kLinkFindings; ++i) {
    const auto finding = static_cast<LinkFinding>(i);
    words.insert(config_word(finding));
    ids.insert(rule_id(finding));
    EXPECT_THAT(std::string(rule_id(finding)), StartsWith(std::string(safety::kBuiltInPrefix)));
    EXPECT_TRUE(safety::is_name(rule_id(finding)));
  }
  EXPECT_EQ(words.size(), safety::kLinkFindings);
  EXPECT_EQ(ids.size(), safety::kLinkFindings);
}

TEST(LinkConfig, EveryErrorNamesFileLineFieldAndFault) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"  dns: maybe\n", "c.yaml:3: links.dns: must be one of: required off"},
      {"  links_max: 0\n", "c.yaml:3: links.links_max: must be a whole number from 1 to 1000"},
      {"  schemes: [http, HTTP]\n", "c.yaml:3: links.schemes[1]: a scheme is"},
      {"  schemes: ['http:']\n", "c.yaml:3: links.schemes[0]: a scheme is"},
      {"  schemes: [javascript]\n", "c.yaml:3: links.schemes[0]: this scheme acts on"},
      {"  schemes: [data]\n", "c.yaml:3: links.schemes[0]: this scheme acts on"},
      {"  schemes: [file]\n", "c.yaml:3: links.schemes[0]: this scheme acts on"},
      {"  networks: {block: [10.0.0.1/8]}\n",
       "c.yaml:3: links.networks.block[0]: a network is an address"},
      {"  networks: {allow: [example.org]}\n", "c.yaml:3: links.networks.allow[0]: a network is"},
      {"  networks: {block: [10.0.0.0/8], allow: [10.0.0.0/8]}\n",
       "c.yaml:3: links.networks.allow: a network stands in both lists"},
      {"  networks: {deny: []}\n", "c.yaml:3: links.networks.deny: unknown key"},
      {"  actions: {address: ignore}\n", "c.yaml:3: links.actions.address: cannot be ignored"},
      {"  actions: {invalid: ignore}\n", "c.yaml:3: links.actions.invalid: cannot be ignored"},
      {"  actions: {scheme: ignore}\n", "c.yaml:3: links.actions.scheme: cannot be ignored"},
      {"  actions: {userinfo: allow}\n",
       "c.yaml:3: links.actions.userinfo: must be one of: block monitor ignore"},
      {"  actions: {colour: block}\n", "c.yaml:3: links.actions.colour: no such finding; known"},
      {"  actions: [address]\n", "c.yaml:3: links.actions: must be a map"},
      {"  resolver: x\n", "c.yaml:3: links.resolver: unknown key"},
  };
  for (const auto& [body, start] : cases) EXPECT_THAT(error_of(body), StartsWith(start));
}

}  // namespace
}  // namespace han::tests
