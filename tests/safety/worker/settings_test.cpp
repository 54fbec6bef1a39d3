#include "safety/worker/settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/support/temp_dir.h"
#include "tests/support/test_ca.h"

namespace han::tests {

using safety::ConfigError;
using safety::load_addresses;
using safety::parse_settings;

constexpr const char* kMinimal = "schema: 1\nrules: r.yaml\nconfig: c.yaml\n";

std::string error_of(const std::string& text) {
  try {
    parse_settings("settings.yaml", text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Settings, AMinimalFileTakesTheDefaults) {
  const auto settings = parse_settings("settings.yaml", kMinimal);
  EXPECT_EQ(settings.threads, 2);
  EXPECT_EQ(settings.claim.batch, 500U);
  EXPECT_EQ(settings.lease.duration.count(), 30'000);
  EXPECT_EQ(settings.lease.heartbeat.count(), 10'000);
  EXPECT_EQ(settings.attempts_max, 5);
}

TEST(Settings, TheExampleFileIsValidAndRelativeToItself) {
  const auto settings = safety::load_settings("examples/settings.yaml");
  EXPECT_EQ(settings.rules_path, "examples/rules.yaml");
  EXPECT_EQ(settings.config_path, "examples/config.yaml");
}

TEST(Settings, TheExampleFileSaysWhatHoldsWithoutIt) {
  const auto example = safety::load_settings("examples/settings.yaml");
  const auto minimal = parse_settings("settings.yaml", kMinimal);
  EXPECT_EQ(example.dns.servers, minimal.dns.servers);
  EXPECT_EQ(example.dns.timeout, minimal.dns.timeout);
  EXPECT_EQ(example.dns.try_timeout, minimal.dns.try_timeout);
  EXPECT_EQ(example.dns.tries, minimal.dns.tries);
  EXPECT_EQ(example.dns.stale, minimal.dns.stale);
  EXPECT_EQ(example.bundle_poll, minimal.bundle_poll);
}

TEST(Settings, NameServersAndTheirTimes) {
  const auto settings = parse_settings(
      "settings.yaml", std::string(kMinimal) +
                           "dns: {servers: ['192.0.2.1', '[2001:db8::1]:5353'], timeout_ms: 500, "
                           "tries: 3, stale_seconds: 60}\nbundle_poll_ms: 100\n");
  EXPECT_EQ(settings.dns.servers, (std::vector<std::string>{"192.0.2.1", "[2001:db8::1]:5353"}));
  EXPECT_EQ(settings.dns.timeout.count(), 500);
  EXPECT_EQ(settings.dns.try_timeout.count(), 500);  // never more than the whole
  EXPECT_EQ(settings.dns.tries, 3);
  EXPECT_EQ(settings.dns.stale.count(), 60);
  EXPECT_EQ(settings.bundle_poll.count(), 100);
  for (const char* wrong : {"dns: {timeout_ms: 100, try_timeout_ms: 200}", "dns: {tries: 0}",
                            "dns: {server: ['192.0.2.1']}", "dns: {servers: 192.0.2.1}",
                            "bundle_poll_ms: 0", "bundle_loss_percent: 101"}) {
    EXPECT_NE(error_of(std::string(kMinimal) + wrong + "\n"), "") << wrong;
  }
}

TEST(Settings, R08_AHeartbeatAboveAThirdOfTheLeaseIsRefused) {
  const std::string error =
      error_of(std::string(kMinimal) + "lease: {duration_ms: 30000, heartbeat_ms: 10001}\n");
  EXPECT_NE(error.find("settings.yaml:4"), std::string::npos) << error;
  EXPECT_NE(error.find("third"), std::string::npos) << error;
  EXPECT_EQ(error_of(std::string(kMinimal) + "lease: {duration_ms: 30000, heartbeat_ms: 10000}\n"),
            "");
}

TEST(Settings, ADefaultHeartbeatFollowsAShortLease) {
  const auto settings =
      parse_settings("settings.yaml", std::string(kMinimal) + "lease: {duration_ms: 900}\n");
  EXPECT_EQ(settings.lease.heartbeat.count(), 300);
}

TEST(Settings, WaitsOfClassesAreOneNumberOrTen) {
  const auto waits_of = [](const std::string& value) {
    return parse_settings("settings.yaml", kMinimal + ("claim: {class_wait_ms: " + value + "}\n"))
        .claim.policy.wait_max;
  };
  EXPECT_EQ(waits_of("2500"), pgqueue::ClaimPolicy::every_class(std::chrono::milliseconds(2500)));
  const auto waits = waits_of("[100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]");
  EXPECT_EQ(waits[0].count(), 100);
  EXPECT_EQ(waits[9].count(), 1000);
}

TEST(Settings, ASmallBatchNeedsNoLeastOne) {
  const auto settings =
      parse_settings("settings.yaml", std::string(kMinimal) + "claim: {batch: 5}\n");
  EXPECT_EQ(settings.claim.batch_min, 5U);
}

TEST(Settings, BadValuesNameTheirLineAndField) {
  for (const auto& [line, field] : std::map<std::string, std::string>{
           {"threads: 0", "threads"},
           {"threads: many", "threads"},
           {"claim: {batch: 100000}", "claim.batch"},
           {"claim: {batsh: 1}", "batsh"},
           {"claim: {batch: 10, batch_min: 11}", "batch_min"},
           {"claim: {class_wait_ms: [1000, 2000]}", "class_wait_ms"},
           {"claim: {class_wait_ms: 5}", "class_wait_ms"},
           {"claim: {aged_share_percent: 91}", "aged_share_percent"},
           {"completion: {threads: 0}", "completion.threads"},
           {"crashes_max: 0", "crashes_max"},
           {"payload_retention_days: -1", "payload_retention_days"},
           {"retention: {verdict_days: 2}", "verdict_days"},
           {"no_such_key: 1", "no_such_key"},
           {"admin: {port: 70000}", "admin.port"},
           {"log_level: loud", "log_level"},
           {"dns: {servers: [ns.example]}", "dns.servers[0]"},
           {"dns: {servers: [192.0.2.1, '192.0.2.1:0']}", "dns.servers[1]"},
           {"text_bytes_max: 2000000", "text_bytes_max"}}) {
    const std::string error = error_of(kMinimal + line + "\n");
    EXPECT_NE(error.find("settings.yaml:4"), std::string::npos) << line << " -> " << error;
    EXPECT_NE(error.find(field), std::string::npos) << line << " -> " << error;
  }
  EXPECT_NE(error_of("schema: 2\nrules: r\nconfig: c\n"), "");
  EXPECT_NE(error_of("schema: 1\nconfig: c\n").find("rules"), std::string::npos);
}

TEST(Settings, BrokenFilesAreRefused) {
  EXPECT_NE(error_of(std::string(kMinimal) + "# \xFF\n"), "");
  EXPECT_NE(error_of("rules: [unclosed"), "");
  EXPECT_NE(error_of(""), "");
  EXPECT_THROW(safety::load_settings("/nonexistent/settings.yaml"), ConfigError);
}

class AddressesTest : public ::testing::Test {
 protected:
  safety::Addresses load() {
    return load_addresses([this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment_.find(name);
      if (found == environment_.end()) return std::nullopt;
      return found->second;
    });
  }
  std::string error() {
    try {
      load();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }
  std::map<std::string, std::string> environment_ = {
      {"MESSAGE_SAFETY_DATABASE_URL", "postgresql://u:canary-secret@h/d"},
      {"MESSAGE_SAFETY_PEPPER_FILE", "/run/pepper"}};
};

TEST_F(AddressesTest, RedisIsOptional) {
  EXPECT_FALSE(load().redis.has_value());
  environment_["MESSAGE_SAFETY_REDIS_URL"] = "redis://h";
  EXPECT_EQ(load().redis->read().front().host, "h");
}

TEST_F(AddressesTest, ASecretFileIsReadWithoutItsLineEnd) {
  const TempDir dir;
  std::ofstream(dir.file("url")) << "redis://:pw@h\n";
  environment_["MESSAGE_SAFETY_REDIS_URL_FILE"] = dir.file("url");
  EXPECT_EQ(load().redis->read().front().password, "pw");
  environment_["MESSAGE_SAFETY_REDIS_URL_FILE"] = dir.file("missing");
  EXPECT_NE(error().find("MESSAGE_SAFETY_REDIS"), std::string::npos);
}

TEST_F(AddressesTest, RedisMayHaveTlsAndAPasswordFile) {
  const TempDir dir;
  const TestCa ca(dir);
  std::ofstream(dir.file("password")) << "new\nold\n";
  environment_["MESSAGE_SAFETY_REDIS_URL"] = "rediss://message_safety@h";
  environment_["MESSAGE_SAFETY_REDIS_PASSWORD_FILE"] = dir.file("password");
  environment_["MESSAGE_SAFETY_REDIS_CA_FILE"] = ca.file();
  const auto urls = load().redis->read();
  ASSERT_EQ(urls.size(), 2u);
  EXPECT_TRUE(urls[0].use_tls);
  EXPECT_EQ(urls[1].password, "old");
  EXPECT_EQ(urls[1].ca_file, ca.file());
  environment_["MESSAGE_SAFETY_REDIS_CA_FILE"] = "/canary";
  EXPECT_NE(error().find("MESSAGE_SAFETY_REDIS_CA_FILE cannot be read"), std::string::npos);
  EXPECT_EQ(error().find("canary"), std::string::npos);
}

TEST_F(AddressesTest, WhatIsMissingIsNamedAndNoValueIsShown) {
  environment_.erase("MESSAGE_SAFETY_PEPPER_FILE");
  EXPECT_NE(error().find("MESSAGE_SAFETY_PEPPER_FILE"), std::string::npos);
  EXPECT_EQ(error().find("canary"), std::string::npos);
  environment_.erase("MESSAGE_SAFETY_DATABASE_URL");
  EXPECT_NE(error().find("MESSAGE_SAFETY_DATABASE_URL"), std::string::npos);
}

}  // namespace han::tests
