#include "safety/config.h"

#include <gtest/gtest.h>

#include "safety/base/hex.h"

namespace han::tests {
namespace {

using safety::Config;
using safety::ConfigError;
using safety::Disposition;
using safety::parse_config;
using safety::RuleAction;

constexpr std::string_view kFull = R"(schema: 1
policy:
  on_indeterminate: block
  block_severity_min: 50
  categories: {spam: monitor, scam: block}
ttl: {text_hours: 12, link_hours: 1, file_days: 7, dns_seconds: 60}
limits:
  text_bytes_max: 1048576
)";

std::string error_of(std::string_view text) {
  try {
    parse_config("c.yaml", text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Config, ReadsEveryField) {
  const Config config = parse_config("c.yaml", kFull);
  EXPECT_EQ(config.policy.on_indeterminate, Disposition::kBlock);
  EXPECT_EQ(config.policy.block_severity_min, 50);
  EXPECT_EQ(config.policy.categories.at("spam"), RuleAction::kMonitor);
  EXPECT_EQ(config.policy.categories.at("scam"), RuleAction::kBlock);
  EXPECT_EQ(config.ttl.text, std::chrono::hours(12));
  EXPECT_EQ(config.ttl.link, std::chrono::hours(1));
  EXPECT_EQ(config.ttl.file, std::chrono::hours(24 * 7));
  EXPECT_EQ(config.ttl.dns, std::chrono::seconds(60));
  EXPECT_EQ(config.limits.text_bytes_max, 1048576U);
}

TEST(Config, AnEmptyOneHasTheDefaults) {
  const Config config = parse_config("c.yaml", "schema: 1\n");
  EXPECT_EQ(config.version, safety::default_config().version);
  EXPECT_EQ(config.policy.on_indeterminate, Disposition::kHold);
  EXPECT_EQ(config.policy.block_severity_min, 0);
  EXPECT_EQ(config.limits.text_bytes_max, 65536U);
  EXPECT_LE(config.ttl.text, std::chrono::hours(48));
}

TEST(Config, TheVersionIsAboutTheMeaningNotTheFile) {
  const std::string version = parse_config("c.yaml", kFull).version;
  EXPECT_TRUE(safety::is_lower_hex(version, 32));
  const std::string other_order = R"(# reviewed
limits: {text_bytes_max: 1048576}
policy: {categories: {scam: block, spam: monitor}, block_severity_min: 50, on_indeterminate: block}
ttl: {dns_seconds: 60, text_hours: 12, file_days: 7, link_hours: 1}
schema: 1
)";
  EXPECT_EQ(parse_config("d.yaml", other_order).version, version);
}

TEST(Config, EveryFieldChangesTheVersion) {
  const std::string full(kFull);
  const std::vector<std::pair<std::string, std::string>> edits = {
      {"on_indeterminate: block", "on_indeterminate: hold"},
      {"min: 50", "min: 51"},
      {"spam: monitor", "spam: block"},
      {", scam: block", ""},
      {"text_hours: 12", "text_hours: 13"},
      {"link_hours: 1", "link_hours: 2"},
      {"file_days: 7", "file_days: 8"},
      {"dns_seconds: 60", "dns_seconds: 61"},
      {"1048576", "1048575"}};
  for (const auto& [from, to] : edits) {
    std::string edited = full;
    edited.replace(edited.find(from), from.size(), to);
    EXPECT_NE(parse_config("c.yaml", edited).version, parse_config("c.yaml", full).version) << to;
  }
}

TEST(Config, RefusesToAllowTheIndeterminate) {
  const std::string error = error_of("schema: 1\npolicy:\n  on_indeterminate: allow\n");
  EXPECT_EQ(error.find("c.yaml:3: policy.on_indeterminate: 'allow' is not possible"), 0U) << error;
}

struct BadConfig {
  std::string_view text;
  std::string_view error;  // how the message starts
};

TEST(Config, EveryErrorNamesFileLineFieldAndFault) {
  const std::vector<BadConfig> cases = {
      {"", "c.yaml: the file is empty"},
      {"policy: {}\n", "c.yaml:1: the key 'schema' is missing"},
      {"schema: 2\n", "c.yaml:1: schema: this program reads schema 1 only"},
      {"schema: '1'\n", "c.yaml:1: schema: must be a whole number"},
      {"schema: 1\nttl: {text_hours: 49}\n",
       "c.yaml:2: ttl.text_hours: must be a whole number from 1 to 48"},
      {"schema: 1\nttl: {link_hours: 49}\n", "c.yaml:2: ttl.link_hours: must be"},
      {"schema: 1\nttl: {file_days: 31}\n", "c.yaml:2: ttl.file_days: must be"},
      {"schema: 1\nttl: {dns_seconds: 901}\n", "c.yaml:2: ttl.dns_seconds: must be"},
      {"schema: 1\nttl: {dns_seconds: 0}\n", "c.yaml:2: ttl.dns_seconds: must be"},
      {"schema: 1\nttl: 5\n", "c.yaml:2: ttl: must be a map"},
      {"schema: 1\npolicy:\n", "c.yaml:2: policy: must be a map"},
      {"schema: 1\npolicy: {block_severity_min: 101}\n", "c.yaml:2: policy.block_severity_min:"},
      {"schema: 1\npolicy: {block_severity_min: ten}\n", "c.yaml:2: policy.block_severity_min:"},
      {"schema: 1\npolicy: {categories: {spam: allow}}\n",
       "c.yaml:2: policy.categories.spam: must be one of: block monitor"},
      {"schema: 1\npolicy: {categories: {Spam: block}}\n", "c.yaml:2: policy.categories."},
      {"schema: 1\npolicy: {categories: [spam]}\n", "c.yaml:2: policy.categories: must be a map"},
      {"schema: 1\nlimits: {text_bytes_max: 1048577}\n",
       "c.yaml:2: limits.text_bytes_max: must be"},
      {"schema: 1\npolicy:\n  on_error: hold\n", "c.yaml:3: policy.on_error: unknown key; known"},
      {"schema: 1\nTTL: {}\n", "c.yaml:2: (a key not shown): unknown key; known"},
      {"schema: 1\nschema: 1\n", "c.yaml:2: schema: given twice"},
  };
  for (const BadConfig& test : cases) {
    EXPECT_EQ(error_of(test.text).find(test.error), 0U) << error_of(test.text);
  }
}

TEST(Config, LoadsTheShippedExample) {
  const Config config = safety::load_config("examples/config.yaml");
  EXPECT_TRUE(safety::is_lower_hex(config.version, 32));
}

}  // namespace
}  // namespace han::tests
